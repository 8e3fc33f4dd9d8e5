//! The order that messages and their blocks must have.

use super::models::Traits;
use super::render;
use crate::json::{list, text};
use crate::problem::Problem;
use serde_json::Value;

/// Checks the conversation.
pub(crate) fn check(messages: &[Value], traits: Traits) -> Result<(), Problem> {
    let mut open: Vec<&str> = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        check_role(n, message, traits)?;
        if text(message, "role") == Some("system") {
            continue;
        }
        check_blocks(n, message)?;
        open = check_results(n, message, &open)?;
    }
    if let Some(id) = open.first() {
        return Err(missing_result(messages.len() - 1, id));
    }
    let last = messages.last().and_then(|message| text(message, "role"));
    if last == Some("assistant") && !traits.prefills() {
        return Err(Problem::invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    Ok(())
}

fn check_role(n: usize, message: &Value, traits: Traits) -> Result<(), Problem> {
    match text(message, "role") {
        Some("user" | "assistant") => Ok(()),
        // Newer models take instructions in the middle of a conversation.
        Some("system") if n > 0 && traits.generation >= 48 => Ok(()),
        role => Err(Problem::invalid(format!(
            "messages: Unexpected role \"{}\". The Messages API accepts a top-level `system` parameter, not \"system\" as an \
             input message role.",
            role.unwrap_or_default()
        ))),
    }
}

fn check_blocks(n: usize, message: &Value) -> Result<(), Problem> {
    let assistant = text(message, "role") == Some("assistant");
    if !matches!(message.get("content"), Some(Value::String(_) | Value::Array(_))) {
        return Err(Problem::invalid(format!("messages.{n}.content: Field required")));
    }
    for (b, block) in list(message, "content").iter().enumerate() {
        let at = format!("messages.{n}.content.{b}");
        match text(block, "type") {
            Some("text") if text(block, "text") == Some("") => {
                return Err(Problem::invalid("messages: text content blocks must be non-empty"));
            }
            Some("tool_use") if !block.get("input").is_some_and(Value::is_object) => {
                return Err(Problem::invalid(format!(
                    "{at}.tool_use.input: Input should be a valid dictionary"
                )));
            }
            Some("tool_use" | "thinking" | "redacted_thinking") if !assistant => {
                return Err(Problem::invalid(format!(
                    "{at}: `{}` blocks can only be in `assistant` messages",
                    text(block, "type").unwrap_or_default()
                )));
            }
            Some("thinking") => check_signature(&at, block)?,
            Some("document") if assistant => {
                return Err(Problem::invalid(format!(
                    "{at}: `document` blocks can only be in `user` messages"
                )));
            }
            None => return Err(Problem::invalid(format!("{at}.type: Field required"))),
            Some(_) => {}
        }
    }
    Ok(())
}

/// A signature of the simulator's must belong to the thinking it signs.
fn check_signature(at: &str, block: &Value) -> Result<(), Problem> {
    let signature = text(block, "signature").unwrap_or_default();
    let thinking = text(block, "thinking").unwrap_or_default();
    if signature.is_empty() {
        return Err(Problem::invalid(format!("{at}.thinking.signature: Field required")));
    }
    if signature.starts_with(render::SIGNATURE) && !render::signs(signature, thinking) {
        return Err(Problem::invalid(format!("{at}: Invalid `signature` in `thinking` block")));
    }
    Ok(())
}

/// Checks that a message answers the calls before it, and gives the calls that it makes.
fn check_results<'a>(n: usize, message: &'a Value, open: &[&str]) -> Result<Vec<&'a str>, Problem> {
    let blocks = list(message, "content");
    let of_type = |wanted: &'static str| {
        blocks.iter().enumerate().filter(move |(_, block)| text(block, "type") == Some(wanted))
    };
    let results: Vec<(usize, &str)> = of_type("tool_result")
        .map(|(b, block)| (b, text(block, "tool_use_id").unwrap_or_default()))
        .collect();
    if let Some((b, id)) = results.iter().find(|(_, id)| !open.contains(id)) {
        return Err(Problem::invalid(format!(
            "messages.{n}.content.{b}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block \
             must have a corresponding `tool_use` block in the previous message."
        )));
    }
    if let Some(id) = open.iter().find(|id| !results.iter().any(|(_, result)| result == *id)) {
        return Err(missing_result(n - 1, id));
    }
    Ok(of_type("tool_use").filter_map(|(_, block)| text(block, "id")).collect())
}

fn missing_result(n: usize, id: &str) -> Problem {
    Problem::invalid(format!(
        "messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each `tool_use` block \
         must have a corresponding `tool_result` block in the next message."
    ))
}
