//! The prompt as a messages request.

use super::blocks::{self, Turn};
use super::structured::{self, Format, Structured};
use super::thinking::{self, Plan, ThinkingField};
use crate::adjust::{self, Adjustments, NO_SUCH_PARAMETER};
use crate::codec::{EncodeContext, EncodedCall};
use crate::json;
use serde::Serialize;
use signalbox_types::{Capability, Failure, JsonText, Parameter, ParameterRules, Prompt, ToolChoice};
use std::borrow::Cow;

/// Removed temperature, top_p and top_k for every model.
const VERSION: &str = "2026-10-21";

/// Still takes sampling parameters, for the models that do.
pub(super) const VERSION_WITH_SAMPLING: &str = "2023-06-01";

#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Cow<'a, str>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingField>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    output_config: OutputConfig<'a>,
    #[serde(flatten)]
    sampling: Sampling,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: Schema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Schema<'a> {
    Given(&'a JsonText),
    NoArguments(NoArguments),
}

/// `{"type":"object","properties":{}}`
#[derive(Debug, Serialize)]
struct NoArguments {
    #[serde(rename = "type")]
    kind: &'static str,
    properties: Empty,
}

#[derive(Debug, Serialize)]
struct Empty {}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_parallel_tool_use: Option<bool>,
}

#[derive(Debug, Default, Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

impl OutputConfig<'_> {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

#[derive(Debug, Default, Serialize)]
struct Sampling {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
}

impl Sampling {
    fn version(&self) -> &'static str {
        let unset = self.temperature.is_none() && self.top_p.is_none() && self.top_k.is_none();
        if unset { VERSION } else { VERSION_WITH_SAMPLING }
    }
}

#[derive(Debug, Serialize)]
struct Metadata<'a> {
    user_id: &'a str,
}

/// The request for an answer.
pub(super) fn messages(context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
    let mut adjustments = Adjustments::default();
    let (request, json_tool) = request(context, prompt, &mut adjustments)?;
    Ok(EncodedCall {
        path: "/v1/messages".to_owned(),
        headers: vec![("anthropic-version", request.sampling.version().to_owned())],
        body: json::write(&request)?,
        adjustments: adjustments.into_vec(),
        json_tool: json_tool.map(str::to_owned),
    })
}

/// The request for a token count: the same prompt, without what does not change the count.
pub(super) fn count_tokens(context: EncodeContext<'_>, prompt: &Prompt) -> Result<EncodedCall, Failure> {
    let (mut request, _) = request(context, prompt, &mut Adjustments::default())?;
    request.max_tokens = None;
    request.output_config = OutputConfig::default();
    request.sampling = Sampling::default();
    request.stop_sequences.clear();
    request.metadata = None;
    request.stream = false;
    Ok(EncodedCall {
        path: "/v1/messages/count_tokens".to_owned(),
        headers: vec![("anthropic-version", VERSION.to_owned())],
        body: json::write(&request)?,
        ..EncodedCall::default()
    })
}

fn request<'a>(
    context: EncodeContext<'a>,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> Result<(Request<'a>, Option<&'a str>), Failure> {
    let (facts, rules) = (context.facts, &context.facts.parameters);
    let Plan { thinking, effort, max_tokens, thinks } = thinking::plan(facts, prompt, adjustments);
    let can_force = !thinks && facts.capabilities.has(Capability::ForcedTools);
    let Structured { format, tool, instruction } =
        structured::structured(facts, &prompt.response_format, can_force, adjustments);
    note_unsupported(prompt, adjustments);
    let request = Request {
        model: context.model,
        max_tokens: Some(max_tokens),
        system: adjust::with_instruction(&prompt.system, instruction),
        messages: blocks::conversation(&prompt.messages)?,
        tools: tools(prompt, tool, rules, adjustments),
        tool_choice: tool_choice(prompt, tool.map(|(name, _)| name), can_force, rules, adjustments),
        thinking,
        output_config: OutputConfig { effort, format },
        sampling: sampling(prompt, thinks, rules, adjustments),
        stop_sequences: stop_sequences(prompt, rules, adjustments),
        metadata: metadata(prompt, rules, adjustments),
        stream: context.stream,
    };
    Ok((request, tool.map(|(name, _)| name)))
}

fn note_unsupported(prompt: &Prompt, adjustments: &mut Adjustments) {
    let sampling = &prompt.sampling;
    adjustments.dropped(Parameter::PresencePenalty.field(), sampling.presence_penalty, NO_SUCH_PARAMETER);
    adjustments.dropped(Parameter::FrequencyPenalty.field(), sampling.frequency_penalty, NO_SUCH_PARAMETER);
    adjustments.dropped(Parameter::Seed.field(), sampling.seed, NO_SUCH_PARAMETER);
    adjustments.dropped(Parameter::Metadata.field(), prompt.metadata.first_key_value(), NO_SUCH_PARAMETER);
    let detail = adjust::wants_image_detail(prompt).then_some(());
    adjustments.dropped(Parameter::ImageDetail.field(), detail, NO_SUCH_PARAMETER);
}

fn tools<'a>(
    prompt: &'a Prompt,
    json_tool: Option<(&'a str, &'a JsonText)>,
    rules: &ParameterRules,
    adjustments: &mut Adjustments,
) -> Vec<Tool<'a>> {
    let no_arguments = || Schema::NoArguments(NoArguments { kind: "object", properties: Empty {} });
    let mut tools = Vec::with_capacity(prompt.tools.len() + 1);
    tools.extend(prompt.tools.iter().map(|tool| Tool {
        name: &tool.name,
        description: &tool.description,
        input_schema: tool.parameters.as_ref().map_or_else(no_arguments, Schema::Given),
        strict: adjustments.accepted(rules, Parameter::Strict, tool.strict),
    }));
    tools.extend(json_tool.map(|(name, schema)| Tool {
        name,
        description: "Gives the final answer.",
        input_schema: Schema::Given(schema),
        strict: None,
    }));
    tools
}

fn tool_choice<'a>(
    prompt: &'a Prompt,
    json_tool: Option<&'a str>,
    can_force: bool,
    rules: &ParameterRules,
    adjustments: &mut Adjustments,
) -> Option<Choice<'a>> {
    if prompt.tools.is_empty() && json_tool.is_none() {
        return None;
    }
    let parallel = adjustments.accepted(rules, Parameter::ParallelToolCalls, prompt.parallel_tool_calls);
    let (kind, name) = match (&prompt.tool_choice, json_tool) {
        // The answer is a tool call too: any call will do where the caller's tools may be called.
        (ToolChoice::Auto | ToolChoice::Required, Some(_)) if can_force && !prompt.tools.is_empty() => {
            ("any", None)
        }
        (ToolChoice::Named(name), _) if can_force => ("tool", Some(name.as_str())),
        (_, Some(name)) if can_force => ("tool", Some(name)),
        (ToolChoice::Required, _) if can_force => ("any", None),
        (ToolChoice::Required | ToolChoice::Named(_), _) => {
            adjustments.note(
                "tool_choice",
                "changed to auto: not to be forced while thinking, or not at this model",
            );
            ("auto", None)
        }
        (ToolChoice::None, None) => ("none", None),
        _ if parallel.is_none() => return None,
        _ => ("auto", None),
    };
    let disable_parallel_tool_use = parallel.filter(|_| kind != "none").map(|parallel| !parallel);
    Some(Choice { kind, name, disable_parallel_tool_use })
}

/// Sampling by the rules of the older models, the only ones that take any.
fn sampling(
    prompt: &Prompt,
    thinks: bool,
    rules: &ParameterRules,
    adjustments: &mut Adjustments,
) -> Sampling {
    let wish = &prompt.sampling;
    let mut sampling = Sampling {
        temperature: adjustments.accepted(rules, Parameter::Temperature, wish.temperature),
        top_p: adjustments.accepted(rules, Parameter::TopP, wish.top_p),
        top_k: adjustments.accepted(rules, Parameter::TopK, wish.top_k),
    };
    if thinks {
        const WHY: &str = "dropped: not taken while thinking";
        adjustments.dropped(Parameter::Temperature.field(), sampling.temperature.take(), WHY);
        adjustments.dropped(Parameter::TopP.field(), sampling.top_p.take(), WHY);
        adjustments.dropped(Parameter::TopK.field(), sampling.top_k.take(), WHY);
    }
    if sampling.temperature.is_some() {
        const WHY: &str = "dropped: not taken together with temperature";
        adjustments.dropped(Parameter::TopP.field(), sampling.top_p.take(), WHY);
    }
    if sampling.temperature.is_some_and(|temperature| temperature > 1.0) {
        adjustments.note(Parameter::Temperature.field(), "lowered to 1, the most this vendor takes");
        sampling.temperature = Some(1.0);
    }
    sampling
}

fn stop_sequences<'a>(
    prompt: &'a Prompt,
    rules: &ParameterRules,
    adjustments: &mut Adjustments,
) -> Vec<&'a str> {
    let stop =
        adjustments.accepted(rules, Parameter::Stop, (!prompt.stop.is_empty()).then_some(&prompt.stop));
    let given = stop.map(Vec::as_slice).unwrap_or_default();
    let kept =
        given.iter().map(String::as_str).filter(|stop| !stop.trim_ascii().is_empty()).collect::<Vec<_>>();
    if kept.len() < given.len() {
        adjustments.note(Parameter::Stop.field(), "blank ones dropped: refused by this vendor");
    }
    kept
}

fn metadata<'a>(
    prompt: &'a Prompt,
    rules: &ParameterRules,
    adjustments: &mut Adjustments,
) -> Option<Metadata<'a>> {
    let user = (!prompt.end_user.is_empty()).then_some(prompt.end_user.as_str());
    adjustments.accepted(rules, Parameter::EndUser, user).map(|user_id| Metadata { user_id })
}
