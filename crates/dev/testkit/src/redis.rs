//! A real Redis server.

use crate::{eventually_some, tool};
use rustix::process::{Pid, Signal, kill_process};
use std::{net::TcpListener, path::PathBuf, process::Stdio};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::{Child, Command},
};

/// A server that keeps nothing, on a port and in a folder of its own. Killed when dropped.
#[derive(Debug)]
pub struct RedisServer {
    folder: TempDir,
    arguments: Vec<String>,
    port: u16,
    child: Child,
}

impl RedisServer {
    /// Starts a server that lets everyone in.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts a server that can search: `tools/install.sh redis-search` brings what it needs.
    pub async fn searching() -> Self {
        let module = module("redisearch.so");
        Self::with(&["--loadmodule", &module.to_string_lossy()]).await
    }

    /// Starts a server with arguments of its own, and waits until it answers.
    pub async fn with(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let mut why = String::new();
        // Redis cannot choose a port itself, and another program may be quicker to take the one chosen here.
        for _ in 0..3 {
            let port = free_port();
            match spawn(&folder, &arguments, port).await {
                Ok(child) => return Self { folder, arguments, port, child },
                Err(ended) => why = ended,
            }
        }
        panic!("{why}");
    }

    /// Where clients connect.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Sends it a command in one line of plain words, and reads the first line of the answer.
    pub async fn say(&self, command: &str) -> String {
        let ask = async {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
            stream.write_all(format!("{command}\r\n").as_bytes()).await?;
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).await?;
            std::io::Result::Ok(line.trim_end().to_owned())
        };
        ask.await.unwrap_or_else(|error| panic!("redis-server did not answer `{command}`: {error}"))
    }

    /// Ends it at once (SIGKILL). Nothing of what it had is kept.
    pub async fn kill(&mut self) {
        self.child.kill().await.unwrap_or_else(|error| panic!("cannot kill redis-server: {error}"));
    }

    /// Lets it stand still (SIGSTOP): its connections stay open and nothing answers.
    pub fn freeze(&self) {
        self.send(Signal::STOP);
    }

    /// Lets it go on (SIGCONT).
    pub fn thaw(&self) {
        self.send(Signal::CONT);
    }

    fn send(&self, signal: Signal) {
        if let Some(pid) = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            // One that has ended already is as good.
            let _ended = kill_process(pid, signal);
        }
    }

    /// Starts it again, on the same port.
    pub async fn restart(&mut self) {
        let started = spawn(&self.folder, &self.arguments, self.port).await;
        self.child = started.unwrap_or_else(|why| panic!("{why}"));
    }
}

/// A port that nobody has now.
fn free_port() -> u16 {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address.unwrap_or_else(|error| panic!("no free port: {error}")).port()
}

/// The server, or why it ended.
async fn spawn(folder: &TempDir, arguments: &[String], port: u16) -> Result<Child, String> {
    let log = folder.path().join("log");
    let mut command = Command::new(tool("redis-server"));
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"]);
    command.arg("--dir").arg(folder.path()).arg("--logfile").arg(&log).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start redis-server: {error}"));
    let ended = eventually_some("redis-server answers", || {
        let ended = child.try_wait().ok().flatten();
        async move {
            if let Some(status) = ended {
                return Some(Err(status));
            }
            answers(port).await.then_some(Ok(()))
        }
    })
    .await;
    // Who answered may have been another on the same port.
    let ended = ended.err().or_else(|| child.try_wait().ok().flatten());
    ended.map_or(Ok(child), |status| {
        let log = std::fs::read_to_string(log).unwrap_or_default();
        Err(format!("redis-server ended: {status}\n{log}"))
    })
}

/// Whether it answers anything at all, be it that it wants a password first.
async fn answers(port: u16) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(b"PING\r\n").await?;
        stream.read_u8().await
    };
    matches!(ask.await, Ok(b'+' | b'-'))
}

/// A module beside the server.
fn module(name: &str) -> PathBuf {
    let module = tool("redis-server").with_file_name(name);
    assert!(module.is_file(), "{} is missing: run `tools/install.sh redis-search`", module.display());
    module
}
