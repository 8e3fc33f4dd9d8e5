//! The vendors, one module each.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod image;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod xai;

use crate::batches::{Batch, NewFile, Plan, Shelf};
use crate::call::Call;
use crate::json;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::rules::Place;
use crate::vendor::Vendor;
use http::Method;
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

/// What a request is to the vendor.
pub(crate) fn place_of(vendor: Vendor, method: &Method, path: &str) -> Place {
    match vendor {
        Vendor::Openai | Vendor::Xai => openai::place_of(method, path),
        Vendor::Anthropic => anthropic::batches::place_of(method, path),
        Vendor::Gemini => gemini::place_of(method, path),
        Vendor::Ollama | Vendor::Compatible => Place::Call,
    }
}

/// The vendor's answer to what has to do with batches and files.
pub(crate) fn answer_batch(vendor: Vendor, call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Reply {
    match vendor {
        Vendor::Openai => openai::answer_batch(call, shelf, plan),
        Vendor::Xai => xai::answer_batch(call, shelf, plan),
        Vendor::Anthropic => anthropic::answer_batch(call, shelf, plan),
        Vendor::Gemini => gemini::answer_batch(call, shelf, plan),
        Vendor::Ollama | Vendor::Compatible => answer(vendor, call),
    }
}

/// The files that the end of a batch leaves, with their ids.
pub(crate) fn files_of(batch: &mut Batch) -> Vec<(String, NewFile)> {
    match batch.vendor {
        Vendor::Openai => openai::results::files_of(batch),
        Vendor::Gemini => gemini::batches::files_of(batch),
        _ => Vec::new(),
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
