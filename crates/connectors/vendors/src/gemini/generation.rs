//! `generationConfig`: sampling, limits, form and thinking.

use crate::adjust::{Adjustments, Thinking};
use serde::Serialize;
use signalbox_types::{
    Capability, JsonText, ModelFacts, Parameter, Prompt, ReasoningEffort, ReasoningStyle, ResponseFormat,
};
use std::borrow::Cow;

/// Most stop texts taken.
const MOST_STOPS: usize = 5;

const FORMAT_FIELD: &str = "response_format";

/// The `generationConfig` field.
#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

impl GenerationConfig<'_> {
    /// Whether nothing was asked for.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
}

/// The configuration, and what must be said in the system text instead.
pub(super) fn generation<'a>(
    facts: &ModelFacts,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> (GenerationConfig<'a>, Option<Cow<'a, str>>) {
    let (rules, wish) = (&facts.parameters, &prompt.sampling);
    note_unsupported(prompt, adjustments);
    let form = form(facts, prompt, adjustments);
    let config = GenerationConfig {
        temperature: adjustments.accepted(rules, Parameter::Temperature, wish.temperature),
        top_p: adjustments.accepted(rules, Parameter::TopP, wish.top_p),
        top_k: adjustments.accepted(rules, Parameter::TopK, wish.top_k),
        seed: seed(facts, prompt, adjustments),
        max_output_tokens: adjustments.max_tokens(facts, prompt.max_output_tokens),
        stop_sequences: stop_sequences(facts, prompt, adjustments),
        response_mime_type: form.mime_type,
        response_json_schema: form.schema,
        thinking_config: thinking(facts, prompt, adjustments),
    };
    (config, form.instruction)
}

fn note_unsupported(prompt: &Prompt, adjustments: &mut Adjustments) {
    const REFUSED: &str = "dropped: this vendor's models refuse penalties";
    let set = |penalty: Option<f64>| penalty.filter(|penalty| *penalty != 0.0);
    adjustments.dropped(Parameter::PresencePenalty.field(), set(prompt.sampling.presence_penalty), REFUSED);
    adjustments.dropped(Parameter::FrequencyPenalty.field(), set(prompt.sampling.frequency_penalty), REFUSED);
}

/// The field is a 32-bit integer.
fn seed(facts: &ModelFacts, prompt: &Prompt, adjustments: &mut Adjustments) -> Option<i32> {
    let seed = adjustments.accepted(&facts.parameters, Parameter::Seed, prompt.sampling.seed)?;
    let fitting = i32::try_from(seed).ok();
    if fitting.is_none() {
        adjustments.note(Parameter::Seed.field(), "dropped: this vendor's seeds have 32 bits");
    }
    fitting
}

fn stop_sequences<'a>(facts: &ModelFacts, prompt: &'a Prompt, adjustments: &mut Adjustments) -> &'a [String] {
    let stop = (!prompt.stop.is_empty()).then_some(prompt.stop.as_slice());
    let stop = adjustments.accepted(&facts.parameters, Parameter::Stop, stop).unwrap_or_default();
    stop.get(..MOST_STOPS).filter(|kept| kept.len() < stop.len()).map_or(stop, |kept| {
        adjustments.note(Parameter::Stop.field(), "all but the first 5 dropped: this vendor takes no more");
        kept
    })
}

#[derive(Debug, Default)]
struct Form<'a> {
    mime_type: Option<&'static str>,
    schema: Option<&'a JsonText>,
    instruction: Option<Cow<'a, str>>,
}

fn form<'a>(facts: &ModelFacts, prompt: &'a Prompt, adjustments: &mut Adjustments) -> Form<'a> {
    let schema = match &prompt.response_format {
        ResponseFormat::Text => return Form::default(),
        ResponseFormat::JsonObject => None,
        ResponseFormat::JsonSchema { schema, .. } => Some(schema),
    };
    // Up to generation 2.5, the models that think by budget and those that do not think.
    let no_json_with_tools = facts.parameters.reasoning != ReasoningStyle::GeminiLevel;
    if no_json_with_tools && !prompt.tools.is_empty() {
        adjustments
            .note(FORMAT_FIELD, "asked for in the system text: this model has no JSON mode with tools");
        return Form { instruction: Some(instruction(schema)), ..Form::default() };
    }
    let mime_type = Some("application/json");
    match schema {
        Some(schema) if !facts.capabilities.has(Capability::JsonSchema) => {
            adjustments.note(FORMAT_FIELD, "schema asked for in the system text: this model enforces none");
            Form { mime_type, instruction: Some(instruction(Some(schema))), schema: None }
        }
        schema => Form { mime_type, schema, instruction: None },
    }
}

fn instruction<'a>(schema: Option<&JsonText>) -> Cow<'a, str> {
    const OBJECT: &str =
        "Give your final answer as one JSON object and nothing else: no text around it and no code fence.";
    match schema {
        None => Cow::Borrowed(OBJECT),
        Some(schema) => Cow::Owned(format!("{OBJECT} It must match this JSON Schema: {}", schema.as_str())),
    }
}

fn thinking(facts: &ModelFacts, prompt: &Prompt, adjustments: &mut Adjustments) -> Option<ThinkingConfig> {
    let rules = &facts.parameters;
    let wish = adjustments.thinking(rules, prompt.reasoning_effort);
    let mut config =
        ThinkingConfig { include_thoughts: prompt.include_reasoning, ..ThinkingConfig::default() };
    match (rules.reasoning, wish) {
        (ReasoningStyle::GeminiLevel | ReasoningStyle::GeminiBudget, Thinking::Default) => {}
        (ReasoningStyle::GeminiLevel, Thinking::Effort(effort)) => {
            config.thinking_level = Some(effort.name());
        }
        // There is no level for not thinking.
        (ReasoningStyle::GeminiLevel, Thinking::Off) => {
            config.thinking_level = Some(lowest_level(facts, adjustments));
        }
        (ReasoningStyle::GeminiBudget, Thinking::Effort(effort)) => {
            config.thinking_budget = Some(budget(effort));
        }
        (ReasoningStyle::GeminiBudget, Thinking::Off) => {
            config.thinking_budget = Some(0);
            config.include_thoughts = false;
        }
        _ => return None,
    }
    (config != ThinkingConfig::default()).then_some(config)
}

fn lowest_level(facts: &ModelFacts, adjustments: &mut Adjustments) -> &'static str {
    let known = facts.parameters.reasoning_efforts.iter().copied();
    let lowest = known.filter(|effort| *effort > ReasoningEffort::None).min();
    let name = lowest.unwrap_or(ReasoningEffort::Minimal).name();
    adjustments.note(
        Parameter::ReasoningEffort.field(),
        format!("changed to {name}: this model cannot stop thinking"),
    );
    name
}

/// The budgets of the vendor's own OpenAI-compatible surface; they fit every model that thinks by budget.
fn budget(effort: ReasoningEffort) -> u32 {
    match effort {
        ReasoningEffort::None | ReasoningEffort::Minimal => 512,
        ReasoningEffort::Low => 1024,
        ReasoningEffort::Medium => 8192,
        ReasoningEffort::High | ReasoningEffort::Xhigh | ReasoningEffort::Max => 24_576,
    }
}
