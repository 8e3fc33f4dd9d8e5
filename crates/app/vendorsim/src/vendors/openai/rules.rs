//! What OpenAI refuses.

use super::models::{self, Traits};
use crate::call::Call;
use crate::json::{self, list, present, text};
use crate::problem::{Kind, Problem};
use serde_json::Value;

const CHAT_FIELDS: [&str; 39] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "seed",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "metadata",
    "service_tier",
    "stream",
    "stream_options",
    "n",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "presence_penalty",
    "frequency_penalty",
    "modalities",
    "audio",
    "prediction",
    "store",
    "moderation",
    "web_search_options",
    "functions",
    "function_call",
    "prompt_cache_breakpoint",
    "background",
];
const RESPONSES_FIELDS: [&str; 29] = [
    "model",
    "instructions",
    "input",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "max_output_tokens",
    "max_tool_calls",
    "include",
    "store",
    "previous_response_id",
    "truncation",
    "metadata",
    "temperature",
    "top_p",
    "top_logprobs",
    "stream",
    "stream_options",
    "background",
    "service_tier",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "conversation",
    "prompt",
];

/// The rules of chat completions.
pub(crate) fn check_chat(call: &Call<'_>) -> Result<(), Problem> {
    let body = known_fields(call, &CHAT_FIELDS)?;
    let traits = models::find(&call.model)?;
    if traits.responses_only {
        let message = "This model is only supported in v1/responses and not in v1/chat/completions.";
        return Err(Problem { status: Some(404), ..Problem::field("model", message) });
    }
    let effort = text(body, "reasoning_effort");
    check_effort(call, traits, effort, "reasoning_effort")?;
    check_sampling(body, traits, effort)?;
    check_stop(body, traits)?;
    if traits.reasons && present(body, "max_tokens").is_some() {
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                       'max_completion_tokens' instead.";
        return Err(Problem::field("max_tokens", message).coded("unsupported_parameter"));
    }
    for name in ["max_tokens", "max_completion_tokens"] {
        check_minimum(body, name, 1)?;
    }
    let functions = list(body, "tools").iter().filter_map(|tool| tool.get("function"));
    let has_tools = functions.clone().next().is_some();
    for function in functions {
        check_function(function, json::flag(function, "strict"))?;
    }
    if has_tools && traits.tools_need_responses && effort.unwrap_or(traits.default_effort) != "none" {
        let model = &call.model;
        return Err(Problem::field(
            "reasoning_effort",
            format!(
                "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. To use \
                 function tools, use /v1/responses or set reasoning_effort to 'none'."
            ),
        ));
    }
    let format = body.pointer("/response_format/json_schema");
    check_schema_format(format, "response_format.json_schema")
}

/// The rules of the responses API.
pub(crate) fn check_responses(call: &Call<'_>) -> Result<(), Problem> {
    let body = known_fields(call, &RESPONSES_FIELDS)?;
    let traits = models::find(&call.model)?;
    let effort = body.pointer("/reasoning/effort").and_then(Value::as_str);
    check_effort(call, traits, effort, "reasoning.effort")?;
    check_sampling(body, traits, effort)?;
    check_minimum(body, "max_output_tokens", 16)?;
    for tool in list(body, "tools").iter().filter(|tool| text(tool, "type") == Some("function")) {
        check_function(tool, json::flag(tool, "strict"))?;
    }
    let format = body.pointer("/text/format").filter(|format| text(format, "type") == Some("json_schema"));
    check_schema_format(format, "text.format")
}

fn known_fields<'a>(call: &'a Call<'_>, known: &[&str]) -> Result<&'a Value, Problem> {
    let body = call.json()?;
    if call.model.is_empty() {
        return Err(Problem::invalid("you must provide a model parameter"));
    }
    match json::unknown_key(body, known) {
        Some(name) => {
            let message = format!("Unknown parameter: '{name}'.");
            Err(Problem::field(name, message).coded("unknown_parameter"))
        }
        None => Ok(body),
    }
}

fn check_effort(call: &Call<'_>, traits: Traits, effort: Option<&str>, param: &str) -> Result<(), Problem> {
    match effort {
        Some(_) if !traits.reasons => Err(unsupported(param)),
        Some(name) if !models::takes_effort(&call.model, name) => {
            let message = format!("Unsupported value: '{param}' does not support '{name}' with this model.");
            Err(Problem::field(param, message).coded("unsupported_value"))
        }
        _ => Ok(()),
    }
}

fn check_sampling(body: &Value, traits: Traits, effort: Option<&str>) -> Result<(), Problem> {
    let free = traits.samples_without_effort && effort.unwrap_or(traits.default_effort) == "none";
    if !traits.reasons || free {
        return Ok(());
    }
    if let Some(value) = present(body, "temperature").filter(|value| value.as_f64() != Some(1.0)) {
        let message = format!(
            "Unsupported value: 'temperature' does not support {value} with this model. Only the default (1) value is \
             supported."
        );
        return Err(Problem::field("temperature", message).coded("unsupported_value"));
    }
    for name in ["top_p", "presence_penalty", "frequency_penalty", "logprobs", "top_logprobs", "logit_bias"] {
        if present(body, name).is_some() {
            return Err(unsupported(name));
        }
    }
    Ok(())
}

fn check_stop(body: &Value, traits: Traits) -> Result<(), Problem> {
    let Some(stop) = present(body, "stop") else { return Ok(()) };
    if !traits.stops {
        return Err(unsupported("stop"));
    }
    let count = json::strings(Some(stop)).len();
    if count > 4 {
        let message = format!(
            "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length {count} instead."
        );
        return Err(Problem::field("stop", message).coded("array_above_max_length"));
    }
    Ok(())
}

fn check_minimum(body: &Value, name: &str, least: u64) -> Result<(), Problem> {
    match present(body, name) {
        Some(value) if value.as_u64().is_none_or(|value| value < least) => {
            let message = format!(
                "Invalid '{name}': integer below minimum value. Expected a value >= {least}, but got {value} instead."
            );
            Err(Problem::field(name, message).coded("integer_below_min_value"))
        }
        _ => Ok(()),
    }
}

/// The rules of a function's name and, where it is strict, of its schema.
pub(crate) fn check_function(function: &Value, strict: bool) -> Result<(), Problem> {
    let name = text(function, "name").unwrap_or_default();
    check_name(name, "tools")?;
    match function.get("parameters").filter(|_| strict) {
        Some(schema) => check_strict(schema, &format!("function '{name}'"), "tools[0].function.parameters"),
        None => Ok(()),
    }
}

fn check_schema_format(format: Option<&Value>, param: &str) -> Result<(), Problem> {
    let Some(format) = format else { return Ok(()) };
    let name = text(format, "name").unwrap_or_default();
    check_name(name, &format!("{param}.name"))?;
    match format.get("schema") {
        None => Err(Problem::field(param, format!("Missing required parameter: '{param}.schema'."))
            .coded("missing_required_parameter")),
        Some(schema) if json::flag(format, "strict") => {
            check_strict(schema, &format!("response_format '{name}'"), "response_format")
        }
        Some(_) => Ok(()),
    }
}

fn check_name(name: &str, param: &str) -> Result<(), Problem> {
    let fits = !name.is_empty()
        && name.len() <= 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if fits {
        return Ok(());
    }
    let message = format!(
        "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    );
    Err(Problem::field(param, message).coded("invalid_value"))
}

/// A strict schema closes every object and requires every property of it.
fn check_strict(schema: &Value, what: &str, param: &str) -> Result<(), Problem> {
    let invalid = |why: &str| {
        Err(Problem {
            kind: Kind::Invalid,
            ..Problem::field(param, format!("Invalid schema for {what}: In context=(), {why}"))
        })
    };
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
            return invalid("'additionalProperties' is required to be supplied and to be false.");
        }
        let required = json::strings(schema.get("required"));
        if let Some(missing) = properties.keys().find(|name| !required.contains(&name.as_str())) {
            return invalid(&format!(
                "'required' is required to be supplied and to be an array including every key in properties. Missing \
                 '{missing}'."
            ));
        }
        for property in properties.values() {
            check_strict(property, what, param)?;
        }
    }
    let nested = schema.get("items").into_iter();
    let definitions =
        schema.get("$defs").and_then(Value::as_object).into_iter().flat_map(|defs| defs.values());
    nested
        .chain(definitions)
        .chain(list(schema, "anyOf"))
        .try_for_each(|part| check_strict(part, what, param))
}

fn unsupported(param: &str) -> Problem {
    Problem::field(param, format!("Unsupported parameter: '{param}' is not supported with this model."))
        .coded("unsupported_parameter")
}
