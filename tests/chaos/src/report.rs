//! Runs as a table.

use crate::{field::Wish, run::Report};
use std::{fmt::Write as _, time::Duration};

const HEAD: &str = "\
| | killed by `kill -9` | published in s | settled in s | events/s | longest wait of a request | bus stood still | store stood still | stored | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// A row for each run, as Markdown.
pub fn table(reports: &[Report]) -> String {
    let mut text = HEAD.to_owned();
    for report in reports {
        let Wish { mode, events, .. } = report.wish;
        let killed: Vec<_> =
            report.killed.iter().map(|(victim, times)| format!("{victim} {times}×")).collect();
        #[expect(clippy::cast_precision_loss, reason = "a rate to look at")]
        let rate = events as f64 / report.settled_after.as_secs_f64();
        let still = report.store_stall.map_or_else(|| "-".to_owned(), seconds);
        let _infallible = writeln!(
            text,
            "| {mode}, {events} events | {} | {:.1} | {:.1} | {rate:.0} | {:.0?} | {} | {still} | {} | {} |",
            killed.join(", "),
            report.published_after.as_secs_f64(),
            report.settled_after.as_secs_f64(),
            report.longest,
            seconds(report.stall),
            report.stored,
            if report.problems.is_empty() { "exact" } else { "WRONG" },
        );
    }
    text
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
