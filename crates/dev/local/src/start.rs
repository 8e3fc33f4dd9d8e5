//! Starting a process and waiting until it does its work.

use crate::{Kind, Part, Stack, engines::postgres, launch, process, process::Ours, ready::ready};
use std::{fs, path::Path, time::Duration};
use tokio::{
    process::Child,
    time::{Instant, sleep},
};

/// How long a process may take.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(25);
/// Of the log of one that did not start.
const LINES_SHOWN: usize = 25;

/// Starts a process and waits until it is ready. What it said is told where it does not come to that.
pub(crate) async fn start(stack: &Stack, part: Part) -> Result<(), String> {
    if part.kind == Kind::Postgres {
        alone(stack).await;
    }
    // Making PostgreSQL's files takes seconds; the others need not wait.
    let planned = stack.clone();
    let launch = tokio::task::spawn_blocking(move || launch::prepare(&planned, part)).await;
    let launch = launch.map_err(|error| format!("{part}: {error}"))??;
    let mut child = process::spawn(stack, part, &launch)?;
    until_ready(stack, part, &mut child).await.map_err(|why| {
        let log = stack.folder().log(part);
        format!("{part} {why}. The end of {}:\n{}", log.display(), tail(&log))
    })
}

/// Waits until nothing of a PostgreSQL server that was killed works any more: it would keep another one from starting.
async fn alone(stack: &Stack) {
    let (data, end) = (postgres::data(stack), Instant::now() + process::GONE_WITHIN);
    while !process::working_in(&data).is_empty() && Instant::now() < end {
        sleep(LOOK_EVERY).await;
    }
}

/// Waits until a process that was found is ready, and says whether it is; it is not if it has ended.
pub(crate) async fn already(stack: &Stack, ours: Ours) -> Result<bool, String> {
    let Ours { part, pid } = ours;
    let end = Instant::now() + PATIENCE;
    loop {
        let state = ready(stack, part, pid).await;
        // Only now: it may have answered with its last breath.
        if process::has_ended(stack.folder(), ours) {
            return Ok(false);
        }
        let Err(missing) = state else { return Ok(true) };
        if process::is_stopped(pid) {
            return Err(format!("{part} was stopped, and goes on by `kill -CONT {pid}`"));
        }
        if Instant::now() > end {
            let log = stack.folder().log(part);
            let patience = PATIENCE.as_secs();
            let hint = what_helps(&missing, pid);
            return Err(format!(
                "{part} (process {pid}) runs, but was not ready within {patience} s: {missing}; see {}{hint}",
                log.display()
            ));
        }
        sleep(LOOK_EVERY).await;
    }
}

/// A NATS server whose disk was full gives its streams or all of JetStream up, and does not take them up again by itself.
fn what_helps(missing: &str, pid: u32) -> String {
    let gave_up = ["not enabled", "write error", "no space left"].iter().any(|sign| missing.contains(sign));
    if !missing.contains("JetStream") || !gave_up {
        return String::new();
    }
    format!("; was its disk full? Make room, then restart it: `kill {pid}`, and `make up` again")
}

async fn until_ready(stack: &Stack, part: Part, child: &mut Child) -> Result<(), String> {
    let end = Instant::now() + PATIENCE;
    let pid = child.id().unwrap_or_default();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Err(format!("ended before it was ready ({status})"));
        }
        let missing = match ready(stack, part, pid).await {
            Ok(()) => return Ok(()),
            Err(missing) => missing,
        };
        if Instant::now() > end {
            return Err(format!("was not ready within {} s: {missing}", PATIENCE.as_secs()));
        }
        sleep(LOOK_EVERY).await;
    }
}

fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.get(lines.len().saturating_sub(LINES_SHOWN)..).unwrap_or_default();
    shown.iter().map(|line| format!("    {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::what_helps;

    #[test]
    fn a_nats_server_without_jetstream_is_to_be_restarted_and_nothing_else_is() {
        for missing in [
            r#"{"status":"unavailable","error":"JetStream not enabled (10076)"}"#,
            r#"{"status":"unavailable","error":"JetStream stream '$G > S' write error: write 1.blk: no space left on device"}"#,
        ] {
            assert!(what_helps(missing, 42).contains("restart it: `kill 42`"), "{missing}");
        }
        assert_eq!(
            what_helps(r#"{"error":"JetStream has not established contact with a meta leader"}"#, 42),
            ""
        );
        assert_eq!(what_helps("no answer within 2 s", 42), "");
    }
}
