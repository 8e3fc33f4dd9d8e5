//! A process of a system that is up, known by its number.

use crate::built;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    io::{Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    process::Command,
    time::{Instant, sleep},
};

/// How long it may take to end once told to.
const ENDED_WITHIN: Duration = Duration::from_secs(40);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The process.
#[derive(Debug)]
pub(crate) struct UpProcess {
    folder: PathBuf,
    name: String,
    number: PathBuf,
    log: PathBuf,
    /// What it has said before was said to others.
    log_from: u64,
    pid: Option<Pid>,
}

impl UpProcess {
    /// Of a name, whose log is its own from there on.
    pub(super) fn new(folder: &Path, name: &str, part: &Value, log_from: u64) -> Self {
        let path = |key: &str| PathBuf::from(part[key].as_str().unwrap_or_default());
        let (number, log) = (path("pid"), path("log"));
        let pid = pid(&number);
        Self { folder: folder.to_owned(), name: name.to_owned(), number, log, log_from, pid }
    }

    /// What it has logged since it was started for this test.
    pub(crate) fn log(&self) -> String {
        let mut text = Vec::new();
        let read = fs::File::open(&self.log).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.log_from))?;
            file.read_to_end(&mut text)
        });
        read.unwrap_or_else(|error| panic!("{}: {error}", self.log.display()));
        String::from_utf8_lossy(&text).into_owned()
    }

    pub(crate) fn send(&self, signal: Signal) {
        // One that has ended already is as good.
        let _ended = self.pid.map(|pid| kill_process(pid, signal));
    }

    /// Waits until it has ended. How, only its parent is told, and that is long gone.
    pub(crate) async fn ended(&self) {
        let end = Instant::now() + ENDED_WITHIN;
        while self.lives() {
            assert!(Instant::now() < end, "{} did not end", self.name);
            sleep(LOOK_EVERY).await;
        }
    }

    fn lives(&self) -> bool {
        let stat = self.pid.map(|pid| format!("/proc/{}/stat", pid.as_raw_nonzero()));
        let stat = stat.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
    }

    /// Starts it again, as `make up` does what does not run.
    pub(crate) async fn restart(&mut self) {
        let output = Command::new(built("local")).arg("--folder").arg(&self.folder).arg("up").output().await;
        let output = output.unwrap_or_else(|error| panic!("local: {error}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.pid = pid(&self.number);
    }
}

impl Drop for UpProcess {
    #[expect(clippy::print_stderr, reason = "the log of a failed test is shown beside its panic")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("== log of {}\n{}", self.name, self.log());
        }
    }
}

fn pid(file: &Path) -> Option<Pid> {
    Pid::from_raw(fs::read_to_string(file).ok()?.trim().parse().ok()?)
}
