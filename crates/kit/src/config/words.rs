//! Schemas of the core's enumerations, which know nothing of JSON Schema.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Value, json};
use signalbox_pricing::ModelStatus;
use signalbox_quality::content::Pii;
use signalbox_routing::Preset;
use signalbox_types::{
    Capability, MaxTokensField, OpenAiEndpoint, Parameter, ReasoningEffort, ReasoningStyle, Tier, VendorKind,
};

fn names<T: Serialize>(all: impl IntoIterator<Item = T>) -> Value {
    all.into_iter().map(|item| serde_json::to_value(item).unwrap_or_default()).collect()
}

fn one_of<T: Serialize>(all: impl IntoIterator<Item = T>) -> Schema {
    json_schema!({ "type": "string", "enum": names(all) })
}

fn list_of<T: Serialize>(all: impl IntoIterator<Item = T>) -> Schema {
    json_schema!({ "type": "array", "items": json!({ "type": "string", "enum": names(all) }) })
}

pub(super) fn capabilities(_: &mut SchemaGenerator) -> Schema {
    list_of(Capability::ALL)
}

pub(super) fn vendor_kind(_: &mut SchemaGenerator) -> Schema {
    one_of(VendorKind::ALL)
}

pub(super) fn tier(_: &mut SchemaGenerator) -> Schema {
    one_of([Tier::Premium, Tier::Standard, Tier::Economy])
}

pub(super) fn status(_: &mut SchemaGenerator) -> Schema {
    one_of(ModelStatus::ALL.map(ModelStatus::name))
}

pub(super) fn read_status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ModelStatus, D::Error> {
    let word = String::deserialize(deserializer)?;
    let found = ModelStatus::ALL.into_iter().find(|status| status.name() == word);
    found.ok_or_else(|| D::Error::custom(format!("unknown status `{word}`")))
}

pub(super) fn preset(_: &mut SchemaGenerator) -> Schema {
    one_of(Preset::ALL.map(Preset::name))
}

pub(super) fn read_preset<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Preset>, D::Error> {
    let word = String::deserialize(deserializer)?;
    let found = Preset::from_name(&word).map(Some);
    found.ok_or_else(|| D::Error::custom(format!("unknown preset `{word}`")))
}

pub(super) fn pii(_: &mut SchemaGenerator) -> Schema {
    let names = names(Pii::ALL.map(Pii::name));
    json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string", "enum": names } })
}

pub(super) fn read_pii<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Pii>>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    let kind = |word: &String| {
        Pii::from_name(word)
            .ok_or_else(|| D::Error::custom(format!("unknown kind of personal data `{word}`")))
    };
    words.iter().map(kind).collect::<Result<_, _>>().map(Some)
}

const EFFORTS: [ReasoningEffort; 7] = [
    ReasoningEffort::None,
    ReasoningEffort::Minimal,
    ReasoningEffort::Low,
    ReasoningEffort::Medium,
    ReasoningEffort::High,
    ReasoningEffort::Xhigh,
    ReasoningEffort::Max,
];

pub(super) fn effort(_: &mut SchemaGenerator) -> Schema {
    one_of(EFFORTS)
}

pub(super) fn efforts(_: &mut SchemaGenerator) -> Schema {
    list_of(EFFORTS)
}

pub(super) fn parameters(_: &mut SchemaGenerator) -> Schema {
    list_of([
        Parameter::Temperature,
        Parameter::TopP,
        Parameter::TopK,
        Parameter::PresencePenalty,
        Parameter::FrequencyPenalty,
        Parameter::Seed,
        Parameter::Stop,
        Parameter::ReasoningEffort,
        Parameter::ParallelToolCalls,
        Parameter::Metadata,
        Parameter::EndUser,
        Parameter::Strict,
        Parameter::ImageDetail,
    ])
}

pub(super) fn openai_endpoint(_: &mut SchemaGenerator) -> Schema {
    one_of([OpenAiEndpoint::Chat, OpenAiEndpoint::ResponsesForTools, OpenAiEndpoint::Responses])
}

pub(super) fn max_tokens_field(_: &mut SchemaGenerator) -> Schema {
    one_of([MaxTokensField::MaxCompletionTokens, MaxTokensField::MaxTokens])
}

pub(super) fn reasoning_style(_: &mut SchemaGenerator) -> Schema {
    one_of([
        ReasoningStyle::Unsupported,
        ReasoningStyle::Effort,
        ReasoningStyle::AnthropicAdaptive,
        ReasoningStyle::AnthropicBudget,
        ReasoningStyle::GeminiLevel,
        ReasoningStyle::GeminiBudget,
        ReasoningStyle::OllamaThink,
        ReasoningStyle::OllamaThinkLevel,
    ])
}
