//! Tools, sampling, and the form of the answer.

use crate::{
    convert::validate::{Violations, is_plain_name, known_enum},
    v1,
};
use serde_json::value::RawValue;
use signalbox_types::{JsonText, ResponseFormat, Sampling, Tool, ToolChoice, shown};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most tools; the vendors take fewer.
pub(super) const MOST_TOOLS: usize = 512;
/// Most stop texts; a vendor with a lower limit gets the first ones, and the answer says so.
const MOST_STOPS: usize = 16;
/// Most labels of the caller's own, and their lengths in bytes (OpenAI's limits, the lowest).
const MOST_METADATA: (usize, usize, usize) = (16, 64, 512);

pub(super) fn positive(value: Option<i32>, field: &str, violations: &mut Violations) -> Option<u32> {
    let value = value?;
    violations.check(
        value > 0,
        || field,
        || format!("is {value}, must be above 0; leave it out for the default"),
    );
    u32::try_from(value).ok()
}

pub(super) fn sampling(wire: Option<v1::Sampling>, violations: &mut Violations) -> Sampling {
    let Some(wire) = wire else {
        return Sampling::default();
    };
    let mut check = |value: Option<f64>, field: &str, low: f64, high: f64| {
        let holds = value.is_none_or(|value| (low..=high).contains(&value));
        violations.check(holds, || format!("sampling.{field}"), || format!("must be {low} to {high}"));
    };
    check(wire.temperature, "temperature", 0.0, 2.0);
    check(wire.presence_penalty, "presence_penalty", -2.0, 2.0);
    check(wire.frequency_penalty, "frequency_penalty", -2.0, 2.0);
    violations.check(
        wire.top_p.is_none_or(|value| value > 0.0 && value <= 1.0),
        || "sampling.top_p",
        || "must be above 0 and at most 1",
    );
    violations.check(wire.top_k != Some(0), || "sampling.top_k", || "must be at least 1");
    Sampling {
        temperature: wire.temperature,
        top_p: wire.top_p,
        top_k: wire.top_k,
        presence_penalty: wire.presence_penalty,
        frequency_penalty: wire.frequency_penalty,
        seed: wire.seed,
    }
}

pub(super) fn sampling_to_proto(sampling: &Sampling) -> Option<v1::Sampling> {
    (*sampling != Sampling::default()).then_some(v1::Sampling {
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        presence_penalty: sampling.presence_penalty,
        frequency_penalty: sampling.frequency_penalty,
        seed: sampling.seed,
    })
}

pub(super) fn stop(stop: Vec<String>, violations: &mut Violations) -> Vec<String> {
    violations.at_most(stop.len(), MOST_STOPS, "texts", || "stop");
    for (index, text) in stop.iter().enumerate() {
        violations.check(!text.is_empty(), || format!("stop[{index}]"), || "is empty");
    }
    stop
}

pub(super) fn metadata(
    wire: HashMap<String, String>,
    violations: &mut Violations,
) -> BTreeMap<String, String> {
    let (most, longest_key, longest_value) = MOST_METADATA;
    violations.at_most(wire.len(), most, "labels", || "metadata");
    for (key, value) in &wire {
        let holds = (1..=longest_key).contains(&key.len()) && value.len() <= longest_value;
        violations.check(
            holds,
            || format!("metadata[{}]", shown(key)),
            || format!("keys have 1 to {longest_key} bytes, values at most {longest_value}"),
        );
    }
    wire.into_iter().collect()
}

pub(super) fn tools(wire: Vec<v1::Tool>, violations: &mut Violations) -> Vec<Tool> {
    violations.at_most(wire.len(), MOST_TOOLS, "tools", || "tools");
    check_names(&wire, violations);
    wire.into_iter()
        .enumerate()
        .map(|(index, tool)| Tool {
            parameters: parameters(tool.parameters_schema, index, violations),
            name: tool.name,
            description: tool.description,
            strict: tool.strict,
        })
        .collect()
}

fn check_names(tools: &[v1::Tool], violations: &mut Violations) {
    let mut names = HashSet::with_capacity(tools.len());
    for (index, tool) in tools.iter().enumerate() {
        violations.check(
            is_plain_name(&tool.name),
            || format!("tools[{index}].name"),
            || "must be 1 to 64 of a-z, A-Z, 0-9, _ and -",
        );
        violations.check(
            names.insert(tool.name.as_str()),
            || format!("tools[{index}].name"),
            || format!("`{}` is there twice", shown(&tool.name)),
        );
    }
}

/// The schema of a tool's arguments, which are always an object.
fn parameters(text: String, index: usize, violations: &mut Violations) -> Option<JsonText> {
    if text.trim().is_empty() {
        return None;
    }
    let field = || format!("tools[{index}].parameters_schema");
    let schema = schema(text, field, violations)?;
    if let Some(kind) = type_of(&schema) {
        let is_object = serde_json::from_str::<String>(kind).is_ok_and(|kind| kind == "object");
        violations.check(is_object, field, || {
            format!("its type is {}, must be \"object\": arguments are always an object", shown(kind))
        });
    }
    Some(schema)
}

/// The JSON text of a schema's `type`.
fn type_of(schema: &JsonText) -> Option<&str> {
    let keywords: HashMap<String, &RawValue> = serde_json::from_str(schema.as_str()).ok()?;
    keywords.get("type").map(|kind| kind.get())
}

/// A JSON Schema: here only that it is a JSON object; whether it is a schema is the quality gate's business.
fn schema(text: String, field: impl Fn() -> String, violations: &mut Violations) -> Option<JsonText> {
    match JsonText::parse(text) {
        Ok(json) if json.as_str().trim_start().starts_with('{') => Some(json),
        Ok(_) => {
            violations.add(field(), "must be the JSON text of an object");
            None
        }
        Err(problem) => {
            violations.add(field(), problem.to_string());
            None
        }
    }
}

pub(super) fn tools_to_proto(tools: Vec<Tool>) -> Vec<v1::Tool> {
    tools
        .into_iter()
        .map(|tool| v1::Tool {
            name: tool.name,
            description: tool.description,
            parameters_schema: tool.parameters.map(|schema| schema.as_str().to_owned()).unwrap_or_default(),
            strict: tool.strict,
        })
        .collect()
}

pub(super) fn tool_choice(
    wire: Option<v1::ToolChoice>,
    tools: &[Tool],
    violations: &mut Violations,
) -> ToolChoice {
    use v1::tool_choice::Mode;
    let Some(wire) = wire else { return ToolChoice::Auto };
    let mode = known_enum(wire.mode, "tool_choice.mode", violations);
    let forced = matches!(mode, Mode::Required | Mode::Tool);
    violations.check(
        !forced || !tools.is_empty(),
        || "tool_choice.mode",
        || "forces a tool, but there are no tools",
    );
    match mode {
        Mode::Unspecified | Mode::Auto => ToolChoice::Auto,
        Mode::None => ToolChoice::None,
        Mode::Required => ToolChoice::Required,
        Mode::Tool => {
            let known = tools.iter().any(|tool| tool.name == wire.tool_name);
            violations.check(
                known,
                || "tool_choice.tool_name",
                || format!("`{}` is not among the tools", shown(&wire.tool_name)),
            );
            ToolChoice::Named(wire.tool_name)
        }
    }
}

pub(super) fn tool_choice_to_proto(choice: ToolChoice) -> Option<v1::ToolChoice> {
    use v1::tool_choice::Mode;
    let (mode, tool_name) = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => (Mode::None, String::new()),
        ToolChoice::Required => (Mode::Required, String::new()),
        ToolChoice::Named(name) => (Mode::Tool, name),
    };
    Some(v1::ToolChoice { mode: mode as i32, tool_name })
}

pub(super) fn response_format(
    wire: Option<v1::ResponseFormat>,
    violations: &mut Violations,
) -> ResponseFormat {
    use v1::response_format::Format;
    match wire.and_then(|wire| wire.format) {
        None => ResponseFormat::Text,
        Some(Format::JsonObject(_)) => ResponseFormat::JsonObject,
        Some(Format::JsonSchema(wire)) => {
            let name = if wire.name.is_empty() { "answer".to_owned() } else { wire.name };
            violations.check(
                is_plain_name(&name),
                || "response_format.json_schema.name",
                || "must be 1 to 64 of a-z, A-Z, 0-9, _ and -",
            );
            let field = || "response_format.json_schema.schema".to_owned();
            match schema(wire.schema, field, violations) {
                Some(schema) => ResponseFormat::JsonSchema { name, schema, strict: wire.strict },
                None => ResponseFormat::JsonObject,
            }
        }
    }
}

pub(super) fn response_format_to_proto(format: ResponseFormat) -> Option<v1::ResponseFormat> {
    use v1::response_format::Format;
    let format = match format {
        ResponseFormat::Text => return None,
        ResponseFormat::JsonObject => Format::JsonObject(v1::JsonObjectFormat {}),
        ResponseFormat::JsonSchema { name, schema, strict } => {
            Format::JsonSchema(v1::JsonSchemaFormat { name, schema: schema.as_str().to_owned(), strict })
        }
    };
    Some(v1::ResponseFormat { format: Some(format) })
}
