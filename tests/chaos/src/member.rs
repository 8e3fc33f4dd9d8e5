//! A process of this program that can be killed and started again.

use crate::{ledger::Ledger, publish::Publishing, told::Told};
use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::process::{Child, Command};

/// A process.
#[derive(Debug)]
pub(crate) struct Member {
    program: PathBuf,
    arguments: Vec<String>,
    dir: PathBuf,
    child: Option<Child>,
    told: Told,
}

impl Member {
    /// One that publishes.
    pub(crate) fn publisher(
        program: &Path,
        dir: PathBuf,
        ledger: &Ledger,
        rate: u64,
        nats: &[String],
    ) -> Self {
        let role = if nats.is_empty() { "embed" } else { "publish" };
        let mut arguments = vec![role.to_owned(), "--dir".to_owned(), dir.display().to_string()];
        for (name, value) in [
            ("--seed", ledger.seed.to_string()),
            ("--publisher", ledger.publisher.to_string()),
            ("--events", ledger.events.to_string()),
            ("--until", ledger.until.to_string()),
            ("--rate", rate.to_string()),
        ] {
            arguments.extend([name.to_owned(), value]);
        }
        if !nats.is_empty() {
            arguments.extend(["--nats".to_owned(), nats.join(",")]);
        }
        Self { program: program.to_owned(), arguments, dir, child: None, told: Told::default() }
    }

    pub(crate) fn start(&mut self) -> Result<(), String> {
        let problem = |error: std::io::Error| format!("cannot start {}: {error}", self.program.display());
        std::fs::create_dir_all(&self.dir).map_err(problem)?;
        let log = File::options().create(true).append(true).open(self.dir.join("log")).map_err(problem)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true);
        self.child = Some(command.spawn().map_err(problem)?);
        Ok(())
    }

    /// Ends it at once (SIGKILL) and waits until it has ended.
    pub(crate) async fn kill(&mut self) -> Result<(), String> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        child.kill().await.map_err(|error| format!("cannot kill: {error}"))
    }

    /// How far it is, or was when it was killed.
    pub(crate) fn told(&mut self) -> Told {
        self.told = Told::read(&Publishing::told(&self.dir)).unwrap_or(self.told);
        self.told
    }

    /// What it said when it ended by itself, which it never should.
    pub(crate) fn failed(&mut self) -> Option<String> {
        let status = self.child.as_mut()?.try_wait().ok()??;
        let log = std::fs::read_to_string(self.dir.join("log")).unwrap_or_default();
        Some(format!("{} ended by itself ({status}): {log}", self.arguments.join(" ")))
    }
}
