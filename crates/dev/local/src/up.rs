//! Starting what does not run.

use crate::{
    Folder, Part, Shape, Stack, down,
    process::{self, GONE_WITHIN, Ours},
    start::{already, start},
    tenant,
};
use futures_util::future::join_all;
use std::{fs::File, time::Duration};
use tokio::time::{Instant, sleep};

const LOOK_EVERY: Duration = Duration::from_millis(20);

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
/// Ports are taken, the folder is somebody else's, or a process is not or does not become ready: its log is told, and
/// whatever was started is ended.
pub async fn up(folder: &Folder, shape: Shape) -> Result<Outcome, String> {
    let (mut stack, _lock) = made(folder, shape)?;
    let before = running(folder);
    let missing = Part::all().filter(|part| !before.iter().any(|ours| ours.part == *part)).collect();
    free(&stack, missing).await?;
    let outcome = complete(&mut stack, &before).await;
    let now = running(folder).into_iter();
    let started: Vec<Part> = now.filter(|ours| !before.contains(ours)).map(|ours| ours.part).collect();
    match outcome {
        Ok(()) => Ok(Outcome { stack, started }),
        Err(why) => {
            down::end(folder, &started).await;
            Err(why)
        }
    }
}

fn running(folder: &Folder) -> Vec<Ours> {
    let ours = |part| process::find(folder, part).map(|pid| Ours { part, pid });
    Part::all().filter_map(ours).collect()
}

/// The system of a folder, which is made where there is none; nobody else works on it.
fn made(folder: &Folder, shape: Shape) -> Result<(Stack, File), String> {
    if folder.is_foreign() {
        return Err(format!("{} is not empty and not ours: give another --folder", folder.path().display()));
    }
    // Nothing is made where its ports are taken.
    let new = match Stack::load(folder)? {
        Some(_) => None,
        None => Some(Stack::plan(folder.clone(), shape)?),
    };
    folder.make()?;
    let lock = folder.lock()?;
    let stack = match (Stack::load(folder)?, new) {
        (Some(stack), _) => stack,
        // By this the folder is known for ours, whatever interrupts what follows.
        (None, Some(new)) => new.save().map(|()| new)?,
        (None, None) => return Err(format!("{} has just been removed", folder.path().display())),
    };
    stack.make()?;
    Ok((stack, lock))
}

async fn complete(stack: &mut Stack, before: &[Ours]) -> Result<(), String> {
    together(stack, Part::engines(), before).await?;
    together(stack, Part::roles(), before).await?;
    tenant::provide(stack).await
}

/// Waits for processes at the same time, and starts those that do not run. All that went wrong is told.
pub(crate) async fn together(
    stack: &Stack,
    parts: impl Iterator<Item = Part>,
    before: &[Ours],
) -> Result<(), String> {
    let found = |part| before.iter().find(|ours| ours.part == part).copied();
    let outcomes = join_all(parts.map(|part| bring(stack, part, found(part)))).await;
    let wrong: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Sees to it that a process is ready. One that was found may have been dying.
async fn bring(stack: &Stack, part: Part, found: Option<Ours>) -> Result<(), String> {
    if let Some(ours) = found {
        if already(stack, ours).await? {
            return Ok(());
        }
        free(stack, vec![part]).await?;
    }
    start(stack, part).await
}

/// Waits until nobody has the ports of these processes. Those who were killed may take a moment to let go of theirs.
async fn free(stack: &Stack, parts: Vec<Part>) -> Result<(), String> {
    let end = Instant::now() + GONE_WITHIN;
    loop {
        let taken = stack.ports().taken(parts.iter().copied());
        if taken.is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(format!("taken by other programs: {}", taken.join(", ")));
        }
        sleep(LOOK_EVERY).await;
    }
}
