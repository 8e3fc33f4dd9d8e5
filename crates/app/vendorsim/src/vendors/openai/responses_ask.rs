//! Reads a request of the responses API.

use crate::answer::{Ask, Choice, Format, Tool, effort};
use crate::call::Call;
use crate::json::{list, text};
use crate::problem::Problem;
use crate::tokens;
use crate::vendors::image;
use serde_json::Value;

/// The question in the request.
pub(crate) fn read<'a>(call: &'a Call<'_>) -> Result<Ask<'a>, Problem> {
    let body = call.json()?;
    let effort_name = body.pointer("/reasoning/effort").and_then(Value::as_str);
    let functions = list(body, "tools").iter().filter(|tool| text(tool, "type") == Some("function"));
    let mut ask = Ask {
        model: &call.model,
        tools: functions
            .filter_map(|tool| Some(Tool { name: text(tool, "name")?, schema: tool.get("parameters") }))
            .collect(),
        choice: choice(body),
        one_call: body.get("parallel_tool_calls") == Some(&Value::Bool(false)),
        format: format(body),
        max_tokens: body.get("max_output_tokens").and_then(Value::as_u64),
        reasoning: effort_name.and_then(effort).unwrap_or(0),
        prompt_tokens: tokens::count(text(body, "instructions").unwrap_or_default()),
        ..Ask::default()
    };
    for tool in list(body, "tools") {
        ask.prompt_tokens += tokens::count(&tool.to_string());
    }
    match body.get("input") {
        Some(Value::String(said)) => {
            ask.prompt_tokens += tokens::count(said);
            ask.said.clone_from(said);
        }
        Some(Value::Array(items)) if !items.is_empty() => read_items(&mut ask, items)?,
        _ => {
            let message = "Missing required parameter: 'input'.";
            return Err(Problem::field("input", message).coded("missing_required_parameter"));
        }
    }
    Ok(ask)
}

fn choice(body: &Value) -> Choice<'_> {
    match body.get("tool_choice") {
        Some(Value::String(mode)) if mode == "none" => Choice::None,
        Some(Value::String(mode)) if mode == "required" => Choice::Required,
        Some(named) => text(named, "name").map_or(Choice::Auto, Choice::Named),
        None => Choice::Auto,
    }
}

fn format(body: &Value) -> Format<'_> {
    let Some(format) = body.pointer("/text/format") else { return Format::Text };
    match (text(format, "type"), format.get("schema")) {
        (Some("json_schema"), Some(schema)) => Format::Schema(schema),
        (Some("json_object"), _) => Format::Json,
        _ => Format::Text,
    }
}

fn read_items(ask: &mut Ask<'_>, items: &[Value]) -> Result<(), Problem> {
    let mut open: Vec<&str> = Vec::new();
    for (n, item) in items.iter().enumerate() {
        match (text(item, "type"), text(item, "role")) {
            (Some("function_call"), _) => {
                ask.results.clear();
                ask.prompt_tokens += tokens::count(text(item, "name").unwrap_or_default());
                ask.prompt_tokens += tokens::count(text(item, "arguments").unwrap_or_default());
                open.extend(text(item, "call_id"));
            }
            (Some("function_call_output"), _) => read_output(ask, item, &mut open)?,
            (Some("reasoning" | "item_reference"), _) => {}
            (None | Some("message"), Some(role)) => read_message(ask, role, item, n)?,
            (kind, _) => {
                let message = format!("Invalid value: '{}'.", kind.unwrap_or_default());
                return Err(Problem::field(format!("input[{n}].type"), message).coded("invalid_value"));
            }
        }
    }
    match open.first() {
        Some(id) => Err(Problem::field("input", format!("No tool output found for function call {id}."))),
        None => Ok(()),
    }
}

fn read_output(ask: &mut Ask<'_>, item: &Value, open: &mut Vec<&str>) -> Result<(), Problem> {
    let id = text(item, "call_id").unwrap_or_default();
    let Some(at) = open.iter().position(|open| *open == id) else {
        let message = format!("No tool call found for function call output with call_id {id}.");
        return Err(Problem::field("input", message));
    };
    open.swap_remove(at);
    let output = match item.get("output") {
        Some(Value::String(output)) => output.clone(),
        Some(output) => output.to_string(),
        None => String::new(),
    };
    ask.prompt_tokens += tokens::count(&output);
    ask.results.push(output);
    Ok(())
}

fn read_message(ask: &mut Ask<'_>, role: &str, item: &Value, n: usize) -> Result<(), Problem> {
    let mut joined = text(item, "content").unwrap_or_default().to_owned();
    for (p, part) in list(item, "content").iter().enumerate() {
        let param = || format!("input[{n}].content[{p}]");
        match text(part, "type") {
            Some("input_text" | "output_text") => joined.push_str(text(part, "text").unwrap_or_default()),
            Some("input_image") => {
                let url = text(part, "image_url").unwrap_or_default();
                let size = image::size_of_url(url).map_err(|()| {
                    Problem::field(param(), "Invalid image data: expected a base64-encoded data URL.")
                        .coded("invalid_base64")
                })?;
                ask.images.push(size);
                ask.prompt_tokens += image::TOKENS;
            }
            Some("input_file" | "refusal") => {}
            kind => {
                let message = format!("Invalid value: '{}'.", kind.unwrap_or_default());
                return Err(Problem::field(param(), message).coded("invalid_value"));
            }
        }
    }
    ask.prompt_tokens += tokens::count(&joined);
    match role {
        "user" => {
            ask.said = joined;
            ask.results.clear();
        }
        "assistant" => ask.results.clear(),
        "system" | "developer" => {}
        _ => {
            return Err(Problem::field(format!("input[{n}].role"), format!("Invalid value: '{role}'."))
                .coded("invalid_value"));
        }
    }
    Ok(())
}
