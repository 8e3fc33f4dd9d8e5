//! What of a job is in a window.

use serde::Serialize;
use signalbox_sql::{Session, json};
use std::collections::BTreeMap;

/// What changes of a job's share of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub(crate) struct Change {
    /// Items that joined, or went on where this is negative.
    pub(crate) joined: i64,
    /// Items that joined, or went on or ended.
    pub(crate) live: i64,
}

/// Changes, by window and job.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<(String, i64), Change>);

impl Changes {
    /// One item joins a window.
    pub(crate) fn joins(&mut self, window_id: &str, job: i64) {
        let change = self.of(window_id, job);
        change.joined += 1;
        change.live += 1;
    }

    /// One item of a window goes on.
    pub(crate) fn goes(&mut self, window_id: &str, job: i64) {
        let change = self.of(window_id, job);
        change.joined -= 1;
        change.live -= 1;
    }

    /// One item of a window ends.
    pub(crate) fn ends(&mut self, window_id: &str, job: i64) {
        self.of(window_id, job).live -= 1;
    }

    /// So many items of a job go from one window to another.
    pub(crate) fn moves(&mut self, from: &str, to: &str, job: i64, items: i64) {
        for (window_id, items) in [(from, -items), (to, items)] {
            let change = self.of(window_id, job);
            change.joined += items;
            change.live += items;
        }
    }

    fn of(&mut self, window_id: &str, job: i64) -> &mut Change {
        self.0.entry((window_id.to_owned(), job)).or_default()
    }

    /// Writes them down, of windows that the transaction holds.
    pub(crate) async fn save(&self, session: &mut Session<'_>) -> sqlx::Result<()> {
        let rows: Vec<Row<'_>> = self.0.iter().map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let rows = json(&rows)?;
        let given = session.engine.given("$1", "job_no bigint, window_id text, joined bigint, live bigint");
        let new = format!(
            "INSERT INTO batch_shares (job_no, window_id, joined, live) SELECT job_no, window_id, 0, 0 FROM {given} \
             WHERE true ON CONFLICT (job_no, window_id) DO NOTHING"
        );
        session.query(new).bind(rows.clone()).execute(&mut *session.connection).await?;
        let shares = format!(
            "UPDATE batch_shares AS t SET joined = t.joined + given.joined, live = t.live + given.live FROM {given} \
             WHERE t.job_no = given.job_no AND t.window_id = given.window_id"
        );
        session.query(shares).bind(rows.clone()).execute(&mut *session.connection).await?;
        let windows = format!(
            "UPDATE batch_windows AS t SET live = t.live + change.live FROM \
             (SELECT window_id, CAST(SUM(live) AS BIGINT) AS live FROM {given} GROUP BY window_id) AS change \
             WHERE t.window_id = change.window_id"
        );
        session.query(windows).bind(rows).execute(&mut *session.connection).await?;
        Ok(())
    }
}

#[derive(Serialize)]
struct Row<'a> {
    job_no: i64,
    window_id: &'a str,
    #[serde(flatten)]
    change: Change,
}

fn row<'a>(((window_id, job_no), change): (&'a (String, i64), &Change)) -> Row<'a> {
    Row { job_no: *job_no, window_id, change: *change }
}
