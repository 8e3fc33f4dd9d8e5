//! OpenAI's models, as far as its rules tell them apart.

use crate::answer::effort;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use serde_json::{Value, json};

/// Families that are served, by the start of their ids.
const SERVED: [&str; 11] = [
    "gpt-4o",
    "gpt-4.1",
    "gpt-5",
    "gpt-6",
    "o3",
    "chatgpt-",
    "ft:",
    "text-embedding-",
    "gpt-4.5",
    "codex-",
    "computer-use",
];
/// Models that were shut down before November 2026.
const RETIRED: [&str; 1] = ["gpt-4.1-nano"];
/// Ids that the list of models names.
const LISTED: [&str; 16] = [
    "gpt-4o",
    "gpt-4o-mini",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5.2",
    "gpt-5.4",
    "gpt-5.6-sol",
    "gpt-6-astra",
    "gpt-6-sol",
    "gpt-6-luna",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "text-embedding-3-small",
    "text-embedding-3-large",
];

/// What a model allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits {
    pub(crate) context: u64,
    /// Reasons at all: then `max_tokens` is refused.
    pub(crate) reasons: bool,
    /// The effort that applies when none is sent.
    pub(crate) default_effort: &'static str,
    /// Takes sampling parameters while the effort is `none`.
    pub(crate) samples_without_effort: bool,
    pub(crate) stops: bool,
    /// Refuses function tools on chat completions unless the effort is `none`.
    pub(crate) tools_need_responses: bool,
    /// Served by the responses API alone.
    pub(crate) responses_only: bool,
    /// Bills cache writes.
    pub(crate) writes_cache: bool,
}

/// The traits of a model that is served.
pub(crate) fn find(model: &str) -> Result<Traits, Problem> {
    let served = SERVED.iter().any(|family| model.starts_with(family)) && !RETIRED.contains(&model);
    if !served {
        return Err(Problem::new(Kind::NoModel));
    }
    let generation = generation(model);
    let reasons = generation >= 50 || model.starts_with("o3");
    let none_by_default = matches!(generation, 51..=54) && !model.contains("pro") && !model.contains("codex");
    Ok(Traits {
        context: context(model, generation),
        reasons,
        default_effort: if none_by_default { "none" } else { "medium" },
        samples_without_effort: generation >= 51,
        stops: !reasons,
        tools_need_responses: generation >= 54,
        responses_only: ["-pro", "codex", "deep-research"].iter().any(|part| model.contains(part)),
        writes_cache: generation >= 56,
    })
}

/// 54 for `gpt-5.4-mini`, 60 for `gpt-6-sol`, 40 for `gpt-4o`; 0 where the id does not say.
fn generation(model: &str) -> u32 {
    let Some(rest) = model.strip_prefix("gpt-") else { return 0 };
    let mut digits = rest.chars();
    let major = digits.next().and_then(|c| c.to_digit(10)).unwrap_or(0);
    let minor = match digits.next() {
        Some('.') => digits.next().and_then(|c| c.to_digit(10)).unwrap_or(0),
        _ => 0,
    };
    major * 10 + minor
}

fn context(model: &str, generation: u32) -> u64 {
    match generation {
        41 => 1_047_576,
        54 if model.contains("mini") || model.contains("nano") => 400_000,
        54.. => 1_050_000,
        50..54 => 400_000,
        _ if model.starts_with("o3") => 200_000,
        _ => 128_000,
    }
}

/// Whether a model takes an effort of this name.
pub(crate) fn takes_effort(model: &str, name: &str) -> bool {
    let generation = generation(model);
    match name {
        "low" | "medium" | "high" => true,
        "minimal" => generation == 50,
        "none" => {
            generation >= 51 && !model.contains("-pro") && model != "gpt-6-astra" && model != "gpt-6.1-sol"
        }
        "xhigh" => generation >= 52,
        "max" => generation >= 60,
        other => effort(other).is_some(),
    }
}

/// Dimensions of an embedding model.
pub(crate) fn embedding_dimensions(model: &str) -> Option<usize> {
    match model {
        "text-embedding-3-small" | "text-embedding-ada-002" => Some(1536),
        "text-embedding-3-large" => Some(3072),
        _ => None,
    }
}

fn entry(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 1_790_000_000, "owned_by": "system", "shutdown_date": null})
}

/// `GET /v1/models`.
pub(crate) fn list() -> Value {
    json!({"object": "list", "data": LISTED.iter().copied().map(entry).collect::<Vec<_>>()})
}

/// `GET /v1/models` of a compatible server.
pub(crate) fn list_compatible() -> Value {
    json!({"object": "list", "data": [{"id": "simulated", "object": "model", "created": 0, "owned_by": "simulator"}]})
}

/// `GET /v1/models/{id}`.
pub(crate) fn one(id: &str) -> Result<Reply, Problem> {
    find(id)
        .map(|_| Reply::json(200, &entry(id)))
        .map_err(|problem| problem.saying(format!("The model '{id}' does not exist")))
}
