//! Reads a message request.

use super::models;
use crate::answer::{Ask, Choice, Format, Tool, effort};
use crate::call::Call;
use crate::json::{self, list, text};
use crate::problem::{Kind, Problem};
use crate::tokens;
use crate::vendors::image;
use serde_json::Value;

const MEDIA_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The question in a message request.
pub(crate) fn read<'a>(call: &'a Call<'_>) -> Result<Ask<'a>, Problem> {
    let body = call.json()?;
    let choice = body.get("tool_choice").unwrap_or(&Value::Null);
    let mut ask = Ask {
        model: &call.model,
        tools: list(body, "tools")
            .iter()
            .filter_map(|tool| Some(Tool { name: text(tool, "name")?, schema: tool.get("input_schema") }))
            .collect(),
        choice: match text(choice, "type") {
            Some("none") => Choice::None,
            Some("any") => Choice::Required,
            Some("tool") => text(choice, "name").map_or(Choice::Required, Choice::Named),
            _ => Choice::Auto,
        },
        one_call: json::flag(choice, "disable_parallel_tool_use"),
        format: body.pointer("/output_config/format/schema").map_or(Format::Text, Format::Schema),
        max_tokens: body.get("max_tokens").and_then(Value::as_u64),
        stop: json::strings(body.get("stop_sequences")),
        reasoning: reasoning(body),
        preamble: true,
        ..Ask::default()
    };
    ask.prompt_tokens = system_tokens(body);
    for tool in list(body, "tools") {
        ask.prompt_tokens += tokens::count(&tool.to_string());
    }
    for (n, message) in list(body, "messages").iter().enumerate() {
        read_message(&mut ask, message, n)?;
    }
    let limit = models::find(&call.model)?.context;
    if ask.prompt_tokens > limit {
        let message = format!("prompt is too long: {} tokens > {limit} maximum", ask.prompt_tokens);
        return Err(Problem::new(Kind::Context).saying(message));
    }
    Ok(ask)
}

/// Thinking as much as the effort says, within the budget.
fn reasoning(body: &Value) -> u64 {
    let thinking = body.get("thinking").unwrap_or(&Value::Null);
    if !matches!(text(thinking, "type"), Some("adaptive" | "enabled" | "between_tools")) {
        return 0;
    }
    let named = body.pointer("/output_config/effort").and_then(Value::as_str);
    let tokens = named.and_then(effort).unwrap_or(16);
    thinking.get("budget_tokens").and_then(Value::as_u64).map_or(tokens, |budget| tokens.min(budget))
}

fn system_tokens(body: &Value) -> u64 {
    match body.get("system") {
        Some(Value::String(system)) => tokens::count(system),
        Some(Value::Array(blocks)) => {
            blocks.iter().filter_map(|block| text(block, "text")).map(tokens::count).sum()
        }
        _ => 0,
    }
}

fn read_message(ask: &mut Ask<'_>, message: &Value, n: usize) -> Result<(), Problem> {
    let user = text(message, "role") == Some("user");
    let mut said = text(message, "content").unwrap_or_default().to_owned();
    ask.prompt_tokens += tokens::count(&said);
    if text(message, "role") != Some("system") {
        ask.results.clear();
    }
    for (b, block) in list(message, "content").iter().enumerate() {
        match text(block, "type") {
            Some("text") => {
                let words = text(block, "text").unwrap_or_default();
                ask.prompt_tokens += tokens::count(words);
                said.push_str(words);
            }
            Some("image") => read_image(ask, block, n, b)?,
            Some("tool_result") => read_result(ask, block, n, b)?,
            Some("tool_use" | "thinking") => ask.prompt_tokens += tokens::count(&block.to_string()),
            _ => {}
        }
    }
    if user && (!said.is_empty() || ask.results.is_empty()) {
        ask.said = said;
    }
    Ok(())
}

fn read_image(ask: &mut Ask<'_>, block: &Value, n: usize, b: usize) -> Result<(), Problem> {
    let source = block.get("source").unwrap_or(&Value::Null);
    let at = format!("messages.{n}.content.{b}.image.source");
    let size = match text(source, "type") {
        Some("base64") => {
            if !text(source, "media_type").is_some_and(|media_type| MEDIA_TYPES.contains(&media_type)) {
                let types = MEDIA_TYPES.map(|media_type| format!("'{media_type}'")).join(", ");
                return Err(Problem::invalid(format!("{at}.base64.media_type: Input should be {types}")));
            }
            let size = text(source, "data").and_then(image::size_of_base64);
            Some(size.ok_or_else(|| Problem::invalid(format!("{at}.base64.data: invalid base64 data")))?)
        }
        Some("url" | "file") => None,
        _ => {
            return Err(Problem::invalid(format!(
                "{at}: Input tag does not match any of the expected tags: 'base64', 'url', 'file'"
            )));
        }
    };
    ask.images.push(size);
    ask.prompt_tokens += image::TOKENS;
    Ok(())
}

fn read_result(ask: &mut Ask<'_>, block: &Value, n: usize, b: usize) -> Result<(), Problem> {
    let mut result = text(block, "content").unwrap_or_default().to_owned();
    for part in list(block, "content") {
        match text(part, "type") {
            Some("image") => read_image(ask, part, n, b)?,
            _ => result.push_str(text(part, "text").unwrap_or_default()),
        }
    }
    ask.prompt_tokens += tokens::count(&result);
    ask.results.push(result);
    Ok(())
}
