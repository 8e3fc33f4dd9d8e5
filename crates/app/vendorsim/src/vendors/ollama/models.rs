//! The models that are pulled.

use super::body;
use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use serde_json::{Value, json};

/// What a model can do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Abilities {
    pub(crate) chats: bool,
    pub(crate) tools: bool,
    pub(crate) thinks: bool,
    pub(crate) sees: bool,
    pub(crate) context: u64,
    pub(crate) dimensions: usize,
}

const fn chat(context: u64, tools: bool, thinks: bool, sees: bool) -> Abilities {
    Abilities { chats: true, tools, thinks, sees, context, dimensions: 4096 }
}

const fn embedding(context: u64, dimensions: usize) -> Abilities {
    Abilities { chats: false, tools: false, thinks: false, sees: false, context, dimensions }
}

/// Families by the start of their names; the first that fits counts.
const FAMILIES: [(&str, Abilities); 15] = [
    ("llama3.2-vision", chat(131_072, false, false, true)),
    ("llama3", chat(131_072, true, false, false)),
    ("llama4", chat(10_485_760, true, false, true)),
    ("qwen3", chat(40_960, true, true, false)),
    ("qwen2.5", chat(32_768, true, false, false)),
    ("gpt-oss", chat(131_072, true, true, false)),
    ("deepseek-r1", chat(131_072, false, true, false)),
    ("gemma3", chat(131_072, false, false, true)),
    ("gemma4", chat(262_144, true, true, true)),
    ("mistral", chat(32_768, true, false, false)),
    ("phi4", chat(16_384, false, false, false)),
    ("nomic-embed-text", embedding(2048, 768)),
    ("mxbai-embed-large", embedding(512, 1024)),
    ("embeddinggemma", embedding(2048, 768)),
    ("all-minilm", embedding(512, 384)),
];

/// Names that the list of models has.
const TAGS: [&str; 7] = [
    "llama3.1:8b",
    "llama3.2:3b",
    "llama3.2-vision:11b",
    "qwen3:8b",
    "gpt-oss:20b",
    "gemma3:4b",
    "nomic-embed-text:latest",
];

/// What a pulled model can do.
pub(crate) fn find(model: &str) -> Result<Abilities, Problem> {
    if model.is_empty() {
        return Err(Problem::invalid("model is required"));
    }
    let family = FAMILIES.iter().find(|(family, _)| model.to_lowercase().starts_with(family));
    family.map(|(_, abilities)| *abilities).ok_or_else(|| Problem::new(Kind::NoModel))
}

fn details(model: &str) -> Value {
    let family = model
        .split([':', '-'])
        .next()
        .unwrap_or(model)
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let size = model.split_once(':').map_or("8.0B", |(_, size)| size);
    json!({
        "parent_model": "", "format": "gguf", "family": family, "families": [family],
        "parameter_size": size.to_uppercase(), "quantization_level": "Q4_K_M",
    })
}

/// `GET /api/tags`.
pub(crate) fn tags() -> Value {
    let entry = |name: &str| {
        json!({
            "name": name, "model": name, "modified_at": "2026-11-01T10:00:00.123456789Z", "size": 4_920_753_328_u64,
            "digest": "46e0c10c039e", "details": details(name),
        })
    };
    json!({"models": TAGS.map(entry)})
}

/// `GET /api/ps`.
pub(crate) fn loaded() -> Value {
    json!({"models": [{
        "name": TAGS[0], "model": TAGS[0], "size": 6_654_289_920_u64, "digest": "46e0c10c039e", "details": details(TAGS[0]),
        "expires_at": "2026-11-29T08:05:00Z", "size_vram": 6_654_289_920_u64, "context_length": 8192,
    }]})
}

/// `POST /api/show`.
pub(crate) fn show(call: &Call<'_>) -> Result<Reply, Problem> {
    body(call)?;
    let abilities = find(&call.model)?;
    let mut capabilities = vec![if abilities.chats { "completion" } else { "embedding" }];
    let more = [(abilities.tools, "tools"), (abilities.sees, "vision"), (abilities.thinks, "thinking")];
    capabilities.extend(more.iter().filter(|(able, _)| *able).map(|(_, name)| *name));
    Ok(Reply::json(
        200,
        &json!({
            "details": details(&call.model),
            "model_info": {
                "general.architecture": "llama", "llama.context_length": abilities.context,
                "llama.embedding_length": abilities.dimensions,
            },
            "capabilities": capabilities,
        }),
    ))
}
