//! The file's sections about the cache: where answers are kept, and which may be given again.

mod check;

pub(super) use check::{check, check_secret};

use super::{
    Environment, KeySource, OneOrMany, Secret,
    budgets::RedisConfig,
    values::{Age, HumanDuration},
};
use schemars::JsonSchema;
use serde::Deserialize;
use signalbox_caching::{Semantic, judge::Judge, policy::Overrides};
use signalbox_types::ModelRef;
use std::collections::BTreeMap;

/// The embedder that needs no model.
const BUILT_IN: &str = "builtin";
/// What makes a secret long enough not to be guessed.
const SHORTEST_SECRET: usize = 32;

/// Answers that were given before and are given again. Read at start only, but for `defaults`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// Whether there is a cache. As it comes, only the very same request gets an answer again.
    pub enabled: bool,
    /// Where answers are kept.
    pub store: CacheStoreConfig,
    /// Where the secret is that answers are encrypted and found with, at least 32 characters, the same for every process
    /// with the role `cache`. Without one each makes its own up, and nothing it keeps can be read after its end.
    pub secret: KeySource,
    /// The longest that a request waits for an answer to the very same one; without one in time it goes on. 1ms to 10s.
    pub exact_timeout: HumanDuration,
    /// The same where requests are matched by meaning, which takes a call of the embedder.
    pub semantic_timeout: HumanDuration,
    /// Whether identical requests under way at the same time are asked of a model once.
    pub single_flight: bool,
    /// What turns texts into vectors where requests are matched by meaning: `builtin`, which needs no model, or a
    /// `vendor/model` that embeds.
    pub embedder: String,
    /// Length of the vectors, for a model that lets one choose; its own where left out.
    #[schemars(range(min = 32, max = 8192))]
    pub embedder_dimensions: Option<u32>,
    /// A `vendor/model` that is asked whether an answer to another wording was right, where comparing the two cannot
    /// tell. Without one it counts as wrong.
    pub verifier: Option<String>,
    /// What holds for every task type that does not say otherwise.
    pub defaults: CacheRulesConfig,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            store: CacheStoreConfig::default(),
            secret: KeySource {
                env: Some(OneOrMany::One(CacheConfig::SECRET_VARIABLE.to_owned())),
                file: None,
            },
            exact_timeout: HumanDuration::millis(5),
            semantic_timeout: HumanDuration::millis(25),
            single_flight: true,
            embedder: BUILT_IN.to_owned(),
            verifier: None,
            embedder_dimensions: None,
            defaults: CacheRulesConfig::default(),
        }
    }
}

/// Where answers are kept: in Redis where that is given, or where the section `redis` names one and there is a secret;
/// else in the memory of each process with the role `cache`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheStoreConfig {
    /// In the process's memory.
    pub memory: Option<CacheMemoryConfig>,
    /// In Redis, for any number of processes. Give it a server of its own: one that may forget (`maxmemory-policy
    /// volatile-lfu`) must hold no rates.
    pub redis: Option<RedisConfig>,
}

/// Answers in memory.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheMemoryConfig {
    /// The most bytes that they take. Beyond it those worth least go first.
    #[schemars(range(min = 1_048_576))]
    pub max_bytes: u64,
}

impl Default for CacheMemoryConfig {
    fn default() -> Self {
        Self { max_bytes: 256 << 20 }
    }
}

/// What may be given again. What is left out stays as the more general section says, or as it comes for the task type.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheRulesConfig {
    /// Whether answers are kept and given again at all.
    pub exact: Option<bool>,
    /// Whether also to requests that differ only in how they are typeset: spaces, and forms of quotes and dashes. Not
    /// where left out.
    pub normalized: Option<bool>,
    /// Whether also to requests that say the same in other words: not at all; `shadow`, looked for and judged and never
    /// given; or `on`, given where what was judged says that they are right.
    pub semantic: Option<SemanticConfig>,
    /// Least similarity of two wordings, 0.5 to 1, as the embedder sees it.
    pub floor: Option<f64>,
    /// The same for single embedders, by their id.
    pub floors: BTreeMap<String, f64>,
    /// How long an answer is kept.
    pub ttl: Option<Age>,
    /// Share of hits by meaning that must be right, 0.9 to 0.999.
    pub precision_target: Option<f64>,
    /// How two answers are compared.
    pub judge: Option<JudgeConfig>,
    /// Highest temperature of requests that may have a kept answer; who asks for more asks for variety.
    pub temperature_at_most: Option<f64>,
}

/// How requests are matched by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SemanticConfig {
    /// Not at all.
    Off,
    /// Looked for and judged, never given.
    Shadow,
    /// Given where the evidence allows.
    On,
}

/// How two answers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgeConfig {
    /// As texts.
    Text,
    /// As sets of tags.
    Tags,
    /// As JSON values.
    Json,
    /// As one label.
    Label,
}

/// What turns texts into vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbedderChoice {
    /// What is built in.
    BuiltIn,
    /// A model.
    Model(ModelRef),
}

impl CacheConfig {
    /// The variable of the environment that holds the secret where the file names no other.
    pub const SECRET_VARIABLE: &str = "SIGNALBOX_CACHE_SECRET";

    /// The secret, where there is one.
    ///
    /// # Errors
    /// It is too short, or its file cannot be read. It is not repeated.
    pub fn secret(&self, env: &Environment) -> Result<Option<Secret>, String> {
        let names = self.secret.env.as_ref().map(OneOrMany::as_slice).unwrap_or_default();
        if self.secret.file.is_none() && env.first(names.iter().map(String::as_str)).is_none() {
            return Ok(None);
        }
        let secret = self.secret.read(env)?;
        let length = secret.expose().chars().count();
        if length < SHORTEST_SECRET {
            return Err(format!(
                "{} has {length} characters; it needs at least {SHORTEST_SECRET} random ones, as `openssl rand -hex 32` \
                 gives them",
                names.join(" or ")
            ));
        }
        Ok(Some(secret))
    }

    /// What turns texts into vectors.
    pub fn embedder(&self) -> EmbedderChoice {
        match self.embedder.parse() {
            Ok(model) if self.embedder != BUILT_IN => EmbedderChoice::Model(model),
            _ => EmbedderChoice::BuiltIn,
        }
    }

    /// The model that verifies.
    pub fn verifier(&self) -> Option<ModelRef> {
        self.verifier.as_ref().and_then(|name| name.parse().ok())
    }
}

impl CacheRulesConfig {
    /// As the policy takes it.
    pub fn overrides(&self) -> Overrides {
        Overrides {
            exact: self.exact,
            normalized: self.normalized,
            semantic: self.semantic.map(Into::into),
            floor: self.floor.map(single),
            floors: self.floors.iter().map(|(id, floor)| (id.clone(), single(*floor))).collect(),
            ttl: self.ttl.map(|ttl| ttl.0),
            precision_target: self.precision_target,
            judge: self.judge.map(Into::into),
            temperature_at_most: self.temperature_at_most,
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a similarity, which has no more digits than that")]
fn single(floor: f64) -> f32 {
    floor as f32
}

impl From<SemanticConfig> for Semantic {
    fn from(config: SemanticConfig) -> Self {
        match config {
            SemanticConfig::Off => Self::Off,
            SemanticConfig::Shadow => Self::Shadow,
            SemanticConfig::On => Self::On,
        }
    }
}

impl From<JudgeConfig> for Judge {
    fn from(config: JudgeConfig) -> Self {
        match config {
            JudgeConfig::Text => Self::Text,
            JudgeConfig::Tags => Self::Tags,
            JudgeConfig::Json => Self::Json,
            JudgeConfig::Label => Self::Label,
        }
    }
}
