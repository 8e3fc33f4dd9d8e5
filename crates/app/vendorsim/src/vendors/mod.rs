//! The vendors, one module each.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod image;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod xai;

use crate::call::Call;
use crate::json;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::vendor::Vendor;
use serde_json::Value;

/// The model a request names, with its fault suffix if it has one; empty where it names none.
pub(crate) fn model_of(vendor: Vendor, path: &str, body: Option<&Value>) -> String {
    match vendor {
        Vendor::Gemini => gemini::model_in_path(path),
        _ => body.and_then(|body| json::text(body, "model")).unwrap_or_default().to_owned(),
    }
}

/// The vendor's answer.
pub(crate) fn answer(vendor: Vendor, call: &Call<'_>) -> Reply {
    match vendor {
        Vendor::Openai => openai::answer(call),
        Vendor::Compatible => openai::answer_compatible(call),
        Vendor::Anthropic => anthropic::answer(call),
        Vendor::Gemini => gemini::answer(call),
        Vendor::Xai => xai::answer(call),
        Vendor::Ollama => ollama::answer(call),
    }
}

/// The vendor's refusal.
pub(crate) fn refuse(vendor: Vendor, call: &Call<'_>, problem: &Problem) -> Reply {
    match vendor {
        Vendor::Openai | Vendor::Compatible => openai::refuse(call, problem),
        Vendor::Anthropic => anthropic::refuse(call, problem),
        Vendor::Gemini => gemini::refuse(call, problem),
        Vendor::Xai => xai::refuse(call, problem),
        Vendor::Ollama => ollama::refuse(call, problem),
    }
}
