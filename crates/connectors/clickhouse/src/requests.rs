//! Single accounts.

use crate::{
    limits::{self, bounded},
    query::{Conditions, newest, read},
    time,
};
use bytes::Bytes;
use clickhouse::{Client, Row};
use futures_util::future::try_join;
use prost::Message as _;
use serde::Deserialize;
use signalbox_api::v1::UsageEvent;
use signalbox_ports::usage_store::{Counted, Page, Requests, StoreFailure};

/// As it is stored.
#[derive(Row, Deserialize)]
pub(crate) struct Account {
    event: Bytes,
    counted_at: i64,
}

impl Account {
    pub(crate) fn counted(self) -> Result<Counted, StoreFailure> {
        let event = UsageEvent::decode(self.event)
            .map_err(|error| StoreFailure::Refused(format!("a stored account cannot be read: {error}")))?;
        Ok(Counted { when: time::system_time(self.counted_at), event })
    }
}

pub(crate) async fn requests(client: &Client, asked: &Requests) -> Result<Page<Counted>, StoreFailure> {
    let conditions = Conditions::of(&asked.filter);
    let request_id = if asked.request_id.is_empty() { "" } else { " AND request_id = {request_id:String}" };
    let after = match asked.after {
        Some(_) => {
            " AND (counted_at, event_id) < (fromUnixTimestamp64Micro({when:Int64}, 'UTC'), {after:String})"
        }
        None => "",
    };
    let sql = format!(
        "SELECT event, counted_at FROM usage_events
        WHERE counted_at >= fromUnixTimestamp64Micro({{start:Int64}}, 'UTC')
            AND counted_at < fromUnixTimestamp64Micro({{end:Int64}}, 'UTC'){}{request_id}{after}
        ORDER BY counted_at DESC, event_id DESC LIMIT {{limit:UInt64}}",
        conditions.sql()
    );
    let mut query = conditions
        .bind(client.query(&sql))
        .param("start", time::micros(asked.window.start))
        .param("end", time::micros(asked.window.end))
        .param("limit", asked.limit + 1);
    if !asked.request_id.is_empty() {
        query = query.param("request_id", &asked.request_id);
    }
    if let Some((when, event_id)) = &asked.after {
        query = query.param("when", time::micros(*when)).param("after", event_id);
    }
    let answer = bounded(limits::QUERY, read::<Account>(query));
    let ((mut accounts, rows_read), newest) = try_join(answer, newest(client)).await?;
    let more = accounts.len() > asked.limit;
    accounts.truncate(asked.limit);
    let rows: Result<Vec<Counted>, StoreFailure> = accounts.into_iter().map(Account::counted).collect();
    Ok(Page { rows: rows?, more, rows_read, newest })
}
