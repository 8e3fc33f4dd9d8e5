//! Other certificates of another authority, while everything runs.

use crate::{Part, Purpose, Stack, certificates::Generation};
use signalbox_testkit::{get, metrics::Metrics};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long processes may take to take over other files: they look every two seconds.
const TAKEN_WITHIN: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Replaces the certificates of all processes by those of a new authority. At first both authorities are trusted, then
/// the new certificates are shown, then the old authority is forgotten; each step once every process has taken the one
/// before. `told` hears of them.
///
/// # Errors
/// There are no certificates, or a process does not take them.
pub async fn rotate(stack: &Stack, mut told: impl FnMut(&str)) -> Result<(), String> {
    if !stack.mtls() {
        return Err("roles speak in the clear here".to_owned());
    }
    let _lock = stack.folder().lock()?;
    let (old, new) = (Generation::read(stack.folder())?, Generation::issue());
    let steps = [
        ("both authorities are trusted", old.trusting(&new)),
        ("the new certificates are shown", new.trusting(&old)),
        ("the old authority is forgotten", new),
    ];
    for (what, generation) in steps {
        let before = reloads(stack).await;
        generation.put(stack.folder())?;
        taken(stack, &before).await?;
        told(what);
    }
    Ok(())
}

/// Waits until every process that ran has taken over what was put.
async fn taken(stack: &Stack, before: &[(Part, f64)]) -> Result<(), String> {
    let end = Instant::now() + TAKEN_WITHIN;
    for (part, count) in before {
        while reloads_of(stack, *part).await.is_some_and(|now| now <= *count) {
            if Instant::now() > end {
                return Err(format!("{part} has not taken over its certificate; see its log"));
            }
            sleep(LOOK_EVERY).await;
        }
    }
    Ok(())
}

/// How often each process that runs has taken over its certificates.
async fn reloads(stack: &Stack) -> Vec<(Part, f64)> {
    let mut all = Vec::new();
    for part in Part::roles() {
        all.extend(reloads_of(stack, part).await.map(|count| (part, count)));
    }
    all
}

/// None where it does not run.
async fn reloads_of(stack: &Stack, part: Part) -> Option<f64> {
    let (_, text) = get(stack.ports().address(part, Purpose::Metrics), "/metrics").await.ok()?;
    Some(Metrics::new(text).sum("signalbox_tls_reloads_total", &[("use", "mtls"), ("result", "ok")]))
}
