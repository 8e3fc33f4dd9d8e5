//! A real language model: small, on this machine, behind an OpenAI-compatible server.

use crate::{process::Process, tool};
use serde_json::Value;
use tokio::process::Command;

/// The model's server. It ends with the test that started it.
#[derive(Debug)]
pub struct RealModel {
    process: Process,
}

impl RealModel {
    /// The only key it takes.
    pub const KEY: &str = "sk-good";

    /// Starts it and waits until it answers.
    pub async fn start() -> Self {
        let mut command = Command::new(tool("realllm"));
        command.args(["--exit-with-stdin", "--api-key", Self::KEY]);
        Self { process: Process::start("realllm", command).await }
    }

    /// Base URL of the server.
    pub fn url(&self) -> &str {
        self.said("url")
    }

    /// Name of the model.
    pub fn model(&self) -> &str {
        self.said("model")
    }

    fn said(&self, key: &str) -> &str {
        self.process.ready().get(key).and_then(Value::as_str).unwrap_or_default()
    }
}
