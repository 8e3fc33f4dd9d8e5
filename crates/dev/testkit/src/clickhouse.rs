//! ClickHouse's engine behind an HTTP front: the real SQL engine, not a ClickHouse server (`tools/clickhouse/serve.py`).

use crate::{process::Process, tool};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;
use tokio::process::Command;

/// The engine, on a port and in a folder of its own. Killed when dropped.
#[derive(Debug)]
pub struct ClickHouseEngine {
    folder: TempDir,
    process: Process,
}

impl ClickHouseEngine {
    /// The only user.
    pub const USER: &str = "signalbox";
    /// Its password.
    pub const PASSWORD: &str = "clickhouse-password";

    /// Starts it and waits until it answers.
    pub async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary folder: {error}"));
        let process = spawn(folder.path(), "0").await;
        Self { folder, process }
    }

    /// Where it answers.
    pub fn url(&self) -> String {
        self.process.ready().get("url").and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    /// Its process.
    pub fn pid(&self) -> Option<u32> {
        self.process.pid()
    }

    /// Ends it at once (SIGKILL). What it has stored stays.
    pub async fn kill(&mut self) {
        self.process.kill().await;
    }

    /// Lets it stand still (SIGSTOP): its connections stay open and nothing answers.
    pub fn freeze(&self) {
        self.process.freeze();
    }

    /// Lets it go on (SIGCONT).
    pub fn thaw(&self) {
        self.process.thaw();
    }

    /// Starts it again, on the same port and with what it had stored.
    pub async fn restart(&mut self) {
        let url = self.url();
        let port = url.rsplit_once(':').map_or("0", |(_, port)| port);
        self.process = spawn(self.folder.path(), port).await;
    }
}

async fn spawn(folder: &Path, port: &str) -> Process {
    let mut command = Command::new(tool("clickhouse-engine"));
    command.args(["--exit-with-stdin", "--port", port]).arg("--data").arg(folder.join("data"));
    command.args(["--user", ClickHouseEngine::USER, "--password", ClickHouseEngine::PASSWORD]);
    Process::start("clickhouse-engine", command).await
}
