//! Starting a process so that it outlives us, and finding it again.

use crate::{Folder, Part, Stack, folder, launch::Launch};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs::{self, File},
    process::Stdio,
};
use tokio::process::{Child, Command};

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
    environment(pid).is_some_and(|environment| has(&environment, mark(folder, part).as_bytes()))
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
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).collect();
    pids.sort_unstable();
    pids.into_iter()
        .filter_map(|pid| Some(Ours { part: part_of(folder, &environment(pid)?)?, pid }))
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

/// Sends a signal to a process that has just been found to be ours.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        // One that has ended already is as good.
        let _ended = kill_process(pid, signal);
    }
}

/// Whether a process has ended. One that nobody has asked how it ended has, too.
pub(crate) fn has_ended(folder: &Folder, ours: Ours) -> bool {
    !is(folder, ours.pid, ours.part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
}
