//! The request for a response.

use super::super::dialect::{Dialect, EndUserField};
use super::super::parameters;
use super::super::request::Schema;
use super::items::{self, Item};
use crate::adjust::{Adjustments, NO_SUCH_PARAMETER};
use crate::codec::EncodeContext;
use serde::Serialize;
use signalbox_types::{
    Failure, JsonText, Parameter, ParameterRules, Prompt, ReasoningEffort, ReasoningStyle, ResponseFormat,
    Sampling, ToolChoice,
};
use std::{borrow::Cow, collections::BTreeMap};

/// Smallest output limit that is taken.
const LEAST_OUTPUT: u32 = 16;

#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<Cow<'a, str>>,
    input: Vec<Item<'a>>,
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
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Thought>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    safety_identifier: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

impl Request<'_> {
    /// The same prompt, without what does not change its token count.
    pub(super) fn only_what_counts(self) -> Self {
        Self {
            temperature: None,
            top_p: None,
            max_output_tokens: None,
            include: &[],
            safety_identifier: None,
            metadata: BTreeMap::new(),
            store: None,
            stream: false,
            ..self
        }
    }
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: Schema<'a>,
    /// Always said: here the default is true.
    strict: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named {
        #[serde(rename = "type")]
        kind: &'static str,
        name: &'a str,
    },
}

#[derive(Debug, Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema { name: &'a str, schema: &'a JsonText, strict: bool },
}

#[derive(Debug, Serialize)]
struct Thought {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

/// The request for an answer.
pub(super) fn request<'a>(
    dialect: &Dialect,
    context: EncodeContext<'a>,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> Result<Request<'a>, Failure> {
    let rules = &context.facts.parameters;
    let parameters::Reasoning { effort, thinks } = parameters::reasoning(rules, prompt, adjustments);
    let sampling = parameters::sampling(dialect, rules, prompt, thinks, adjustments);
    note_unsupported(prompt, &sampling, adjustments);
    let image_detail = parameters::takes_image_detail(rules, prompt, adjustments);
    let end_user = parameters::end_user(dialect, rules, prompt, adjustments);
    Ok(Request {
        model: context.model,
        instructions: parameters::system(dialect, prompt, adjustments),
        input: items::conversation(dialect, &prompt.messages, image_detail)?,
        tools: tools(dialect, rules, prompt, adjustments),
        tool_choice: tool_choice(prompt),
        parallel_tool_calls: parameters::parallel_tool_calls(rules, prompt, adjustments),
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        max_output_tokens: max_output_tokens(context, prompt, adjustments),
        text: text(&prompt.response_format),
        reasoning: thought(effort, prompt.include_reasoning && thinks),
        include: if rules.reasoning == ReasoningStyle::Unsupported {
            &[]
        } else {
            &["reasoning.encrypted_content"]
        },
        safety_identifier: end_user.filter(|_| dialect.end_user == EndUserField::SafetyIdentifier),
        metadata: parameters::metadata(dialect, rules, prompt, adjustments),
        store: Some(false),
        stream: context.stream,
    })
}

/// What chat completions take and this surface does not.
fn note_unsupported(prompt: &Prompt, sampling: &Sampling, adjustments: &mut Adjustments) {
    adjustments.dropped(Parameter::TopK.field(), sampling.top_k, NO_SUCH_PARAMETER);
    adjustments.dropped(Parameter::PresencePenalty.field(), sampling.presence_penalty, NO_SUCH_PARAMETER);
    adjustments.dropped(Parameter::FrequencyPenalty.field(), sampling.frequency_penalty, NO_SUCH_PARAMETER);
    adjustments.dropped(Parameter::Seed.field(), sampling.seed, NO_SUCH_PARAMETER);
    adjustments.dropped(Parameter::Stop.field(), prompt.stop.first(), NO_SUCH_PARAMETER);
}

fn max_output_tokens(
    context: EncodeContext<'_>,
    prompt: &Prompt,
    adjustments: &mut Adjustments,
) -> Option<u32> {
    let limit = parameters::max_tokens(context.facts, prompt, adjustments)?;
    if limit < LEAST_OUTPUT {
        adjustments.note("max_output_tokens", "raised to 16, the least this vendor takes");
    }
    Some(limit.max(LEAST_OUTPUT))
}

fn tools<'a>(
    dialect: &Dialect,
    rules: &ParameterRules,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> Vec<Tool<'a>> {
    let tool = |tool: &'a signalbox_types::Tool| Tool {
        kind: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: Schema::of(tool),
        strict: parameters::strict(dialect, rules, tool.strict, adjustments).unwrap_or_default(),
    };
    prompt.tools.iter().map(tool).collect()
}

fn tool_choice(prompt: &Prompt) -> Option<Choice<'_>> {
    if prompt.tools.is_empty() {
        return None;
    }
    match &prompt.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(Choice::Word("none")),
        ToolChoice::Required => Some(Choice::Word("required")),
        ToolChoice::Named(name) => Some(Choice::Named { kind: "function", name }),
    }
}

fn text(wish: &ResponseFormat) -> Option<Text<'_>> {
    let format = match wish {
        ResponseFormat::Text => return None,
        ResponseFormat::JsonObject => Format::JsonObject,
        ResponseFormat::JsonSchema { name, schema, strict } => {
            Format::JsonSchema { name, schema, strict: *strict }
        }
    };
    Some(Text { format })
}

fn thought(effort: Option<ReasoningEffort>, show: bool) -> Option<Thought> {
    let effort = effort.map(ReasoningEffort::name);
    let summary = show.then_some("auto");
    (effort.is_some() || summary.is_some()).then_some(Thought { effort, summary })
}
