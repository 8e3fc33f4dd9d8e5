//! Items end before their window is handed over.

use crate::{
    end::{Ending, end},
    item::{self, KEY, KeyRow, key},
    share::Changes,
};
use signalbox_ports::batches::{Item, ItemEnd, ItemKey, Rules, WaitingQuery};
use signalbox_sql::{Session, json, most, nanos};
use sqlx::Row;
use std::{collections::BTreeMap, time::SystemTime};

/// Items that are to end.
pub(crate) async fn waiting(session: &mut Session<'_>, query: &WaitingQuery) -> sqlx::Result<Vec<Item>> {
    let sql = format!(
        "SELECT {} FROM batch_jobs j JOIN batch_shares s ON s.job_no = j.job_no AND s.live > 0 \
         JOIN batch_windows w ON w.window_id = s.window_id AND w.state = 0 \
         JOIN batch_items t ON t.window_id = w.window_id AND t.job_no = j.job_no \
         WHERE j.state < 2 AND (j.state = 1 OR j.complete_by <= $1) AND ($2 < 0 OR j.job_no = $2) \
         ORDER BY t.job_no, t.item_no LIMIT $3",
        item::COLUMNS
    );
    let query =
        session.query(sql).bind(nanos(query.now)).bind(query.job.unwrap_or(-1)).bind(most(query.most));
    let rows = query.fetch_all(&mut *session.connection).await?;
    item::items(session, &rows).await
}

/// Ends those that still wait.
pub(crate) async fn end_waiting(
    session: &mut Session<'_>,
    ends: &[(ItemKey, ItemEnd)],
    now: SystemTime,
    rules: &Rules,
) -> sqlx::Result<u64> {
    let keys: Vec<KeyRow> = ends.iter().map(|(key, _)| (*key).into()).collect();
    let keys = json(&keys)?;
    hold_open(session, &keys).await?;
    let mut here = here(session, &keys).await?;
    let (mut endings, mut changes) = (Vec::new(), Changes::default());
    for (key, end) in ends {
        let Some((item_id, window_id)) = here.remove(key) else { continue };
        changes.ends(&window_id, key.job);
        endings.push(Ending { key: *key, item_id, end });
    }
    changes.save(session).await?;
    end(session, &endings, now, rules).await?;
    Ok(endings.len() as u64)
}

/// Holds the open windows of the items, in the order of their ids.
async fn hold_open(session: &mut Session<'_>, keys: &str) -> sqlx::Result<()> {
    let sql = format!(
        "SELECT t.window_id FROM batch_windows t WHERE t.state = 0 AND t.window_id IN (SELECT window_id \
         FROM batch_items WHERE (job_no, item_no) IN (SELECT job_no, item_no FROM {})) ORDER BY t.window_id{}",
        session.engine.given("$1", KEY),
        session.engine.for_update()
    );
    session.query(sql).bind(keys.to_owned()).fetch_all(&mut *session.connection).await?;
    Ok(())
}

/// Those of the items that are in open windows, with id and window.
async fn here(session: &mut Session<'_>, keys: &str) -> sqlx::Result<BTreeMap<ItemKey, (String, String)>> {
    let sql = format!(
        "SELECT t.job_no, t.item_no, t.item_id, t.window_id FROM batch_items t \
         JOIN batch_windows w ON w.window_id = t.window_id AND w.state = 0 \
         WHERE (t.job_no, t.item_no) IN (SELECT job_no, item_no FROM {})",
        session.engine.given("$1", KEY)
    );
    let rows = session.query(sql).bind(keys.to_owned()).fetch_all(&mut *session.connection).await?;
    rows.iter().map(|row| Ok((key(row)?, (row.try_get("item_id")?, row.try_get("window_id")?)))).collect()
}
