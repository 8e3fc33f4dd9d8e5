//! A real NATS server.

use crate::{eventually_some, tool};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    process::Stdio,
};
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// A server with JetStream, on a port and in a folder of its own. Killed when dropped.
#[derive(Debug)]
pub struct NatsServer {
    folder: TempDir,
    arguments: Vec<String>,
    port: u16,
    child: Child,
}

impl NatsServer {
    /// Starts a server that lets everyone in.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// Starts a server with arguments of its own, and waits until it listens.
    pub async fn with(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let child = spawn(folder.path(), &arguments, "-1");
        let port = port(folder.path(), &child).await;
        Self { folder, arguments, port, child }
    }

    /// Where clients connect.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Where it keeps its streams.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Ends it at once (SIGKILL). What it has stored stays.
    pub async fn kill(&mut self) {
        self.child.kill().await.unwrap_or_else(|error| panic!("cannot kill nats-server: {error}"));
    }

    /// Ends it as an operator does (SIGTERM): it writes down what it knows.
    pub async fn terminate(&mut self) {
        let pid = self.child.id().and_then(|pid| i32::try_from(pid).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        self.child.wait().await.unwrap_or_else(|error| panic!("nats-server does not end: {error}"));
    }

    /// Starts it again, on the same port and with what it had stored.
    pub async fn restart(&mut self) {
        self.child = spawn(self.folder.path(), &self.arguments, &self.port.to_string());
        self.port = port(self.folder.path(), &self.child).await;
    }
}

fn spawn(folder: &Path, arguments: &[String], port: &str) -> Child {
    let mut command = Command::new(tool("nats-server"));
    command.args(["--addr", "127.0.0.1", "--port", port, "--jetstream"]);
    command.arg("--store_dir").arg(folder.join("store"));
    command.arg("--ports_file_dir").arg(folder).arg("--log").arg(folder.join("log")).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command.spawn().unwrap_or_else(|error| panic!("cannot start nats-server: {error}"))
}

/// The port that it took, which it writes to a file once it listens.
async fn port(folder: &Path, child: &Child) -> u16 {
    let file = folder.join(format!("nats-server_{}.ports", child.id().unwrap_or_default()));
    eventually_some("nats-server listens", || async {
        let ports: Value = serde_json::from_slice(&std::fs::read(&file).ok()?).ok()?;
        ports.pointer("/nats/0")?.as_str()?.rsplit_once(':')?.1.parse().ok()
    })
    .await
}
