//! Starting a process so that it outlives us, and finding it again.

use crate::{Folder, Part, Stack, folder, launch::Launch};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs::{self, File},
    path::Path,
    process::Stdio,
    time::Duration,
};
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

/// How long a process may take to be gone that was killed.
pub(crate) const GONE_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Variable in the environment of each process that says whose it is.
const MARK: &str = "SIGNALBOX_LOCAL";

/// A process of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ours {
    /// What it is.
    pub part: Part,
    /// Its number.
    pub pid: u32,
}

fn mark(folder: &Folder, what: impl std::fmt::Display) -> String {
    format!("{MARK}={}:{what}", folder.path().display())
}

/// Starts a process in a session of its own: no terminal's end reaches it.
pub(crate) fn spawn(stack: &Stack, part: Part, launch: &Launch) -> Result<Child, String> {
    let home = stack.folder().data(part);
    fs::create_dir_all(&home).map_err(folder::told(&home))?;
    let path = stack.folder().log(part);
    let log = File::options().create(true).append(true).open(&path).map_err(folder::told(&path))?;
    let both = log.try_clone().map_err(folder::told(&path))?;
    let mut command = Command::new("setsid");
    command.arg(&launch.program).args(&launch.arguments);
    command.env_clear().envs(launch.environment.iter().map(|(name, value)| (name, value)));
    // Wrappers find their interpreter by it.
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env(MARK, mark(stack.folder(), part).trim_start_matches(&format!("{MARK}=")));
    command.current_dir("/").stdin(Stdio::null()).stdout(log).stderr(both);
    if let Some((user, group)) = launch.user {
        command.uid(user).gid(group);
    }
    let child = command.spawn().map_err(|error| format!("{part}: cannot start setsid: {error}"))?;
    let pid = child.id().unwrap_or_default();
    folder::write(&stack.folder().pid(part), &format!("{pid}\n"))?;
    Ok(child)
}

/// Whether a process runs and is this one. Numbers are given anew after a crash of the machine.
fn is(folder: &Folder, pid: u32, part: Part) -> bool {
    lives(pid) && environment(pid).is_some_and(|environment| has(&environment, mark(folder, part).as_bytes()))
}

/// Whether it has not ended. One that has, and whose parent has not asked how, is there as a zombie; in a container
/// whose first process asks for nobody, for ever.
fn lives(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Whether somebody has stopped it, by SIGSTOP.
pub(crate) fn is_stopped(pid: u32) -> bool {
    state(pid) == Some('T')
}

/// What the kernel says of it, in one letter.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name comes first, in brackets, and may have any in it.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

fn environment(pid: u32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/environ")).ok()
}

fn has(environment: &[u8], variable: &[u8]) -> bool {
    environment.split(|byte| *byte == 0).any(|entry| entry == variable)
}

/// The process of a part, if it runs.
pub(crate) fn find(folder: &Folder, part: Part) -> Option<u32> {
    let told = fs::read_to_string(folder.pid(part)).ok().and_then(|text| text.trim().parse().ok());
    if let Some(pid) = told.filter(|pid| is(folder, *pid, part)) {
        return Some(pid);
    }
    // The file may be from before, or never have been written.
    processes(folder).into_iter().find_map(|ours| (ours.part == part).then_some(ours.pid))
}

/// All processes of a system that run, whoever started them.
pub fn processes(folder: &Folder) -> Vec<Ours> {
    numbers()
        .into_iter()
        .filter_map(|pid| Some(Ours { part: part_of(folder, &environment(pid)?)?, pid }))
        .filter(|ours| lives(ours.pid))
        .collect()
}

fn part_of(folder: &Folder, environment: &[u8]) -> Option<Part> {
    let prefix = mark(folder, "");
    let of = |entry: &[u8]| {
        let name = entry.strip_prefix(prefix.as_bytes())?;
        String::from_utf8_lossy(name).parse().ok()
    };
    environment.split(|byte| *byte == 0).find_map(of)
}

/// Processes that work in a folder, as PostgreSQL's own do in that of its data. They cannot be known by their
/// environment, over which they write their titles.
pub(crate) fn working_in(folder: &Path) -> Vec<u32> {
    let is_in = |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder);
    numbers().into_iter().filter(is_in).filter(|pid| lives(*pid)).collect()
}

/// Of all processes of this machine.
fn numbers() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).collect();
    pids.sort_unstable();
    pids
}

/// Sends a signal to a process that has just been found to be ours.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        // One that has ended already is as good.
        let _ended = kill_process(pid, signal);
    }
}

/// Ends a process at once (SIGKILL), if it runs.
///
/// # Errors
/// It is still there.
pub async fn kill(stack: &Stack, part: Part) -> Result<(), String> {
    let Some(pid) = find(stack.folder(), part) else { return Ok(()) };
    signal(pid, Signal::KILL);
    match gone(stack.folder(), &[Ours { part, pid }], GONE_WITHIN).await {
        true => Ok(()),
        false => Err(format!("{part} does not end")),
    }
}

/// Waits until these have ended, and says whether they have.
pub(crate) async fn gone(folder: &Folder, those: &[Ours], patience: Duration) -> bool {
    let end = Instant::now() + patience;
    while !those.iter().all(|ours| has_ended(folder, *ours)) {
        if Instant::now() > end {
            return false;
        }
        sleep(LOOK_EVERY).await;
    }
    true
}

/// Whether a process has ended.
pub(crate) fn has_ended(folder: &Folder, ours: Ours) -> bool {
    !is(folder, ours.pid, ours.part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_ours_only_if_it_says_so_to_the_letter() {
        let folder = Folder::at(Path::new("/nowhere/local")).unwrap();
        let part = |text: &str| part_of(&folder, text.as_bytes()).map(|part| part.to_string());
        assert_eq!(part("A=1\0SIGNALBOX_LOCAL=/nowhere/local:redis\0B=2").as_deref(), Some("redis"));
        assert_eq!(part("SIGNALBOX_LOCAL=/nowhere/local2:redis"), None);
        assert_eq!(part("XSIGNALBOX_LOCAL=/nowhere/local:redis"), None);
        assert_eq!(part("SIGNALBOX_LOCAL=/nowhere/local:"), None);
        // This one is nobody's.
        assert!(!is(&folder, std::process::id(), Part::all().next().unwrap()));
    }

    #[tokio::test]
    async fn a_process_that_has_ended_is_none_even_if_nobody_asks_how_it_ended() {
        let (home, part) = (tempfile::tempdir().unwrap(), Part::all().next().unwrap());
        let folder = Folder::at(home.path()).unwrap();
        let mut sleeps = std::process::Command::new("sleep");
        let mark = mark(&folder, part);
        let (name, value) = mark.split_once('=').unwrap();
        let mut child = sleeps.arg("60").env(name, value).current_dir(folder.path()).spawn().unwrap();
        let ours = Ours { part, pid: child.id() };
        assert_eq!((find(&folder, part), working_in(folder.path())), (Some(ours.pid), vec![ours.pid]));
        assert!(!is_stopped(ours.pid) && !has_ended(&folder, ours));

        signal(ours.pid, Signal::KILL);
        assert!(gone(&folder, &[ours], GONE_WITHIN).await);
        assert_eq!(state(ours.pid), Some('Z'), "nobody has asked");
        assert_eq!((find(&folder, part), processes(&folder)), (None, vec![]));
        assert_eq!(working_in(folder.path()), [] as [u32; 0]);
        child.wait().unwrap();
    }
}
