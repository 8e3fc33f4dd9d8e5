//! Starting what does not run.

use crate::{Folder, Part, Shape, Stack, down, process, start::start, tenant};
use futures_util::future::join_all;

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The system, ready.
    pub stack: Stack,
    /// The processes that were started; none where it was up.
    pub started: Vec<Part>,
}

/// Starts the system in a folder, or what of it does not run, and waits until all is ready. What it was made with
/// before stays, whatever `shape` says.
///
/// # Errors
/// Ports are taken, the folder is somebody else's, or a process does not start: its log is told, and whatever was
/// started is ended.
pub async fn up(folder: &Folder, shape: Shape) -> Result<Outcome, String> {
    if folder.is_foreign() {
        return Err(format!("{} is not empty and not ours: give another --folder", folder.path().display()));
    }
    let known = Stack::load(folder)?;
    let is_new = known.is_none();
    let mut stack = match known {
        Some(stack) => stack,
        None => Stack::plan(folder.clone(), shape)?,
    };
    if is_new {
        folder.make()?;
    }
    let _lock = folder.lock()?;
    if is_new {
        stack.make()?;
    }
    let missing: Vec<Part> = Part::all().filter(|part| process::find(folder, *part).is_none()).collect();
    let taken = stack.ports().taken(missing.iter().copied());
    if !taken.is_empty() {
        return Err(format!("taken by other programs: {}", taken.join(", ")));
    }
    if let Err(why) = complete(&mut stack, &missing).await {
        down::end(folder, &missing).await;
        return Err(why);
    }
    Ok(Outcome { stack, started: missing })
}

async fn complete(stack: &mut Stack, missing: &[Part]) -> Result<(), String> {
    let engines: Vec<Part> = Part::engines().filter(|part| missing.contains(part)).collect();
    together(stack, &engines).await?;
    let roles: Vec<Part> = Part::roles().filter(|part| missing.contains(part)).collect();
    together(stack, &roles).await?;
    tenant::provide(stack).await
}

/// Starts processes at the same time. All that went wrong is told.
async fn together(stack: &Stack, parts: &[Part]) -> Result<(), String> {
    let outcomes = join_all(parts.iter().map(|part| start(stack, *part))).await;
    let wrong: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
