//! What there is, for metrics.

use crate::codes::{Code, count, time_of};
use signalbox_batching::late::LATE_PERCENT;
use signalbox_ports::batches::{Gauges, Lane, WindowState};
use signalbox_sql::{Session, nanos};
use sqlx::Row;
use std::{collections::BTreeMap, time::SystemTime};

pub(crate) async fn gauges(session: &mut Session<'_>, now: SystemTime) -> sqlx::Result<Gauges> {
    let mut gauges = windows(session).await?;
    let row = session.query("SELECT COUNT(*) AS untold FROM batch_events");
    gauges.untold = count(&row.fetch_one(&mut *session.connection).await?, "untold")?;
    let late = format!(
        "SELECT COUNT(*) AS late FROM batch_jobs WHERE state < 2 \
         AND created_at + (complete_by - created_at) / 100 * {LATE_PERCENT} <= $1"
    );
    let row = session.query(late).bind(nanos(now)).fetch_one(&mut *session.connection).await?;
    gauges.late_jobs = count(&row, "late")?;
    Ok(gauges)
}

async fn windows(session: &mut Session<'_>) -> sqlx::Result<Gauges> {
    let query = session.query(
        "SELECT state, vendor, lane, COUNT(*) AS windows, CAST(SUM(live) AS BIGINT) AS live, \
         MIN(opened_at) AS opened_at FROM batch_windows WHERE state < 3 AND live > 0 GROUP BY state, vendor, lane",
    );
    let mut gauges = Gauges::default();
    let mut windows: BTreeMap<(WindowState, String), u64> = BTreeMap::new();
    for row in query.fetch_all(&mut *session.connection).await? {
        let (state, lane) = (WindowState::read(&row, "state")?, Lane::read(&row, "lane")?);
        let live = count(&row, "live")?;
        *windows.entry((state, row.try_get("vendor")?)).or_default() += count(&row, "windows")?;
        if state.is_running(lane) {
            gauges.running += live;
        } else {
            gauges.queued += live;
            let opened = time_of(&row, "opened_at")?;
            gauges.oldest_queued = Some(gauges.oldest_queued.map_or(opened, |oldest| oldest.min(opened)));
        }
    }
    gauges.windows = windows.into_iter().map(|((state, vendor), count)| (state, vendor, count)).collect();
    Ok(gauges)
}
