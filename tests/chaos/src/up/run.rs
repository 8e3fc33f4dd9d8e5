//! The run.

use super::load::{Load, Verdict};
use crate::strikes::{Strike, plan};
use signalbox_local::{Kind, Part, Shape, Stack, kill, up};
use std::{collections::BTreeMap, fmt::Write as _, time::Duration};
use tokio::time::Instant;

/// Calls and streams at once.
const CLIENTS: usize = 16;

const HEAD: &str = "\
| killed by `kill -9` | answered | lost, of them with a row | in s | verdict |
| --- | --: | --: | --: | --- |
";

/// What is run.
#[derive(Debug, Clone)]
pub struct UpWish {
    /// The system.
    pub stack: Stack,
    /// Requests that must be answered.
    pub requests: usize,
    /// Kills in all.
    pub kills: usize,
    /// What kills follow from.
    pub seed: u64,
}

/// What came of it.
#[derive(Debug)]
pub struct UpReport {
    /// Who was killed how often.
    pub killed: BTreeMap<Kind, usize>,
    /// What became of the requests.
    pub verdict: Verdict,
    /// How long it took.
    pub lasted: Duration,
}

/// Kills processes of every role under load, brings them back, and looks at the rows.
///
/// # Errors
/// A process does not come back, or requests are not answered any more.
pub async fn run_up(wish: &UpWish) -> Result<UpReport, String> {
    let (began, stack) = (Instant::now(), &wish.stack);
    let load = Load::start(stack, &format!("chaos-{:08x}", rand::random::<u32>()), CLIENTS).await?;
    let victims: Vec<Part> = Part::roles().collect();
    let (mut killed, mut noticed) = (BTreeMap::new(), Vec::new());
    for Strike { at, victim, pause } in plan(&victims, wish.kills, wish.requests as u64, wish.seed) {
        load.reaches(usize::try_from(at).unwrap_or(usize::MAX)).await?;
        let lost = load.lost();
        kill(stack, victim).await?;
        *killed.entry(victim.kind).or_default() += 1;
        let answered = load.answered();
        load.reaches(answered + usize::try_from(pause).unwrap_or(0)).await?;
        up(stack.folder(), Shape::default()).await?;
        // Whoever was under way meanwhile has heard of it.
        load.reaches(load.answered() + 2 * CLIENTS).await?;
        let more = load.lost() - lost;
        if more > bearable(victim.kind) {
            noticed.push(format!("{more} requests were lost when {victim} was killed"));
        }
    }
    load.reaches(wish.requests).await?;
    let mut verdict = load.stop(stack).await?;
    verdict.problems.extend(noticed);
    Ok(UpReport { killed, verdict, lasted: began.elapsed() })
}

/// How many requests a death may cost: those under way in a router, and streams that had begun through an adapter.
fn bearable(kind: Kind) -> usize {
    if matches!(kind, Kind::Router | Kind::Adapter) { CLIENTS } else { 0 }
}

/// A row for each run, as Markdown.
pub fn up_table(reports: &[UpReport]) -> String {
    let mut text = HEAD.to_owned();
    for UpReport { killed, verdict, lasted } in reports {
        let killed: Vec<_> = killed.iter().map(|(kind, times)| format!("{} {times}×", kind.name())).collect();
        let _infallible = writeln!(
            text,
            "| {} | {} | {}, {} | {:.1} | {} |",
            killed.join(", "),
            verdict.answered,
            verdict.lost.len(),
            verdict.lost_with_row,
            lasted.as_secs_f64(),
            if verdict.problems.is_empty() { "exact" } else { "WRONG" },
        );
    }
    text
}
