//! Token counts in the shape of OpenAI and of xAI.

use super::{Dialect, models};
use crate::answer::Usage;
use serde_json::{Value, json};

/// Counts of a chat completion. OpenAI folds reasoning into the completion; xAI counts it beside.
pub(crate) fn chat(usage: Usage, model: &str, dialect: Dialect) -> Value {
    let Usage { prompt, cached, visible, reasoning, .. } = usage;
    let completion = if dialect == Dialect::Xai { visible } else { visible + reasoning };
    let mut counts = json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + visible + reasoning,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoning, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    });
    if dialect == Dialect::Xai {
        counts["prompt_tokens_details"]["text_tokens"] = prompt.into();
        counts["prompt_tokens_details"]["image_tokens"] = 0.into();
        counts["num_sources_used"] = 0.into();
    }
    if dialect == Dialect::Openai && models::find(model).is_ok_and(|traits| traits.writes_cache) {
        counts["prompt_tokens_details"]["cache_write_tokens"] = usage.written.into();
    }
    counts
}

/// Counts of the responses API.
pub(crate) fn responses(usage: Usage, model: &str, dialect: Dialect) -> Value {
    let written = match dialect {
        Dialect::Openai if models::find(model).is_ok_and(|traits| traits.writes_cache) => usage.written,
        _ => 0,
    };
    let output = usage.visible + usage.reasoning;
    json!({
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": written},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt + output,
    })
}
