//! The file's section about vendors.

use super::{
    Environment, Secret,
    heartbeat::VendorHeartbeatConfig,
    input::read_text,
    values::{HumanDuration, OneOrMany, url_schema},
    words,
};
use schemars::JsonSchema;
use serde::Deserialize;
use signalbox_types::VendorKind;
use std::path::PathBuf;

/// A vendor: where it is, the key for it, and how much of it is used at once.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VendorConfig {
    /// The wire format it speaks.
    #[schemars(schema_with = "words::vendor_kind")]
    pub kind: VendorKind,
    /// Its address, or the environment variables that may hold it; the vendor's own where left out.
    pub base_url: Option<BaseUrl>,
    /// Where its key is. Keys themselves are never written in this file.
    pub api_key: Option<KeySource>,
    /// How long to wait for it.
    #[serde(default)]
    pub timeouts: TimeoutsConfig,
    /// Calls that run at once at most; overload of the vendor lowers it for a while, down to 2.
    #[serde(default = "default_concurrency")]
    #[schemars(range(min = 1, max = 100_000))]
    pub max_concurrency: usize,
    /// Calls that may wait for one of those to end; more are refused at once.
    #[serde(default = "default_queue")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_queue: usize,
    /// How much of it our account may use, over all processes that count rates in one Redis; else each for itself.
    #[serde(default)]
    pub rate_limit: VendorRateLimitConfig,
    /// What its models may be used for, in words of your own that tenants' `required_labels` ask for.
    #[serde(default)]
    #[schemars(inner(length(min = 1)))]
    pub labels: Vec<String>,
    /// How much its models are preferred: a power of two on their scores, 1 doubles them, -1 halves them.
    #[serde(default)]
    #[schemars(range(min = -3, max = 3))]
    pub priority: f64,
    /// Its heartbeats, where they differ.
    #[serde(default)]
    pub heartbeat: VendorHeartbeatConfig,
    /// Whether models that are not listed are taken, at no cost. Default: yes for `ollama` and `openai-compatible`.
    pub dynamic_models: Option<bool>,
    /// Whether it is simulated. Default: only where no vendor at all is configured.
    pub simulate: Option<bool>,
    /// The operator's file itself says where its key or address is, so that it is meant to be called.
    #[serde(skip)]
    pub meant: bool,
}

fn default_concurrency() -> usize {
    128
}

fn default_queue() -> usize {
    512
}

impl VendorConfig {
    /// Whether models that are not listed are taken.
    pub fn takes_unlisted_models(&self) -> bool {
        self.dynamic_models.unwrap_or(matches!(self.kind, VendorKind::Ollama | VendorKind::OpenaiCompatible))
    }
}

/// A vendor's address.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BaseUrl {
    /// Written here.
    Literal(#[schemars(schema_with = "url_schema")] String),
    /// In the environment.
    Environment(FromEnvironment),
}

/// A value in the environment.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FromEnvironment {
    /// The variable, or several of which the first that is set counts.
    pub env: OneOrMany<String>,
}

/// Where a key is. Give either `env` or `file`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-hint" = "keys are never written in this file, where they would end in version control and logs; \
    write {env: NAME} for an environment variable or {file: PATH} for a secret's file"))]
pub struct KeySource {
    /// The environment variable, or several of which the first that is set counts.
    pub env: Option<OneOrMany<String>>,
    /// The file that holds the key and nothing else.
    pub file: Option<PathBuf>,
}

impl KeySource {
    /// Where the key is that counts: the file, or the first variable that is set.
    pub(super) fn place(&self, env: &Environment) -> String {
        let names = self.env.as_ref().map(|names| names.as_slice()).unwrap_or_default();
        match &self.file {
            Some(path) => path.display().to_string(),
            None => env.first_named(names.iter().map(String::as_str)).map_or("", |(name, _)| name).to_owned(),
        }
    }

    /// The key, or what keeps it from being read. It is read once: what may change while running is not read here.
    pub(super) fn read(&self, env: &Environment) -> Result<Secret, String> {
        let key = match &self.file {
            Some(path) => read_text(path).map_err(|problem| format!("{} {problem}", path.display()))?,
            None => {
                let names = self.env.as_ref().map(|names| names.as_slice()).unwrap_or_default();
                let found = env.first(names.iter().map(String::as_str));
                found.ok_or_else(|| format!("the environment has no {}", names.join(" or ")))?.to_owned()
            }
        };
        Ok(Secret::new(key.trim()))
    }
}

/// How much of a vendor may be used. What is left out is not limited here; what the vendor itself says holds beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VendorRateLimitConfig {
    /// Calls a minute.
    #[schemars(range(min = 1))]
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute, prompt and answer together; the longest answer that a call may have counts until it is there.
    #[schemars(range(min = 1, max = 100_000_000_000_u64))]
    pub tokens_per_minute: Option<u64>,
    /// Calls under way at once.
    #[schemars(range(min = 1))]
    pub concurrent_requests: Option<u32>,
}

/// How long to wait for a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutsConfig {
    /// For a connection.
    pub connect: HumanDuration,
    /// From the request to the first byte of the answer. An answer that is not streamed comes when it is complete.
    pub first_byte: HumanDuration,
    /// Between two pieces of a stream.
    pub idle: HumanDuration,
    /// For the whole call.
    pub total: HumanDuration,
}

impl Default for TimeoutsConfig {
    fn default() -> Self {
        Self {
            connect: HumanDuration::secs(5),
            first_byte: HumanDuration::secs(120),
            idle: HumanDuration::secs(60),
            total: HumanDuration::secs(600),
        }
    }
}
