//! Anthropic's models, as far as its rules tell them apart.

use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use serde_json::{Value, json};

/// Lines that are served, by the start of their ids. `claude-sonnet-4-20250514` was retired by the vendor in June
/// 2026 and lives on here alone, for catalogues that still name it.
const SERVED: [&str; 5] =
    ["claude-opus-", "claude-sonnet-", "claude-haiku-", "claude-fable-", "claude-mythos-"];
const RETIRED: [&str; 2] = ["claude-opus-4-20250514", "claude-opus-4-1"];
const LISTED: [(&str, &str); 6] = [
    ("claude-opus-5-5", "Claude Opus 5.5"),
    ("claude-sonnet-5-5", "Claude Sonnet 5.5"),
    ("claude-haiku-5-5", "Claude Haiku 5.5"),
    ("claude-fable-5-2", "Claude Fable 5.2"),
    ("claude-sonnet-4-6", "Claude Sonnet 4.6"),
    ("claude-haiku-4-5-20251001", "Claude Haiku 4.5"),
];

/// What a model allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits {
    /// 46 for 4.6.
    pub(crate) generation: u32,
    pub(crate) context: u64,
    pub(crate) max_tokens: u64,
    /// Lets the caller force a tool.
    pub(crate) forced_tools: bool,
}

impl Traits {
    /// Takes `temperature` and its like on the old version.
    pub(crate) fn samples(self) -> bool {
        self.generation <= 46
    }

    /// Goes on from a last message of the assistant.
    pub(crate) fn prefills(self) -> bool {
        self.generation <= 45
    }

    /// Knows `output_config.format`.
    pub(crate) fn formats(self) -> bool {
        self.generation >= 45
    }
}

/// The traits of a model that is served.
pub(crate) fn find(model: &str) -> Result<Traits, Problem> {
    let line = SERVED.iter().find_map(|line| model.strip_prefix(line));
    let Some(rest) = line.filter(|_| !RETIRED.iter().any(|retired| model.starts_with(retired))) else {
        return Err(Problem::new(Kind::NoModel));
    };
    let generation = generation(rest);
    let unforced = ["claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1", "claude-fable-5-2"];
    Ok(Traits {
        generation,
        context: if generation >= 46 { 1_000_000 } else { 200_000 },
        max_tokens: if generation >= 46 { 128_000 } else { 64_000 },
        forced_tools: !unforced.iter().any(|name| model.starts_with(name)),
    })
}

/// 55 for `5-5`, 45 for `4-5-20250929`, 50 for `5`, 40 for `4-20250514`.
fn generation(rest: &str) -> u32 {
    let mut parts = rest.split('-').map(|part| part.parse::<u32>().ok().filter(|number| *number < 10));
    let major = parts.next().flatten().unwrap_or(0);
    let minor = parts.next().flatten().unwrap_or(0);
    major * 10 + minor
}

fn entry(id: &str, name: &str) -> Value {
    let traits = find(id).ok();
    json!({
        "type": "model", "id": id, "display_name": name, "created_at": "2026-09-01T00:00:00Z", "lifecycle": "active",
        "line": id.split('-').nth(1), "max_input_tokens": traits.map(|traits| traits.context),
        "max_tokens": traits.map(|traits| traits.max_tokens), "deprecated_at": null, "retires_at": null,
    })
}

/// `GET /v1/models`.
pub(crate) fn list(call: &Call<'_>) -> Value {
    let after = call.parameter("after_id").and_then(|after| LISTED.iter().position(|(id, _)| *id == after));
    let from = after.map_or(0, |at| at + 1);
    let limit = call.parameter("limit").and_then(|limit| limit.parse().ok()).unwrap_or(20);
    let page: Vec<_> = LISTED.iter().skip(from).take(limit).collect();
    json!({
        "data": page.iter().map(|(id, name)| entry(id, name)).collect::<Vec<_>>(),
        "has_more": from + page.len() < LISTED.len(),
        "first_id": page.first().map(|(id, _)| id),
        "last_id": page.last().map(|(id, _)| id),
    })
}

/// `GET /v1/models/{id}`.
pub(crate) fn one(id: &str) -> Result<Reply, Problem> {
    find(id)
        .map(|_| Reply::json(200, &entry(id, id)))
        .map_err(|problem| problem.saying(format!("model: {id}")))
}
