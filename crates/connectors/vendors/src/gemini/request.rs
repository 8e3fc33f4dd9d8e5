//! The prompt as a `generateContent` request.

use super::contents::{self, Content};
use super::generation::{self, GenerationConfig};
use crate::adjust::{self, Adjustments};
use crate::codec::{EncodeContext, EncodedCall};
use crate::json;
use serde::Serialize;
use signalbox_types::{Failure, JsonText, Prompt, ReasoningStyle, ToolChoice};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    /// Only inside a token count; elsewhere the path names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_default")]
    generation_config: GenerationConfig<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    /// No key means no arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters_json_schema: Option<&'a JsonText>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    function_calling_config: CallingConfig<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CallingConfig<'a> {
    mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_function_names: Option<[&'a str; 1]>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CountRequest<'a> {
    generate_content_request: Request<'a>,
}

/// The request for an answer.
pub(super) fn generate(context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
    let mut adjustments = Adjustments::default();
    let (config, instruction) = generation::generation(context.facts, prompt, &mut adjustments);
    adjustments.dropped_extras(prompt);
    let system = adjust::with_instruction(&prompt.system, instruction);
    let mut request = request(context, prompt, system.as_deref())?;
    request.generation_config = config;
    let method = if context.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    Ok(EncodedCall {
        path: super::path(context.model, method),
        body: json::write(&request)?,
        adjustments: adjustments.into_vec(),
        ..EncodedCall::default()
    })
}

/// The request for a token count: the same prompt, without what does not change the count.
pub(super) fn count_tokens(context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
    let system = adjust::with_instruction(&prompt.system, None);
    let mut request = request(context, prompt, system.as_deref())?;
    request.model = Some(super::full_name(context.model));
    Ok(EncodedCall {
        path: super::path(context.model, "countTokens"),
        body: json::write(&CountRequest { generate_content_request: request })?,
        ..EncodedCall::default()
    })
}

fn request<'a>(
    context: EncodeContext<'a>,
    prompt: &'a Prompt,
    system: Option<&'a str>,
) -> Result<Request<'a>, Failure> {
    let signed_calls = context.facts.parameters.reasoning == ReasoningStyle::GeminiLevel;
    Ok(Request {
        model: None,
        system_instruction: system.map(contents::system),
        contents: contents::conversation(&prompt.messages, signed_calls)?,
        tools: tools(prompt),
        tool_config: tool_config(prompt),
        generation_config: GenerationConfig::default(),
    })
}

fn tools(prompt: &Prompt) -> Vec<Tools<'_>> {
    if prompt.tools.is_empty() {
        return Vec::new();
    }
    let declarations = prompt.tools.iter().map(|tool| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: tool.parameters.as_ref(),
    });
    vec![Tools { function_declarations: declarations.collect() }]
}

fn tool_config(prompt: &Prompt) -> Option<ToolConfig<'_>> {
    if prompt.tools.is_empty() {
        return None;
    }
    let (mode, allowed_function_names) = match &prompt.tool_choice {
        ToolChoice::Auto => return None,
        ToolChoice::None => ("NONE", None),
        ToolChoice::Required => ("ANY", None),
        ToolChoice::Named(name) => ("ANY", Some([name.as_str()])),
    };
    Some(ToolConfig { function_calling_config: CallingConfig { mode, allowed_function_names } })
}
