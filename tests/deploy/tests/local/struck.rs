//! What `up` says and does right after somebody struck.

use super::system::System;
use rustix::process::{Pid, Signal, kill_process};
use signalbox_local::{Kind, Part, processes};
use std::{fs, path::Path};

pub(super) async fn what_was_just_killed_is_not_said_to_be_up(system: &System) {
    let router = Part { kind: Kind::Router, number: 1 };
    send(number(system, router), Signal::KILL);
    let up = system.local(&["up"]).await;
    assert!(up.good && up.says.contains("router-1"), "{up:?}");
    all_is_ready(system).await;
}

/// Nobody asks here how they ended, so that they stay as zombies.
pub(super) async fn a_database_that_was_killed_and_that_nobody_asked_for_comes_back(system: &System) {
    let data = system.stack.folder().data(Part { kind: Kind::Postgres, number: 1 });
    let killed = working_below(&data);
    assert!(killed.len() > 1, "{killed:?}");
    killed.iter().for_each(|pid| send(*pid, Signal::KILL));
    let up = system.local(&["up"]).await;
    assert!(up.good && up.says.contains("postgres"), "{up:?}");
    assert!(Path::new(&format!("/proc/{}", killed[0])).exists(), "it is a zombie");
    all_is_ready(system).await;
}

pub(super) async fn what_stands_still_is_not_said_to_be_up(system: &System) {
    for kind in [Kind::Redis, Kind::Postgres, Kind::Adapter] {
        let part = Part { kind, number: 1 };
        let pid = number(system, part);
        send(pid, Signal::STOP);
        let up = system.local(&["up"]).await;
        send(pid, Signal::CONT);
        let told = format!("{part} was stopped, and goes on by `kill -CONT {pid}`");
        assert!(!up.good && up.errors.contains(&told), "{up:?}");
    }
    let up = system.local(&["up"]).await;
    assert!(up.good && up.says.starts_with("It is up."), "{up:?}");
}

async fn all_is_ready(system: &System) {
    let status = system.local(&["status"]).await;
    assert!(status.good, "{status:?}");
}

fn number(system: &System, part: Part) -> u32 {
    let running = processes(system.stack.folder());
    running.iter().find(|ours| ours.part == part).unwrap().pid
}

fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// The oldest first.
fn working_below(folder: &Path) -> Vec<u32> {
    let folder = folder.canonicalize().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_in =
        |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(&folder));
    let mut pids: Vec<u32> = pids.filter(is_in).collect();
    pids.sort_unstable();
    pids
}
