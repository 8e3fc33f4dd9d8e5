//! Ending everything.

use crate::{Folder, Kind, Part, Stack, engines::postgres, folder, process};
use process::{GONE_WITHIN, Ours, gone};
use rustix::process::Signal;
use std::{fs, time::Duration};
use tokio::time::{Instant, sleep};

/// How long a role may take: longer than it drains.
const ROLE_ENDS_WITHIN: Duration = Duration::from_secs(40);
/// How long an engine may take.
const ENGINE_ENDS_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Ends all processes, in the order in which they call each other, and removes the folder. Says whether there was
/// anything.
///
/// # Errors
/// Something is left.
pub async fn down(folder: &Folder) -> Result<bool, String> {
    let ours = folder.is_ours();
    if !ours && processes(folder).is_empty() {
        return Ok(false);
    }
    let _lock = if ours { Some(folder.lock()?) } else { None };
    // What cannot be read is removed all the same.
    let stack = Stack::load(folder).unwrap_or_default();
    end(folder, &Part::all().collect::<Vec<_>>()).await;
    let left = left(folder, stack.as_ref()).await;
    if !left.is_empty() {
        return Err(format!("left: {}", left.join(", ")));
    }
    let outside = stack.map(|stack| stack.postgres().to_owned()).or_else(|| postgres::found(folder));
    outside.map_or(Ok(()), |outside| remove(&outside))?;
    if ours {
        remove(folder.path())?;
    }
    Ok(true)
}

fn processes(folder: &Folder) -> Vec<Ours> {
    process::processes(folder)
}

/// Ends those of these processes that run: gently, and by force where that is not enough.
pub(crate) async fn end(folder: &Folder, parts: &[Part]) {
    for kind in stages() {
        let running = || -> Vec<Ours> {
            let all = processes(folder).into_iter();
            all.filter(|ours| parts.contains(&ours.part) && kind.contains(&ours.part.kind)).collect()
        };
        let patience =
            if kind.iter().any(|kind| kind.is_role()) { ROLE_ENDS_WITHIN } else { ENGINE_ENDS_WITHIN };
        let told = running();
        for ours in &told {
            process::signal(ours.pid, gentle(ours.part.kind));
            // One that was stopped hears of it once it goes on.
            process::signal(ours.pid, Signal::CONT);
        }
        if !gone(folder, &told, patience).await {
            let stubborn = running();
            stubborn.iter().for_each(|ours| process::signal(ours.pid, Signal::KILL));
            gone(folder, &stubborn, GONE_WITHIN).await;
        }
    }
}

/// Who is ended together. Who calls is ended before who is called.
fn stages() -> Vec<Vec<Kind>> {
    let (roles, engines): (Vec<Kind>, Vec<Kind>) = Kind::ALL.into_iter().partition(|kind| kind.is_role());
    roles.into_iter().map(|kind| vec![kind]).chain([engines]).collect()
}

/// How a process is asked to end.
pub(crate) fn gentle(kind: Kind) -> Signal {
    // PostgreSQL waits for its clients when it is told by SIGTERM.
    if kind == Kind::Postgres { Signal::INT } else { Signal::TERM }
}

/// What still runs or listens, in words. A process that was ended may take a moment to let go of its port.
async fn left(folder: &Folder, stack: Option<&Stack>) -> Vec<String> {
    let end = Instant::now() + GONE_WITHIN;
    loop {
        let running =
            processes(folder).into_iter().map(|ours| format!("{} (process {})", ours.part, ours.pid));
        let listening = stack.map(|stack| stack.ports().taken(Part::all())).unwrap_or_default();
        let of_postgres = stack.map(|stack| process::working_in(&postgres::data(stack))).unwrap_or_default();
        let left: Vec<String> = running
            .chain(of_postgres.into_iter().map(|pid| format!("process {pid} of postgres")))
            .chain(listening.into_iter().map(|port| format!("port {port}")))
            .collect();
        if left.is_empty() || Instant::now() > end {
            return left;
        }
        sleep(LOOK_EVERY).await;
    }
}

fn remove(path: &std::path::Path) -> Result<(), String> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(folder::told(path)(error)),
        _ => Ok(()),
    }
}
