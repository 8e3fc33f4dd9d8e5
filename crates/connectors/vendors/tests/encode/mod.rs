//! What the tests of the encoders share.

#![allow(dead_code, reason = "each test binary uses its part")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

use serde_json::Value;
use signalbox_types::{
    Capabilities, Capability, Image, ImageDetail, ImageSource, JsonText, Message, ModelFacts, Part, Prompt,
    Role, Tool, ToolCall, ToolResult, VendorKind,
};
use signalbox_vendors::{EncodeContext, EncodedCall, codec_for};
use std::path::Path;

/// A pixel, as in the examples.
pub(crate) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg==";

/// The body of an example request, without the notes to its reader.
pub(crate) fn example(vendor: &str, name: &str) -> Value {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/vendors");
    let text = std::fs::read_to_string(fixtures.join(vendor).join(name)).unwrap();
    let mut body: Value = serde_json::from_str(&text).unwrap();
    let fields = body.as_object_mut().unwrap();
    fields.remove("_url");
    fields.remove("_headers");
    body
}

/// The example without fields that Signalbox never sends, named by JSON pointer.
pub(crate) fn without(mut body: Value, pointers: &[&str]) -> Value {
    for pointer in pointers {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        let parent = body.pointer_mut(parent).unwrap_or_else(|| panic!("no {pointer} in the example"));
        let removed = parent.as_object_mut().unwrap().remove(field);
        assert!(removed.is_some(), "no {pointer} in the example");
    }
    body
}

/// A request and its body.
pub(crate) fn encode(
    kind: VendorKind,
    model: &str,
    facts: &ModelFacts,
    prompt: &Prompt,
) -> (EncodedCall, Value) {
    encoded(kind, EncodeContext { model, facts, stream: false }, prompt)
}

/// A request for a stream and its body.
pub(crate) fn encode_stream(
    kind: VendorKind,
    model: &str,
    facts: &ModelFacts,
    prompt: &Prompt,
) -> (EncodedCall, Value) {
    encoded(kind, EncodeContext { model, facts, stream: true }, prompt)
}

fn encoded(kind: VendorKind, context: EncodeContext<'_>, prompt: &Prompt) -> (EncodedCall, Value) {
    let call = codec_for(kind).encode(context, prompt).unwrap();
    let body = serde_json::from_slice(&call.body).unwrap();
    (call, body)
}

/// The fields that were changed, in the order told.
pub(crate) fn adjusted(call: &EncodedCall) -> Vec<&str> {
    call.adjustments.iter().map(|adjustment| adjustment.field.as_ref()).collect()
}

/// A model that can do everything but embed.
pub(crate) fn facts() -> ModelFacts {
    let capabilities = Capability::ALL.into_iter().filter(|capability| *capability != Capability::Embeddings);
    ModelFacts {
        capabilities: capabilities.collect::<Capabilities>(),
        context_window: 200_000,
        max_output_tokens: 64_000,
        ..ModelFacts::default()
    }
}

pub(crate) fn user(parts: impl IntoIterator<Item = Part>) -> Message {
    Message { role: Role::User, parts: parts.into_iter().collect() }
}

pub(crate) fn assistant(parts: impl IntoIterator<Item = Part>) -> Message {
    Message { role: Role::Assistant, parts: parts.into_iter().collect() }
}

pub(crate) fn text(text: &str) -> Part {
    Part::text(text)
}

pub(crate) fn pixel() -> Part {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let data = STANDARD.decode(PIXEL).unwrap().into();
    let source = ImageSource::Inline { media_type: "image/png".to_owned(), data };
    Part::Image(Image { source, detail: ImageDetail::Auto })
}

pub(crate) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned(), signature: None }
}

pub(crate) fn result(id: &str, name: &str, content: &str) -> ToolResult {
    ToolResult {
        tool_call_id: id.to_owned(),
        name: name.to_owned(),
        content: content.to_owned(),
        is_error: false,
    }
}

pub(crate) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

pub(crate) fn tool(name: &str, description: &str, parameters: Option<&str>) -> Tool {
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: parameters.map(json),
        strict: None,
    }
}

pub(crate) fn prompt(messages: impl IntoIterator<Item = Message>) -> Prompt {
    Prompt { messages: messages.into_iter().collect(), ..Prompt::default() }
}
