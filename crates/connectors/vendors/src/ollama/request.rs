//! The prompt as a chat request.

use super::messages::{self, Message};
use crate::adjust::{Adjustments, Thinking};
use crate::codec::{EncodeContext, EncodedCall};
use crate::json;
use serde::Serialize;
use signalbox_types::{
    Failure, JsonText, ModelFacts, Parameter, ParameterRules, Prompt, ReasoningEffort, ReasoningStyle,
    ResponseFormat, ToolChoice,
};

#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Think>,
    #[serde(skip_serializing_if = "Options::is_default")]
    options: Options<'a>,
    /// The server's default is true.
    stream: bool,
    /// The server's default is to drop old messages without a word when the window is full.
    truncate: bool,
    /// The server's default is to slide the window while it answers.
    shift: bool,
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
    parameters: Parameters<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Parameters<'a> {
    Given(&'a JsonText),
    None(NoParameters),
}

/// `{"type":"object","properties":{}}`
#[derive(Debug, Serialize)]
struct NoParameters {
    #[serde(rename = "type")]
    kind: &'static str,
    properties: Empty,
}

#[derive(Debug, Serialize)]
struct Empty {}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Format<'a> {
    Word(&'static str),
    Schema(&'a JsonText),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Think {
    Switch(bool),
    Level(&'static str),
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Options<'a> {
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
    num_predict: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
}

impl Options<'_> {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The request for an answer.
pub(super) fn chat(context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
    let mut adjustments = Adjustments::default();
    adjustments.dropped_extras(prompt);
    let request = Request {
        model: context.model,
        messages: messages::conversation(&prompt.system, &prompt.messages)?,
        tools: tools(prompt, &mut adjustments),
        format: format(&prompt.response_format),
        think: think(&context.facts.parameters, prompt, &mut adjustments),
        options: options(context.facts, prompt, &mut adjustments),
        stream: context.stream,
        truncate: false,
        shift: false,
    };
    Ok(EncodedCall {
        path: "/api/chat".to_owned(),
        body: json::write(&request)?,
        adjustments: adjustments.into_vec(),
        ..EncodedCall::default()
    })
}

/// There is no tool choice: none is said by leaving the tools out, and none can be forced.
fn tools<'a>(prompt: &'a Prompt, adjustments: &mut Adjustments) -> Vec<Tool<'a>> {
    match prompt.tool_choice {
        ToolChoice::None => return Vec::new(),
        ToolChoice::Required | ToolChoice::Named(_) => {
            adjustments.note("tool_choice", "changed to auto: this vendor cannot force a tool call");
        }
        ToolChoice::Auto => {}
    }
    let tools = prompt.tools.iter().map(|tool| {
        let none = || Parameters::None(NoParameters { kind: "object", properties: Empty {} });
        let parameters = tool.parameters.as_ref().map_or_else(none, Parameters::Given);
        let function = Function { name: &tool.name, description: &tool.description, parameters };
        Tool { kind: "function", function }
    });
    tools.collect()
}

fn format(wish: &ResponseFormat) -> Option<Format<'_>> {
    match wish {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(Format::Word("json")),
        ResponseFormat::JsonSchema { schema, .. } => Some(Format::Schema(schema)),
    }
}

fn think(rules: &ParameterRules, prompt: &Prompt, adjustments: &mut Adjustments) -> Option<Think> {
    match (rules.reasoning, adjustments.thinking(rules, prompt.reasoning_effort)) {
        (_, Thinking::Default) => None,
        (_, Thinking::Off) => Some(Think::Switch(false)),
        (ReasoningStyle::OllamaThinkLevel, Thinking::Effort(effort)) => Some(Think::Level(level(effort))),
        (_, Thinking::Effort(_)) => {
            adjustments.note(Parameter::ReasoningEffort.field(), "changed to on: this model has no levels");
            Some(Think::Switch(true))
        }
    }
}

fn level(effort: ReasoningEffort) -> &'static str {
    match effort {
        ReasoningEffort::None | ReasoningEffort::Minimal | ReasoningEffort::Low => "low",
        ReasoningEffort::Medium => "medium",
        ReasoningEffort::High | ReasoningEffort::Xhigh => "high",
        ReasoningEffort::Max => "max",
    }
}

fn options<'a>(facts: &ModelFacts, prompt: &'a Prompt, adjustments: &mut Adjustments) -> Options<'a> {
    let (rules, wish) = (&facts.parameters, &prompt.sampling);
    let stop = (!prompt.stop.is_empty()).then_some(prompt.stop.as_slice());
    Options {
        temperature: adjustments.accepted(rules, Parameter::Temperature, wish.temperature),
        top_p: adjustments.accepted(rules, Parameter::TopP, wish.top_p),
        top_k: adjustments.accepted(rules, Parameter::TopK, wish.top_k),
        presence_penalty: adjustments.accepted(rules, Parameter::PresencePenalty, wish.presence_penalty),
        frequency_penalty: adjustments.accepted(rules, Parameter::FrequencyPenalty, wish.frequency_penalty),
        seed: adjustments.accepted(rules, Parameter::Seed, wish.seed),
        num_predict: adjustments.max_tokens(facts, prompt.max_output_tokens),
        stop: adjustments.accepted(rules, Parameter::Stop, stop).unwrap_or_default(),
    }
}
