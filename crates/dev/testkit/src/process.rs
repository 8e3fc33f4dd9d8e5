//! A program as a process of its own.

use rustix::process::Signal;
use serde_json::Value;
use std::{
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

/// How long a program may take to say that it is ready.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// How long it may take to end once told to.
const ENDED_WITHIN: Duration = Duration::from_secs(40);

/// What a process has written to standard error. Clones share it.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Log {
    fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps what is written until its end.
    async fn keep(self, source: impl AsyncRead + Unpin) {
        let mut lines = BufReader::new(source).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let mut text = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(&line);
            text.push('\n');
        }
    }
}

/// A running program that says on standard output, in one line of JSON, when it is ready. Killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    log: Log,
    ready: Value,
}

impl Process {
    /// Starts a program and waits until it is ready.
    pub(crate) async fn start(name: impl Into<String>, mut command: Command) -> Self {
        let name = name.into();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        let log = Log::default();
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(log.clone().keep(errors));
        }
        let mut process = Self { name, child, log, ready: Value::Null };
        let Some(output) = process.child.stdout.take() else { panic!("no standard output") };
        let mut lines = BufReader::new(output).lines();
        process.ready = process.await_ready(&mut lines).await;
        // Nothing more is expected there, but a full pipe would stop the program.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        process
    }

    async fn await_ready(&mut self, lines: &mut Lines<BufReader<ChildStdout>>) -> Value {
        let name = &self.name;
        let line = match timeout(READY_WITHIN, lines.next_line()).await {
            Ok(Ok(Some(line))) => line,
            Ok(_) => {
                let status = self.child.wait().await;
                panic!("{name} ended before it was ready: {status:?}")
            }
            Err(_) => panic!("{name} was not ready within {} s", READY_WITHIN.as_secs()),
        };
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{name} said `{line}`: {error}"))
    }

    /// What it said when it was ready.
    pub(crate) fn ready(&self) -> &Value {
        &self.ready
    }

    /// Its number, while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// What it has written to standard error.
    pub(crate) fn log(&self) -> String {
        self.log.text()
    }

    /// Lets it stand still (SIGSTOP): its connections stay open and nothing answers.
    pub(crate) fn freeze(&self) {
        self.send(Signal::STOP);
    }

    /// Lets it go on (SIGCONT).
    pub(crate) fn thaw(&self) {
        self.send(Signal::CONT);
    }

    /// Sends it a signal.
    pub(crate) fn send(&self, signal: Signal) {
        let pid = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        if let Some(pid) = pid {
            // One that has ended already is as good.
            let _ended = rustix::process::kill_process(pid, signal);
        }
    }

    /// Ends it at once (SIGKILL).
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap_or_else(|error| panic!("cannot kill {}: {error}", self.name));
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        match timeout(ENDED_WITHIN, self.child.wait()).await {
            Ok(Ok(status)) => status,
            other => panic!("{} did not end: {other:?}", self.name),
        }
    }
}

impl Drop for Process {
    #[expect(clippy::print_stderr, reason = "the log of a failed test is shown beside its panic")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("== log of {}\n{}", self.name, self.log.text());
        }
    }
}
