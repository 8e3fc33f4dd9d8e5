//! Runs as a table.

use super::run::BudgetReport;
use std::fmt::Write as _;

const HEAD: &str = "\
| killed by `kill -9` | answered | refused | given up | failed | settlements, of them estimates | limit | settled | passed by | bound (T1, T2) | left | bound (T4) | calls for leases | settled after | verdict |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- |
";

/// A row for each run, as Markdown.
pub fn budget_table(reports: &[BudgetReport]) -> String {
    let mut text = HEAD.to_owned();
    for BudgetReport { killed, told, settled_after, verdict, .. } in reports {
        let killed: Vec<_> = killed.iter().map(|(victim, times)| format!("{victim} {times}×")).collect();
        let _infallible = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {}, {} | {} | {} | {} | {} | {} | {} | {} | {:.1} s | {} |",
            killed.join(", "),
            told.answered,
            told.refused,
            told.left,
            told.failed,
            verdict.settlements,
            verdict.estimated,
            euros(verdict.limit),
            euros(verdict.settled),
            euros(verdict.over),
            euros(verdict.debt),
            euros(verdict.left),
            euros(verdict.left_bound),
            verdict.questions,
            settled_after.as_secs_f64(),
            if verdict.problems.is_empty() { "exact" } else { "WRONG" },
        );
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "an amount to look at")]
fn euros(nano_eur: i64) -> String {
    if nano_eur == 0 { "0".to_owned() } else { format!("€{:.4}", nano_eur as f64 / 1e9) }
}
