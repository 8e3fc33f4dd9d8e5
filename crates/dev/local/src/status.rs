//! What runs, and how it does.

use crate::{Part, Stack, process, ready::ready};
use std::fmt::Write as _;

/// A line for each process, and whether all are ready.
pub async fn status(stack: &Stack) -> (String, bool) {
    let (mut text, mut all_ready) = (String::new(), true);
    for part in Part::all() {
        let state = match process::find(stack.folder(), part) {
            None => Err("does not run".to_owned()),
            Some(pid) => match ready(stack, part, pid).await {
                Ok(()) => Ok(format!("ready         process {pid}")),
                Err(missing) => Err(format!("not ready     process {pid}: {missing}")),
            },
        };
        all_ready &= state.is_ok();
        let (Ok(told) | Err(told)) = state;
        let _infallible = writeln!(text, "  {:<11} {told}", part.to_string());
    }
    (text.trim_end().to_owned(), all_ready)
}
