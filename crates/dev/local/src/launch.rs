//! The command of each process.

use crate::{Kind, Part, Stack, engines, roles};
use signalbox_testkit::workspace;
use std::path::PathBuf;

/// How a process is started.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Its whole environment: nothing of the caller's own reaches it.
    pub(crate) environment: Vec<(String, String)>,
    /// User and group, where they are not the caller's.
    pub(crate) user: Option<(u32, u32)>,
}

impl Launch {
    pub(crate) fn of(program: PathBuf) -> Self {
        Self { program, arguments: Vec::new(), environment: Vec::new(), user: None }
    }

    pub(crate) fn args<S: Into<String>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }
}

/// What is to be started, with the files that it reads written anew.
pub(crate) fn prepare(stack: &Stack, part: Part) -> Result<Launch, String> {
    match part.kind {
        Kind::Vendors => engines::vendors(stack, part),
        Kind::ClickHouse => engines::clickhouse::prepare(stack, part),
        Kind::Postgres => engines::postgres::prepare(stack, part),
        Kind::Redis => engines::redis::prepare(stack, part),
        Kind::Nats => engines::nats::prepare(stack, part),
        _ => roles::prepare(stack, part),
    }
}

/// A program that `tools/install.sh` brings.
pub(crate) fn tool(name: &str) -> Result<PathBuf, String> {
    let program = workspace().join(".tools/bin").join(name);
    if program.exists() {
        return Ok(program);
    }
    Err(format!("{} is missing: tools/install.sh brings it (`make up` does)", program.display()))
}

/// A program of this workspace.
pub(crate) fn built(stack: &Stack, name: &str) -> Result<PathBuf, String> {
    let program = stack.program(name);
    if program.is_file() {
        return Ok(program);
    }
    Err(format!("{} is missing: build it (`make up` does)", program.display()))
}
