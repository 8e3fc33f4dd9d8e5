//! Restarting roles one process at a time, as a cluster would.

use crate::{Kind, Part, Stack, down, process, start::start};
use process::Ours;
use std::time::Duration;
use tokio::time::sleep;

/// How long a process may drain.
const ENDS_WITHIN: Duration = Duration::from_secs(40);
/// How long a process must have been ready before the next one goes: its peers must have seen it.
const SETTLED_AFTER: Duration = Duration::from_millis(750);

/// Restarts the processes of a kind, or of all roles, each once the one before is ready again. `told` hears of each.
///
/// # Errors
/// One does not end or does not start.
pub async fn roll(stack: &Stack, kind: Option<Kind>, mut told: impl FnMut(Part)) -> Result<(), String> {
    let _lock = stack.folder().lock()?;
    for part in Part::roles().filter(|part| kind.is_none_or(|kind| kind == part.kind)) {
        if let Some(pid) = process::find(stack.folder(), part) {
            process::signal(pid, down::gentle(part.kind));
            if !process::gone(stack.folder(), &[Ours { part, pid }], ENDS_WITHIN).await {
                return Err(format!("{part} does not end within {} s", ENDS_WITHIN.as_secs()));
            }
        }
        start(stack, part).await?;
        sleep(SETTLED_AFTER).await;
        told(part);
    }
    Ok(())
}
