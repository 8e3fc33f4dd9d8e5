//! Real sentence encoders: on this machine, behind an OpenAI-compatible server.

use crate::{process::Process, tool};
use serde_json::Value;
use tokio::process::Command;

/// The server of an encoder. It ends with the test that started it.
#[derive(Debug)]
pub struct RealEncoder {
    process: Process,
}

impl RealEncoder {
    /// The only key it takes.
    pub const KEY: &str = "key-of-the-encoders";
    /// Reads sixteen languages.
    pub const MULTILINGUAL: &str = "use-multilingual";
    /// Reads English.
    pub const ENGLISH: &str = "minilm";

    /// Starts it with one of its models, and waits until it answers.
    pub async fn start(model: &str) -> Self {
        let mut command = Command::new(tool("embedder"));
        command.args(["--exit-with-stdin", "--api-key", Self::KEY, "--models", model]);
        Self { process: Process::start("embedder", command).await }
    }

    /// Base URL of the server.
    pub fn url(&self) -> &str {
        self.process.ready().get("url").and_then(Value::as_str).unwrap_or_default()
    }
}
