//! The request for a chat completion.

use super::dialect::{Dialect, EndUserField};
use super::messages::{self, ChatMessage};
use super::parameters::{self, Reasoning};
use crate::adjust::Adjustments;
use crate::codec::EncodeContext;
use serde::Serialize;
use signalbox_types::{
    Failure, JsonText, MaxTokensField, OpenAiEndpoint, ParameterRules, Prompt, ReasoningEffort,
    ResponseFormat, ToolChoice,
};
use std::{borrow::Cow, collections::BTreeMap};

#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    model: &'a str,
    messages: Messages<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    safety_identifier: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

/// The conversation, with the system text before it.
#[derive(Debug)]
struct Messages<'a> {
    system: Option<Cow<'a, str>>,
    conversation: Vec<ChatMessage<'a>>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let system = self.system.as_deref().map(|content| ChatMessage::System { content });
        serializer.collect_seq(system.iter().chain(&self.conversation))
    }
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: Schema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

/// A tool's schema. A tool without arguments has one that says so: not every server does without.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Schema<'a> {
    Given(&'a JsonText),
    NoArguments {
        #[serde(rename = "type")]
        kind: &'static str,
        properties: Nothing,
        #[serde(rename = "additionalProperties")]
        additional_properties: bool,
    },
}

/// `{}`.
#[derive(Debug, Serialize)]
pub(super) struct Nothing {}

impl<'a> Schema<'a> {
    pub(super) fn of(tool: &'a signalbox_types::Tool) -> Self {
        match &tool.parameters {
            Some(schema) => Self::Given(schema),
            None => {
                Self::NoArguments { kind: "object", properties: Nothing {}, additional_properties: false }
            }
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named {
        #[serde(rename = "type")]
        kind: &'static str,
        function: Name<'a>,
    },
}

#[derive(Debug, Serialize)]
struct Name<'a> {
    name: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema { json_schema: NamedSchema<'a> },
}

#[derive(Debug, Serialize)]
struct NamedSchema<'a> {
    name: &'a str,
    schema: &'a JsonText,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    include_obfuscation: Option<bool>,
}

/// The request for an answer.
pub(super) fn request<'a>(
    dialect: &Dialect,
    context: EncodeContext<'a>,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> Result<Request<'a>, Failure> {
    let rules = &context.facts.parameters;
    let Reasoning { effort, thinks } = parameters::reasoning(rules, prompt, adjustments);
    let sampling = parameters::sampling(dialect, rules, prompt, thinks, adjustments);
    let max_tokens = parameters::max_tokens(context.facts, prompt, adjustments);
    let (max_completion_tokens, max_tokens) = match rules.max_tokens_field {
        MaxTokensField::MaxCompletionTokens => (max_tokens, None),
        MaxTokensField::MaxTokens => (None, max_tokens),
    };
    let image_detail = parameters::takes_image_detail(rules, prompt, adjustments);
    let end_user = parameters::end_user(dialect, rules, prompt, adjustments);
    if prompt.include_reasoning && thinks && !dialect.reasoning_content {
        adjustments.note("include_reasoning", "dropped: chat completions do not show the reasoning");
    }
    Ok(Request {
        model: context.model,
        messages: Messages {
            system: parameters::system(dialect, prompt, adjustments),
            conversation: messages::conversation(dialect, &prompt.messages, image_detail)?,
        },
        tools: tools(dialect, rules, prompt, adjustments),
        tool_choice: tool_choice(prompt),
        parallel_tool_calls: parameters::parallel_tool_calls(rules, prompt, adjustments),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        presence_penalty: sampling.presence_penalty,
        frequency_penalty: sampling.frequency_penalty,
        seed: sampling.seed,
        max_completion_tokens,
        max_tokens,
        stop: parameters::stop(dialect, rules, prompt, adjustments),
        response_format: format(dialect, &prompt.response_format),
        reasoning_effort: effort.or_else(|| effort_beside_tools(rules, prompt)).map(ReasoningEffort::name),
        safety_identifier: end_user.filter(|_| dialect.end_user == EndUserField::SafetyIdentifier),
        user: end_user.filter(|_| dialect.end_user == EndUserField::User),
        metadata: parameters::metadata(dialect, rules, prompt, adjustments),
        store: dialect.store.then_some(false),
        stream: context.stream,
        stream_options: context.stream.then(|| StreamOptions {
            include_usage: true,
            include_obfuscation: dialect.store.then_some(false),
        }),
    })
}

/// Models that think on the responses surface only take tools here if told not to think.
fn effort_beside_tools(rules: &ParameterRules, prompt: &Prompt) -> Option<ReasoningEffort> {
    let needed = rules.openai_endpoint == OpenAiEndpoint::ResponsesForTools && !prompt.tools.is_empty();
    (needed && rules.reasoning_efforts.contains(&ReasoningEffort::None)).then_some(ReasoningEffort::None)
}

fn tools<'a>(
    dialect: &Dialect,
    rules: &ParameterRules,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> Vec<Tool<'a>> {
    let function = |tool: &'a signalbox_types::Tool| Function {
        name: &tool.name,
        description: &tool.description,
        parameters: Schema::of(tool),
        strict: parameters::strict(dialect, rules, tool.strict, adjustments),
    };
    prompt.tools.iter().map(function).map(|function| Tool { kind: "function", function }).collect()
}

fn tool_choice(prompt: &Prompt) -> Option<Choice<'_>> {
    if prompt.tools.is_empty() {
        return None;
    }
    match &prompt.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(Choice::Word("none")),
        ToolChoice::Required => Some(Choice::Word("required")),
        ToolChoice::Named(name) => Some(Choice::Named { kind: "function", function: Name { name } }),
    }
}

fn format<'a>(dialect: &Dialect, wish: &'a ResponseFormat) -> Option<Format<'a>> {
    match wish {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(Format::JsonObject),
        ResponseFormat::JsonSchema { name, schema, strict } => {
            let strict = dialect.strict.then_some(*strict);
            Some(Format::JsonSchema { json_schema: NamedSchema { name, schema, strict } })
        }
    }
}
