//! What Anthropic refuses.

use super::models::{self, Traits};
use super::{NEW_VERSION, turns};
use crate::call::Call;
use crate::json::{self, list, present, text};
use crate::problem::Problem;
use serde_json::Value;

const FIELDS: [&str; 24] = [
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "output_config",
    "thinking",
    "metadata",
    "service_tier",
    "speed",
    "inference_geo",
    "cache_control",
    "stream",
    "container",
    "mcp_servers",
    "context_management",
    "output_format",
    "betas",
    "fallbacks",
];
const SAMPLING: [&str; 3] = ["temperature", "top_p", "top_k"];
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// The rules of a message.
pub(crate) fn check(call: &Call<'_>) -> Result<(), Problem> {
    let traits = check_common(call)?;
    let body = call.json()?;
    let max_tokens = match present(body, "max_tokens") {
        None => return Err(Problem::invalid("max_tokens: Field required")),
        Some(value) => value
            .as_u64()
            .ok_or_else(|| Problem::invalid("max_tokens: Input should be greater than or equal to 0"))?,
    };
    if max_tokens > traits.max_tokens {
        return Err(Problem::invalid(format!(
            "max_tokens: {max_tokens} > {}, which is the maximum allowed number of output tokens for {}",
            traits.max_tokens, call.model
        )));
    }
    if json::strings(body.get("stop_sequences")).iter().any(|stop| stop.trim_ascii().is_empty()) {
        return Err(Problem::invalid("stop_sequences: each stop sequence must contain non-whitespace"));
    }
    check_thinking(body, traits, max_tokens)
}

/// The rules of a token count.
pub(crate) fn check_count(call: &Call<'_>) -> Result<(), Problem> {
    check_common(call).map(|_| ())
}

fn check_common(call: &Call<'_>) -> Result<Traits, Problem> {
    let body = call.json()?;
    if call.model.is_empty() {
        return Err(Problem::invalid("model: Field required"));
    }
    if let Some(name) = json::unknown_key(body, &FIELDS) {
        return Err(Problem::invalid(format!("{name}: Extra inputs are not permitted")));
    }
    let messages = present(body, "messages").and_then(Value::as_array);
    let messages = messages.ok_or_else(|| Problem::invalid("messages: Field required"))?;
    if messages.is_empty() {
        return Err(Problem::invalid("messages: at least one message is required"));
    }
    let traits = models::find(&call.model)?;
    check_sampling(call, body, traits)?;
    check_tools(body, traits)?;
    check_output(call, body, traits)?;
    turns::check(messages, traits)?;
    Ok(traits)
}

fn check_sampling(call: &Call<'_>, body: &Value, traits: Traits) -> Result<(), Problem> {
    let Some(name) = SAMPLING.iter().find(|name| present(body, name).is_some()) else { return Ok(()) };
    if call.header("anthropic-version") == Some(NEW_VERSION) {
        return Err(Problem::invalid(format!("{name}: Extra inputs are not permitted")));
    }
    let harmless = *name == "temperature" && body[*name].as_f64() == Some(1.0);
    if !traits.samples() && !harmless {
        return Err(Problem::invalid(format!("`{name}` is deprecated for this model.")));
    }
    match present(body, "temperature").and_then(Value::as_f64) {
        Some(value) if !(0.0..=1.0).contains(&value) => Err(Problem::invalid("temperature: range: 0..1")),
        Some(_) if present(body, "top_p").is_some() => Err(Problem::invalid(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        )),
        _ => Ok(()),
    }
}

fn check_tools(body: &Value, traits: Traits) -> Result<(), Problem> {
    for (n, tool) in list(body, "tools").iter().enumerate() {
        let custom = matches!(text(tool, "type"), None | Some("custom"));
        let name = text(tool, "name").unwrap_or_default();
        let named = !name.is_empty()
            && name.len() <= 128
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if !named {
            return Err(Problem::invalid(format!(
                "tools.{n}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )));
        }
        let schema = tool.get("input_schema");
        if custom && schema.and_then(|schema| text(schema, "type")) != Some("object") {
            return Err(Problem::invalid(format!(
                "tools.{n}.custom.input_schema.type: Input should be 'object'"
            )));
        }
    }
    let forced = body
        .get("tool_choice")
        .and_then(|choice| text(choice, "type"))
        .filter(|kind| matches!(*kind, "any" | "tool"));
    let thinking = body.pointer("/thinking/type").and_then(Value::as_str);
    match forced {
        Some(kind) if !traits.forced_tools => {
            Err(Problem::invalid(format!("tool_choice: type `{kind}` is not supported for this model.")))
        }
        Some(_) if matches!(thinking, Some("enabled" | "adaptive")) => {
            Err(Problem::invalid("Thinking may not be enabled when tool_choice forces tool use."))
        }
        _ => Ok(()),
    }
}

fn check_output(call: &Call<'_>, body: &Value, traits: Traits) -> Result<(), Problem> {
    let config = body.get("output_config").unwrap_or(&Value::Null);
    if let Some(effort) = text(config, "effort").filter(|effort| !EFFORTS.contains(effort)) {
        return Err(Problem::invalid(format!(
            "output_config.effort: '{effort}' is not valid. Supported levels: {}",
            EFFORTS.join(", ")
        )));
    }
    let Some(format) = present(config, "format") else { return Ok(()) };
    if !traits.formats() {
        return Err(Problem::invalid(format!("output_config.format: not supported by {}", call.model)));
    }
    match (text(format, "type"), format.get("schema")) {
        (Some("json_schema"), Some(Value::Object(_))) => Ok(()),
        (Some("json_schema"), _) => {
            Err(Problem::invalid("output_config.format.json_schema.schema: Field required"))
        }
        _ => Err(Problem::invalid("output_config.format.type: Input should be 'json_schema'")),
    }
}

fn check_thinking(body: &Value, traits: Traits, max_tokens: u64) -> Result<(), Problem> {
    let Some(thinking) = present(body, "thinking") else { return Ok(()) };
    match text(thinking, "type") {
        Some("enabled") if traits.generation > 46 => Err(Problem::invalid(
            "thinking.type: \"enabled\" is not supported for this model. Use \"adaptive\" and `output_config.effort` instead.",
        )),
        Some("enabled") => {
            let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
            match budget {
                None => Err(Problem::invalid("thinking.enabled.budget_tokens: Field required")),
                Some(..1024) => Err(Problem::invalid(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
                )),
                Some(budget) if budget >= max_tokens => {
                    Err(Problem::invalid("`max_tokens` must be greater than `thinking.budget_tokens`."))
                }
                Some(_) => Ok(()),
            }
        }
        Some("adaptive") if traits.generation < 46 => {
            Err(Problem::invalid("adaptive thinking is not supported on this model"))
        }
        Some("adaptive" | "disabled" | "between_tools") => Ok(()),
        _ => Err(Problem::invalid(
            "thinking: Input tag does not match any of the expected tags: 'adaptive', 'disabled', 'enabled', 'between_tools'",
        )),
    }
}
