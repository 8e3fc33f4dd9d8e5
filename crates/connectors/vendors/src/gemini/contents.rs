//! The conversation as Gemini's contents and parts.

use super::{NAME, SIGNATURE_PREFIX};
use crate::json::{self, Base64};
use crate::turns::{self, ToolNames};
use serde::Serialize;
use serde_json::value::RawValue;
use signalbox_types::{
    Failure, Image, ImageSource, Message, Part as Said, Reasoning, Role, ToolCall, ToolResult,
};

/// Stands in for the signature of a call that another vendor's model made. Models from generation 3 on refuse a
/// call without one; this value is documented for histories from elsewhere
/// (`ai.google.dev/gemini-api/docs/thought-signatures`).
const FOREIGN_CALL: &str = "skip_thought_signature_validator";

/// One turn.
#[derive(Debug, Serialize)]
pub(super) struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Part<'a>>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<InlineData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_data: Option<FileData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct InlineData<'a> {
    mime_type: &'a str,
    data: Base64<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FileData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
    file_uri: &'a str,
}

#[derive(Debug, Serialize)]
struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    name: &'a str,
    args: &'a RawValue,
}

#[derive(Debug, Serialize)]
struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    name: &'a str,
    response: Outcome<'a>,
}

/// A response must be an object.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome<'a> {
    Output(Value<'a>),
    Error(Value<'a>),
}

/// A tool's result: as JSON where it is JSON that is not a mere string or number, else as text.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Value<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

/// The system text.
pub(super) fn system(text: &str) -> Content<'_> {
    Content { role: None, parts: vec![Part { text: Some(text), ..Part::default() }] }
}

/// The conversation's turns. `signed_calls`: the model refuses calls without a signature.
pub(super) fn conversation(messages: &[Message], signed_calls: bool) -> Result<Vec<Content<'_>>, Failure> {
    let mut contents = Vec::with_capacity(messages.len());
    let names = ToolNames::needed(messages);
    for turn in turns::turns(messages) {
        let mut parts = Vec::with_capacity(turn.parts.len());
        for said in turn.parts {
            push(said, &names, &mut parts)?;
        }
        if signed_calls {
            sign_foreign_call(&mut parts);
        }
        if !parts.is_empty() {
            let role = match turn.role {
                Role::User => "user",
                Role::Assistant => "model",
            };
            contents.push(Content { role: Some(role), parts });
        }
    }
    Ok(contents)
}

fn push<'a>(said: &'a Said, names: &ToolNames<'a>, parts: &mut Vec<Part<'a>>) -> Result<(), Failure> {
    let part = match said {
        Said::Text { text, .. } if text.is_empty() => return Ok(()),
        Said::Text { text, .. } => Part { text: Some(text), ..Part::default() },
        Said::Image(image) => self::image(image),
        Said::ToolCall(call) => self::call(call)?,
        Said::ToolResult(result) => self::result(result, names.of(result)),
        Said::Reasoning(reasoning) => {
            push_reasoning(reasoning, parts);
            return Ok(());
        }
    };
    parts.push(part);
    Ok(())
}

/// A signature without text belongs to the text before it. Summaries of thoughts do not go back.
fn push_reasoning<'a>(reasoning: &'a Reasoning, parts: &mut Vec<Part<'a>>) {
    let Some(signature) = reasoning.signature.as_deref().filter(|_| reasoning.vendor == NAME) else {
        return;
    };
    let thought = !reasoning.text.is_empty();
    match parts.last_mut().filter(|last| !thought && last.text.is_some() && last.thought_signature.is_none())
    {
        Some(text) => text.thought_signature = Some(signature),
        None => parts.push(Part {
            text: Some(&reasoning.text),
            thought,
            thought_signature: Some(signature),
            ..Part::default()
        }),
    }
}

fn image(image: &Image) -> Part<'_> {
    match &image.source {
        ImageSource::Inline { media_type, data } => Part {
            inline_data: Some(InlineData { mime_type: media_type, data: Base64(data) }),
            ..Part::default()
        },
        ImageSource::Url(url) => {
            Part { file_data: Some(FileData { mime_type: mime_type(url), file_uri: url }), ..Part::default() }
        }
    }
}

/// The type that an address's ending promises.
fn mime_type(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => return None,
    })
}

fn call(call: &ToolCall) -> Result<Part<'_>, Failure> {
    let args = json::object_arguments(call)?;
    let signature = call.signature.as_deref().and_then(|signature| signature.strip_prefix(SIGNATURE_PREFIX));
    Ok(Part {
        function_call: Some(FunctionCall { id: &call.id, name: &call.name, args }),
        thought_signature: signature,
        ..Part::default()
    })
}

fn result<'a>(result: &'a ToolResult, name: &'a str) -> Part<'a> {
    let value = match serde_json::from_str::<&RawValue>(&result.content) {
        Ok(raw) if raw.get().starts_with(['{', '[']) => Value::Json(raw),
        _ => Value::Text(&result.content),
    };
    let response = if result.is_error { Outcome::Error(value) } else { Outcome::Output(value) };
    Part {
        function_response: Some(FunctionResponse { id: &result.tool_call_id, name, response }),
        ..Part::default()
    }
}

/// Only the first call of a turn is signed.
fn sign_foreign_call(parts: &mut [Part<'_>]) {
    if let Some(first) = parts.iter_mut().find(|part| part.function_call.is_some()) {
        first.thought_signature.get_or_insert(FOREIGN_CALL);
    }
}
