//! What Gemini refuses.

use super::fields::{check as check_fields, get, list, text};
use super::{models, turns};
use crate::call::Call;
use crate::problem::Problem;
use serde_json::Value;

const FIELDS: [&str; 11] = [
    "model",
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "serviceTier",
    "store",
    "labels",
];
const GENERATION_FIELDS: [&str; 27] = [
    "temperature",
    "topP",
    "topK",
    "maxOutputTokens",
    "stopSequences",
    "candidateCount",
    "seed",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "_responseJsonSchema",
    "thinkingConfig",
    "presencePenalty",
    "frequencyPenalty",
    "responseModalities",
    "mediaResolution",
    "responseLogprobs",
    "logprobs",
    "speechConfig",
    "imageConfig",
    "enableEnhancedCivicAnswers",
    "audioTimestamp",
    "modelSelectionConfig",
    "routingConfig",
    "enableAffectiveDialog",
    "translationConfig",
    "responseFormat",
];
const THINKING_FIELDS: [&str; 3] = ["includeThoughts", "thinkingBudget", "thinkingLevel"];
const TOOL_FIELDS: [&str; 8] = [
    "functionDeclarations",
    "googleSearch",
    "codeExecution",
    "urlContext",
    "googleSearchRetrieval",
    "computerUse",
    "fileSearch",
    "googleMaps",
];
const DECLARATION_FIELDS: [&str; 7] = [
    "name",
    "description",
    "parameters",
    "parametersJsonSchema",
    "response",
    "responseJsonSchema",
    "behavior",
];
const SCHEMA_FIELDS: [&str; 23] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
    "additionalProperties",
];
const LEVELS: [&str; 5] = ["minimal", "low", "medium", "high", "xhigh"];

/// The rules of a request for content.
pub(crate) fn check(call: &Call<'_>, body: &Value) -> Result<(), Problem> {
    check_fields(body, "", &FIELDS)?;
    if models::find(&call.model)?.embeds {
        return Err(Problem::invalid(format!("models/{} does not support generateContent.", call.model)));
    }
    if list(body, "contents").is_empty() {
        return Err(Problem::invalid("* GenerateContentRequest.contents: contents is not specified\n"));
    }
    let signs = models::signs(&call.model);
    let config = get(body, "generationConfig").unwrap_or(&Value::Null);
    check_config(config, signs)?;
    check_tools(body, config, signs)?;
    turns::check(list(body, "contents"), signs)
}

fn check_config(config: &Value, signs: bool) -> Result<(), Problem> {
    check_fields(config, "generation_config", &GENERATION_FIELDS)?;
    let penalised = |name: &str| get(config, name).is_some_and(|value| value.as_f64() != Some(0.0));
    if penalised("presencePenalty") || penalised("frequencyPenalty") {
        return Err(Problem::invalid("Penalty is not enabled for this model"));
    }
    if list(config, "stopSequences").len() > 5 {
        return Err(Problem::invalid(
            "* GenerateContentRequest.generation_config.stop_sequences: the number of stop sequences must be at most 5.\n",
        ));
    }
    if get(config, "temperature").and_then(Value::as_f64).is_some_and(|value| !(0.0..=2.0).contains(&value)) {
        return Err(Problem::invalid(
            "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n",
        ));
    }
    if let Some(schema) = get(config, "responseSchema") {
        check_schema(schema, "generation_config.response_schema")?;
    }
    check_thinking(get(config, "thinkingConfig").unwrap_or(&Value::Null), signs)
}

fn check_thinking(thinking: &Value, signs: bool) -> Result<(), Problem> {
    check_fields(thinking, "generation_config.thinking_config", &THINKING_FIELDS)?;
    let level = text(thinking, "thinkingLevel");
    if level.is_some() && get(thinking, "thinkingBudget").is_some() {
        return Err(Problem::invalid("You can only set only one of thinking budget and thinking level."));
    }
    match level {
        Some(_) if !signs => Err(Problem::invalid("Thinking level is not supported for this model.")),
        Some(level) if !LEVELS.contains(&level.to_ascii_lowercase().as_str()) => Err(Problem::field(
            "generation_config.thinking_config.thinking_level",
            format!(
                "Invalid value at 'generation_config.thinking_config.thinking_level' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), \"{level}\""
            ),
        )),
        _ => Ok(()),
    }
}

fn check_tools(body: &Value, config: &Value, signs: bool) -> Result<(), Problem> {
    for (n, tool) in list(body, "tools").iter().enumerate() {
        check_fields(tool, &format!("tools[{n}]"), &TOOL_FIELDS)?;
        for (f, declaration) in list(tool, "functionDeclarations").iter().enumerate() {
            let at = format!("tools[{n}].function_declarations[{f}]");
            check_fields(declaration, &at, &DECLARATION_FIELDS)?;
            let name = text(declaration, "name").unwrap_or_default();
            let good = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
            if name.is_empty() || name.len() > 128 || !name.bytes().all(good) {
                return Err(Problem::invalid(format!(
                    "* GenerateContentRequest.{at}.name: Invalid function name. Must start with a letter or an underscore. Must \
                     be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of \
                     128.\n"
                )));
            }
            if let Some(schema) = get(declaration, "parameters") {
                check_schema(schema, &format!("{at}.parameters"))?;
            }
        }
    }
    let json = text(config, "responseMimeType") == Some("application/json");
    if json && !signs && !list(body, "tools").is_empty() {
        return Err(Problem::invalid(
            "Function calling with a response mime type: 'application/json' is unsupported",
        ));
    }
    Ok(())
}

/// The subset of OpenAPI that `responseSchema` and `parameters` take.
fn check_schema(schema: &Value, at: &str) -> Result<(), Problem> {
    check_fields(schema, at, &SCHEMA_FIELDS)?;
    for (n, property) in
        get(schema, "properties").and_then(Value::as_object).into_iter().flatten().enumerate()
    {
        check_schema(property.1, &format!("{at}.properties[{n}].value"))?;
    }
    if let Some(items) = get(schema, "items") {
        check_schema(items, &format!("{at}.items"))?;
    }
    for (n, variant) in list(schema, "anyOf").iter().enumerate() {
        check_schema(variant, &format!("{at}.any_of[{n}]"))?;
    }
    Ok(())
}
