//! What those who ask are told: through `UsageService` of an ingester, or by the store in a file.

use crate::{
    ledger::{Account, Sums},
    parts,
};
use signalbox_api::v1::{
    ListDeadLettersRequest, QueryUsageRequest, UsageDimension, UsageFilter, UsageRow,
    query_usage_request::Interval, usage_service_client::UsageServiceClient,
};
use signalbox_kit::{Clock as _, SystemClock};
use signalbox_ports::{
    DeadLetters as _,
    usage_store::{Query, UsageStore as _, Window},
};
use signalbox_spool::{Spool, SpoolDeadLetters};
use signalbox_testkit::Signalbox;
use std::{path::Path, sync::Arc, time::Duration};

const DAY: Duration = Duration::from_secs(24 * 3600);
const GROUP_BY: [UsageDimension; 2] = [UsageDimension::Tenant, UsageDimension::Model];
const ROWS: u16 = 1000;

/// What is told.
pub(crate) struct Answers {
    /// By tenant and model.
    pub(crate) account: Account,
    /// Accounts that could not be stored.
    pub(crate) dead_letters: usize,
}

/// All that may have been published.
fn window() -> Window {
    let now = SystemClock.now();
    Window { start: now - 7 * DAY, end: now + DAY }
}

/// By an ingester.
pub(crate) async fn of(ingester: &Signalbox) -> Result<Answers, String> {
    let mut client = UsageServiceClient::new(ingester.channel());
    let window = window();
    let request = QueryUsageRequest {
        start_time: Some(window.start.into()),
        end_time: Some(window.end.into()),
        group_by: GROUP_BY.map(Into::into).to_vec(),
        page_size: ROWS.into(),
        ..QueryUsageRequest::default()
    };
    let told = |status: tonic::Status| format!("{}: {}", status.code(), status.message());
    let answer = client.query_usage(request).await.map_err(told)?.into_inner();
    let letters = client.list_dead_letters(ListDeadLettersRequest::default()).await.map_err(told)?;
    Ok(Answers { account: account(answer.rows), dead_letters: letters.into_inner().dead_letters.len() })
}

/// By the store in a file.
pub(crate) async fn of_file(file: &Path, spool: &Arc<Spool>) -> Result<Answers, String> {
    let query = Query {
        window: window(),
        filter: UsageFilter::default(),
        group_by: GROUP_BY.to_vec(),
        interval: Interval::Unspecified,
        limit: ROWS.into(),
        offset: 0,
    };
    let page = parts::sqlite(file).await?.query(&query).await.map_err(|error| error.to_string())?;
    let letters = SpoolDeadLetters::open(spool.clone()).map_err(|error| error.to_string())?;
    let letters = letters.list(None, 0, ROWS.into()).await.map_err(|error| error.to_string())?;
    Ok(Answers { account: account(page.rows), dead_letters: letters.len() })
}

fn account(rows: Vec<UsageRow>) -> Account {
    rows.into_iter().filter_map(entry).collect()
}

fn entry(row: UsageRow) -> Option<((String, String), Sums)> {
    let usage = row.usage.unwrap_or_default();
    let sums = Sums {
        requests: row.requests,
        attempts: row.attempts,
        tokens: usage.input_tokens + usage.output_tokens,
        nano_eur: row.cost?.nano_eur,
    };
    let [tenant, model]: [String; 2] = row.group.try_into().ok()?;
    Some(((tenant, model), sums))
}
