//! Reads a chat request.

use super::models::Abilities;
use crate::answer::{Ask, Format, Tool, effort};
use crate::call::Call;
use crate::json::{self, list, text};
use crate::problem::{Kind, Problem};
use crate::tokens;
use crate::vendors::image;
use serde_json::Value;

/// The context that the server gives where the request sets none.
const USUAL_CONTEXT: u64 = 4096;

/// The question in a chat request.
pub(crate) fn read<'a>(
    call: &'a Call<'_>,
    body: &'a Value,
    thinks: bool,
    abilities: Abilities,
) -> Result<Ask<'a>, Problem> {
    let options = body.get("options").unwrap_or(&Value::Null);
    let functions = list(body, "tools").iter().filter_map(|tool| tool.get("function"));
    let mut ask = Ask {
        model: &call.model,
        tools: functions
            .filter_map(|function| {
                Some(Tool { name: text(function, "name")?, schema: function.get("parameters") })
            })
            .collect(),
        format: match body.get("format") {
            Some(Value::String(name)) if name == "json" => Format::Json,
            Some(schema @ Value::Object(_)) => Format::Schema(schema),
            _ => Format::Text,
        },
        // -1, for no limit, is no `u64`.
        max_tokens: options.get("num_predict").and_then(Value::as_u64),
        stop: json::strings(options.get("stop")),
        reasoning: if thinks { text(body, "think").and_then(effort).unwrap_or(16) } else { 0 },
        preamble: true,
        ..Ask::default()
    };
    for tool in list(body, "tools") {
        ask.prompt_tokens += tokens::count(&tool.to_string());
    }
    for message in list(body, "messages") {
        read_message(&mut ask, message)?;
    }
    check_context(&ask, body, options, abilities)?;
    Ok(ask)
}

fn read_message(ask: &mut Ask<'_>, message: &Value) -> Result<(), Problem> {
    let content = match message.get("content") {
        Some(Value::String(content)) => content.as_str(),
        None | Some(Value::Null) => "",
        Some(other) => {
            let kind = if other.is_array() { "array" } else { "object" };
            return Err(Problem::invalid(format!(
                "json: cannot unmarshal {kind} into Go struct field ChatRequest.messages.content of type string"
            )));
        }
    };
    ask.prompt_tokens += tokens::count(content);
    for data in list(message, "images") {
        let size = data.as_str().and_then(image::size_of_base64);
        let size = size.ok_or_else(|| Problem::invalid("illegal base64 data at input byte 0"))?;
        ask.images.push(Some(size));
        ask.prompt_tokens += image::TOKENS;
    }
    match text(message, "role") {
        Some("user") => {
            content.clone_into(&mut ask.said);
            ask.results.clear();
        }
        Some("assistant") => {
            ask.results.clear();
            read_calls(ask, message)?;
        }
        Some("tool") => ask.results.push(content.to_owned()),
        Some("system") => {}
        role => {
            let role = role.unwrap_or_default();
            return Err(Problem::invalid(format!(
                "invalid role: \"{role}\", should be one of [\"user\" \"assistant\" \"system\" \"tool\"]"
            )));
        }
    }
    Ok(())
}

/// Arguments are an object here, never a string.
fn read_calls(ask: &mut Ask<'_>, message: &Value) -> Result<(), Problem> {
    for made in list(message, "tool_calls") {
        if made.pointer("/function/arguments").is_some_and(|arguments| !arguments.is_object()) {
            return Err(Problem::invalid(
                "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type \
                 api.ToolCallFunctionArguments",
            ));
        }
        ask.prompt_tokens += tokens::count(&made.to_string());
    }
    Ok(())
}

/// A prompt that is too long is an error only where truncation is switched off.
fn check_context(ask: &Ask<'_>, body: &Value, options: &Value, abilities: Abilities) -> Result<(), Problem> {
    let asked = options.get("num_ctx").and_then(Value::as_u64);
    let limit = asked.unwrap_or(USUAL_CONTEXT).min(abilities.context);
    let truncates = body.get("truncate") != Some(&Value::Bool(false));
    if truncates || ask.prompt_tokens <= limit { Ok(()) } else { Err(Problem::new(Kind::Context)) }
}
