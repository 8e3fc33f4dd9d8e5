//! JSON answers: by the model's own switch, by a tool it must call, or by asking.

use super::schema;
use crate::adjust::Adjustments;
use serde::Serialize;
use signalbox_types::{Capability, JsonText, ModelFacts, ResponseFormat};
use std::borrow::Cow;

const FIELD: &str = "response_format";

const ASK_FOR_OBJECT: &str =
    "Answer with one JSON object and nothing else: no text around it and no code fence.";

/// The `output_config.format` field.
#[derive(Debug, Serialize)]
pub(super) struct Format<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: Cow<'a, JsonText>,
}

/// How a request gets its JSON.
#[derive(Debug, Default)]
pub(super) struct Structured<'a> {
    pub(super) format: Option<Format<'a>>,
    /// Name and schema of the tool whose arguments are the answer.
    pub(super) tool: Option<(&'a str, &'a JsonText)>,
    pub(super) instruction: Option<Cow<'a, str>>,
}

/// Decides how to get the JSON; `can_force` is whether the model can be made to call a tool.
pub(super) fn structured<'a>(
    facts: &ModelFacts,
    wish: &'a ResponseFormat,
    can_force: bool,
    adjustments: &mut Adjustments,
) -> Structured<'a> {
    match wish {
        ResponseFormat::Text => Structured::default(),
        ResponseFormat::JsonObject => {
            adjustments.note(FIELD, "asked for in the system text: this vendor has no plain JSON mode");
            Structured { instruction: Some(Cow::Borrowed(ASK_FOR_OBJECT)), ..Structured::default() }
        }
        ResponseFormat::JsonSchema { schema, .. } if has_schema_mode(facts) => {
            let schema = schema::fitted(schema, adjustments);
            Structured { format: Some(Format { kind: "json_schema", schema }), ..Structured::default() }
        }
        ResponseFormat::JsonSchema { name, schema, .. } => by_tool(name, schema, can_force, adjustments),
    }
}

fn has_schema_mode(facts: &ModelFacts) -> bool {
    facts.capabilities.has(Capability::JsonSchema) && !facts.parameters.json_schema_by_tool
}

fn by_tool<'a>(
    name: &'a str,
    schema: &'a JsonText,
    can_force: bool,
    adjustments: &mut Adjustments,
) -> Structured<'a> {
    let instruction = if can_force {
        adjustments.note(FIELD, "made a tool that the model must call: it has no schema mode");
        None
    } else {
        adjustments.note(FIELD, "made a tool that the model is asked to call: it has no schema mode");
        Some(Cow::Owned(format!("Give your final answer only by calling the tool `{name}`.")))
    };
    Structured { tool: Some((name, schema)), instruction, ..Structured::default() }
}
