//! Reads a request for content.

use super::fields::{get, list, text};
use crate::answer::{Ask, Choice, Format, Tool, effort};
use crate::call::Call;
use crate::json;
use crate::problem::Problem;
use crate::tokens;
use crate::vendors::image;
use serde_json::Value;

/// The question in a request for content.
pub(crate) fn read<'a>(call: &'a Call<'_>, body: &'a Value) -> Result<Ask<'a>, Problem> {
    let config = get(body, "generationConfig").unwrap_or(&Value::Null);
    let mut ask = Ask {
        model: &call.model,
        tools: tools(body),
        choice: choice(body),
        format: format(config),
        max_tokens: get(config, "maxOutputTokens").and_then(Value::as_u64),
        stop: json::strings(get(config, "stopSequences")),
        reasoning: reasoning(get(config, "thinkingConfig")),
        preamble: true,
        ..Ask::default()
    };
    if let Some(system) = get(body, "systemInstruction") {
        ask.prompt_tokens += list(system, "parts")
            .iter()
            .filter_map(|part| text(part, "text"))
            .map(tokens::count)
            .sum::<u64>();
    }
    for tool in list(body, "tools") {
        ask.prompt_tokens += tokens::count(&tool.to_string());
    }
    for (n, content) in list(body, "contents").iter().enumerate() {
        read_content(&mut ask, content, n)?;
    }
    Ok(ask)
}

fn tools(body: &Value) -> Vec<Tool<'_>> {
    let declarations = list(body, "tools").iter().flat_map(|tool| list(tool, "functionDeclarations"));
    declarations
        .filter_map(|declaration| {
            let schema = get(declaration, "parametersJsonSchema").or_else(|| get(declaration, "parameters"));
            Some(Tool { name: text(declaration, "name")?, schema })
        })
        .collect()
}

fn choice(body: &Value) -> Choice<'_> {
    let config = get(body, "toolConfig")
        .and_then(|config| get(config, "functionCallingConfig"))
        .unwrap_or(&Value::Null);
    let allowed = json::strings(get(config, "allowedFunctionNames"));
    match (text(config, "mode"), allowed.as_slice()) {
        (Some("NONE"), _) => Choice::None,
        (Some("ANY"), [only]) => Choice::Named(only),
        (Some("ANY"), _) => Choice::Required,
        _ => Choice::Auto,
    }
}

fn format(config: &Value) -> Format<'_> {
    if text(config, "responseMimeType") != Some("application/json") {
        return Format::Text;
    }
    let schema = ["responseJsonSchema", "_responseJsonSchema", "responseSchema"]
        .iter()
        .find_map(|name| get(config, name));
    schema.map_or(Format::Json, Format::Schema)
}

fn reasoning(thinking: Option<&Value>) -> u64 {
    let Some(thinking) = thinking else { return 0 };
    let level = text(thinking, "thinkingLevel").and_then(|level| effort(&level.to_ascii_lowercase()));
    match (level, get(thinking, "thinkingBudget").and_then(Value::as_i64)) {
        (Some(tokens), _) => tokens,
        // -1 leaves it to the model.
        (None, Some(budget)) => u64::try_from(budget).map_or(16, |budget| budget.min(32)),
        (None, None) => 16,
    }
}

fn read_content(ask: &mut Ask<'_>, content: &Value, n: usize) -> Result<(), Problem> {
    let user = text(content, "role") != Some("model");
    let mut said = String::new();
    ask.results.clear();
    for (p, part) in list(content, "parts").iter().enumerate() {
        if let Some(words) = text(part, "text") {
            ask.prompt_tokens += tokens::count(words);
            said.push_str(words);
        }
        if let Some(data) = get(part, "inlineData") {
            let size = text(data, "data").and_then(image::size_of_base64).ok_or_else(|| {
                let field = format!("contents[{n}].parts[{p}].inline_data.data");
                let message = format!("Invalid value at '{field}' (TYPE_BYTES), Base64 decoding failed");
                Problem::field(field, message)
            })?;
            ask.images.push(Some(size));
            ask.prompt_tokens += image::TOKENS;
        }
        if get(part, "fileData").is_some() {
            ask.images.push(None);
            ask.prompt_tokens += image::TOKENS;
        }
        if let Some(call) = get(part, "functionCall") {
            ask.prompt_tokens += tokens::count(&call.to_string());
        }
        if let Some(response) = get(part, "functionResponse") {
            let result = get(response, "response").map(Value::to_string).unwrap_or_default();
            ask.prompt_tokens += tokens::count(&result);
            ask.results.push(result);
        }
    }
    if user && (!said.is_empty() || ask.results.is_empty()) {
        ask.said = said;
    }
    Ok(())
}
