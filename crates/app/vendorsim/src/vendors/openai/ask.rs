//! Reads a chat completion request, in the dialects of OpenAI, xAI and compatible servers.

use super::{Dialect, models};
use crate::answer::{Ask, Choice, Format, Tool, effort};
use crate::call::Call;
use crate::json::{self, list, present, text};
use crate::problem::{Kind, Problem};
use crate::tokens;
use crate::vendors::image;
use serde_json::Value;

/// The question in a chat completion request.
pub(crate) fn read<'a>(call: &'a Call<'_>, dialect: Dialect) -> Result<Ask<'a>, Problem> {
    let body = call.json()?;
    let messages = present(body, "messages").and_then(Value::as_array).ok_or_else(|| {
        Problem::field("messages", "Missing required parameter: 'messages'.")
            .coded("missing_required_parameter")
    })?;
    if messages.is_empty() {
        let message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
        return Err(Problem::field("messages", message).coded("empty_array"));
    }
    let effort_name = text(body, "reasoning_effort");
    let mut ask = Ask {
        model: &call.model,
        tools: tools(body),
        choice: choice(body),
        one_call: body.get("parallel_tool_calls") == Some(&Value::Bool(false)),
        format: format(body),
        max_tokens: cap(body),
        stop: json::strings(body.get("stop")),
        reasoning: effort_name.and_then(effort).unwrap_or(0),
        reasoning_beside_cap: dialect == Dialect::Xai,
        ..Ask::default()
    };
    for tool in list(body, "tools") {
        ask.prompt_tokens += tokens::count(&tool.to_string());
    }
    check_tool_turns(messages)?;
    for (n, message) in messages.iter().enumerate() {
        read_message(&mut ask, message, n)?;
    }
    check_context(&ask, dialect)?;
    Ok(ask)
}

/// The cap on output, by either name.
fn cap(body: &Value) -> Option<u64> {
    ["max_completion_tokens", "max_tokens"].iter().find_map(|name| body.get(name)?.as_u64())
}

fn tools(body: &Value) -> Vec<Tool<'_>> {
    let functions = list(body, "tools").iter().filter_map(|tool| tool.get("function"));
    functions
        .filter_map(|function| {
            Some(Tool { name: text(function, "name")?, schema: function.get("parameters") })
        })
        .collect()
}

fn choice(body: &Value) -> Choice<'_> {
    match body.get("tool_choice") {
        Some(Value::String(mode)) if mode == "none" => Choice::None,
        Some(Value::String(mode)) if mode == "required" => Choice::Required,
        Some(named) => {
            named.pointer("/function/name").and_then(Value::as_str).map_or(Choice::Auto, Choice::Named)
        }
        None => Choice::Auto,
    }
}

fn format(body: &Value) -> Format<'_> {
    let Some(format) = body.get("response_format") else { return Format::Text };
    match (text(format, "type"), format.pointer("/json_schema/schema")) {
        (Some("json_schema"), Some(schema)) => Format::Schema(schema),
        (Some("json_object"), _) => Format::Json,
        _ => Format::Text,
    }
}

fn read_message(ask: &mut Ask<'_>, message: &Value, n: usize) -> Result<(), Problem> {
    let content = read_content(ask, message.get("content"), n)?;
    ask.prompt_tokens += tokens::count(&content);
    match text(message, "role") {
        Some("user") => {
            ask.said = content;
            ask.results.clear();
        }
        Some("assistant") => {
            ask.results.clear();
            for call in list(message, "tool_calls") {
                let function = call.get("function").unwrap_or(&Value::Null);
                ask.prompt_tokens += tokens::count(text(function, "name").unwrap_or_default());
                ask.prompt_tokens += tokens::count(text(function, "arguments").unwrap_or_default());
            }
        }
        Some("tool") => ask.results.push(content),
        Some("system" | "developer") => {}
        role => {
            let role = role.unwrap_or_default();
            let message = format!(
                "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and \
                 'developer'."
            );
            return Err(Problem::field(format!("messages[{n}].role"), message).coded("invalid_value"));
        }
    }
    Ok(())
}

fn read_content(ask: &mut Ask<'_>, content: Option<&Value>, n: usize) -> Result<String, Problem> {
    let parts = match content {
        Some(Value::String(text)) => return Ok(text.clone()),
        Some(Value::Array(parts)) => parts,
        _ => return Ok(String::new()),
    };
    let mut joined = String::new();
    for (p, part) in parts.iter().enumerate() {
        match text(part, "type") {
            Some("text") => joined.push_str(text(part, "text").unwrap_or_default()),
            Some("image_url") => {
                let url = part.pointer("/image_url/url").and_then(Value::as_str).unwrap_or_default();
                let size = image::size_of_url(url).map_err(|()| {
                    let param = format!("messages[{n}].content[{p}].image_url");
                    Problem::field(param, "Invalid image data: expected a base64-encoded data URL.")
                        .coded("invalid_base64")
                })?;
                ask.images.push(size);
                ask.prompt_tokens += image::TOKENS;
            }
            Some("input_audio" | "file" | "refusal") => {}
            kind => {
                let kind = kind.unwrap_or_default();
                let message = format!(
                    "Invalid value: '{kind}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', and 'file'."
                );
                return Err(Problem::field(format!("messages[{n}].content[{p}].type"), message)
                    .coded("invalid_value"));
            }
        }
    }
    Ok(joined)
}

/// Every tool result answers a call of the turn before it, and every call is answered before the next turn.
fn check_tool_turns(messages: &[Value]) -> Result<(), Problem> {
    let mut open: Vec<&str> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        if text(message, "role") == Some("tool") {
            let id = text(message, "tool_call_id").unwrap_or_default();
            let Some(at) = open.iter().position(|open| *open == id) else {
                let message = "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
                return Err(Problem::field(format!("messages.[{n}].role"), message));
            };
            open.swap_remove(at);
            continue;
        }
        if !open.is_empty() {
            return Err(unanswered(&open));
        }
        open = list(message, "tool_calls").iter().filter_map(|call| text(call, "id")).collect();
    }
    if open.is_empty() { Ok(()) } else { Err(unanswered(&open)) }
}

fn unanswered(ids: &[&str]) -> Problem {
    let ids = ids.join(", ");
    let message = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The \
         following tool_call_ids did not have response messages: {ids}"
    );
    Problem::field("messages", message)
}

fn check_context(ask: &Ask<'_>, dialect: Dialect) -> Result<(), Problem> {
    if dialect != Dialect::Openai {
        return Ok(());
    }
    let limit = models::find(ask.model)?.context;
    if ask.prompt_tokens <= limit {
        return Ok(());
    }
    Err(Problem::new(Kind::Context).saying(format!(
        "This model's maximum context length is {limit} tokens. However, your messages resulted in {} tokens.",
        ask.prompt_tokens
    )))
}
