//! What a model is told besides the conversation: every value either as the caller set it, or changed and noted.

use super::dialect::{Dialect, EndUserField};
use crate::adjust::{Adjustments, NO_SUCH_PARAMETER, Thinking};
use signalbox_types::{
    ModelFacts, Parameter, ParameterRules, Prompt, ReasoningEffort, ResponseFormat, Sampling,
};
use std::{borrow::Cow, collections::BTreeMap};

/// Longest `safety_identifier`.
const LONGEST_END_USER: usize = 128;

/// Limits of `metadata`: pairs, characters of a key, characters of a value.
const METADATA_LIMITS: (usize, usize, usize) = (16, 64, 512);

/// What is said of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reasoning {
    /// The effort to name; none leaves the model's default.
    pub(super) effort: Option<ReasoningEffort>,
    /// Whether the model will think.
    pub(super) thinks: bool,
}

/// Decides on the effort. A model that cannot be told `none` is told the least that it knows.
pub(super) fn reasoning(rules: &ParameterRules, prompt: &Prompt, adjustments: &mut Adjustments) -> Reasoning {
    let thinking = adjustments.thinking(rules, prompt.reasoning_effort);
    let effort = match thinking {
        Thinking::Default => None,
        Thinking::Effort(effort) => Some(effort),
        Thinking::Off => least_effort(rules, adjustments),
    };
    let thinks =
        effort.map_or_else(|| Thinking::Default.is_on(rules), |effort| effort > ReasoningEffort::None);
    Reasoning { effort, thinks }
}

fn least_effort(rules: &ParameterRules, adjustments: &mut Adjustments) -> Option<ReasoningEffort> {
    let Some(least) = rules.reasoning_efforts.iter().copied().min() else {
        return Some(ReasoningEffort::None);
    };
    if least == ReasoningEffort::None {
        return Some(least);
    }
    if !Thinking::Default.is_on(rules) {
        return None;
    }
    let name = least.name();
    adjustments
        .note(Parameter::ReasoningEffort.field(), format!("changed to {name}: the nearest this model takes"));
    Some(least)
}

/// Temperature and friends, as far as the model takes them.
pub(super) fn sampling(
    dialect: &Dialect,
    rules: &ParameterRules,
    prompt: &Prompt,
    thinks: bool,
    adjustments: &mut Adjustments,
) -> Sampling {
    let wish = &prompt.sampling;
    let mut kept = Sampling {
        temperature: adjustments.accepted(rules, Parameter::Temperature, wish.temperature),
        top_p: adjustments.accepted(rules, Parameter::TopP, wish.top_p),
        top_k: adjustments.accepted(rules, Parameter::TopK, wish.top_k),
        presence_penalty: adjustments.accepted(rules, Parameter::PresencePenalty, wish.presence_penalty),
        frequency_penalty: adjustments.accepted(rules, Parameter::FrequencyPenalty, wish.frequency_penalty),
        seed: adjustments.accepted(rules, Parameter::Seed, wish.seed),
    };
    if !dialect.top_k {
        adjustments.dropped(Parameter::TopK.field(), kept.top_k.take(), NO_SUCH_PARAMETER);
    }
    if thinks && rules.sampling_needs_no_reasoning {
        const WHY: &str = "dropped: not taken while thinking";
        adjustments.dropped(Parameter::Temperature.field(), kept.temperature.take(), WHY);
        adjustments.dropped(Parameter::TopP.field(), kept.top_p.take(), WHY);
    }
    kept
}

/// The stop texts, as many as are taken.
pub(super) fn stop<'a>(
    dialect: &Dialect,
    rules: &ParameterRules,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> &'a [String] {
    let wish = (!prompt.stop.is_empty()).then_some(prompt.stop.as_slice());
    let stop = adjustments.accepted(rules, Parameter::Stop, wish).unwrap_or_default();
    match stop.get(..dialect.most_stops) {
        Some(first) if first.len() < stop.len() => {
            let most = dialect.most_stops;
            adjustments.note(
                Parameter::Stop.field(),
                format!("only the first {most} kept: this vendor takes no more"),
            );
            first
        }
        _ => stop,
    }
}

/// Whether several tools may be called at once; only of use beside tools, and refused without them.
pub(super) fn parallel_tool_calls(
    rules: &ParameterRules,
    prompt: &Prompt,
    adjustments: &mut Adjustments,
) -> Option<bool> {
    let wish = prompt.parallel_tool_calls.filter(|_| !prompt.tools.is_empty());
    adjustments.accepted(rules, Parameter::ParallelToolCalls, wish)
}

/// Whether `strict` is said of a tool.
pub(super) fn strict(
    dialect: &Dialect,
    rules: &ParameterRules,
    wish: Option<bool>,
    adjustments: &mut Adjustments,
) -> Option<bool> {
    if dialect.strict {
        return adjustments.accepted(rules, Parameter::Strict, wish);
    }
    adjustments.dropped(Parameter::Strict.field(), wish, NO_SUCH_PARAMETER);
    None
}

/// The end user's id, where the vendor has a field for it.
pub(super) fn end_user<'a>(
    dialect: &Dialect,
    rules: &ParameterRules,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> Option<&'a str> {
    let field = Parameter::EndUser.field();
    let wish = (!prompt.end_user.is_empty()).then_some(prompt.end_user.as_str());
    let wish = adjustments.accepted(rules, Parameter::EndUser, wish)?;
    match dialect.end_user {
        EndUserField::None => adjustments.note(field, NO_SUCH_PARAMETER),
        EndUserField::SafetyIdentifier if wish.chars().count() > LONGEST_END_USER => {
            adjustments.note(field, "dropped: longer than the 128 characters that this vendor takes");
        }
        EndUserField::SafetyIdentifier | EndUserField::User => return Some(wish),
    }
    None
}

/// The caller's labels, as far as they are within the vendor's limits.
pub(super) fn metadata<'a>(
    dialect: &Dialect,
    rules: &ParameterRules,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> BTreeMap<&'a str, &'a str> {
    let field = Parameter::Metadata.field();
    let wish = (!prompt.metadata.is_empty()).then_some(&prompt.metadata);
    let Some(wish) = adjustments.accepted(rules, Parameter::Metadata, wish) else { return BTreeMap::new() };
    if !dialect.metadata {
        adjustments.note(field, NO_SUCH_PARAMETER);
        return BTreeMap::new();
    }
    let (pairs, key, value) = METADATA_LIMITS;
    let fits = |text: &str, most: usize| text.len() <= most || text.chars().count() <= most;
    let kept = wish.iter().filter(|(name, label)| fits(name, key) && fits(label, value)).take(pairs);
    let kept: BTreeMap<&str, &str> = kept.map(|(name, label)| (name.as_str(), label.as_str())).collect();
    if kept.len() < wish.len() {
        adjustments
            .note(field, "some dropped: this vendor takes 16 pairs, keys of 64 and values of 512 characters");
    }
    kept
}

/// The output limit.
pub(super) fn max_tokens(facts: &ModelFacts, prompt: &Prompt, adjustments: &mut Adjustments) -> Option<u32> {
    adjustments.max_tokens(facts, prompt.max_output_tokens)
}

/// Whether images may say how closely to look.
pub(super) fn takes_image_detail(
    rules: &ParameterRules,
    prompt: &Prompt,
    adjustments: &mut Adjustments,
) -> bool {
    let wish = crate::adjust::wants_image_detail(prompt).then_some(());
    adjustments.accepted(rules, Parameter::ImageDetail, wish).is_some()
}

/// The system text, with the word that OpenAI demands in a prompt for JSON.
pub(super) fn system<'a>(
    dialect: &Dialect,
    prompt: &'a Prompt,
    adjustments: &mut Adjustments,
) -> Option<Cow<'a, str>> {
    const INSTRUCTION: &str = "Answer with a JSON object.";
    let wants_object = prompt.response_format == ResponseFormat::JsonObject;
    let instruction = (dialect.json_word && wants_object && !says_json(prompt)).then(|| {
        adjustments.note(
            "response_format",
            "asked for in the system text too: refused without the word in the prompt",
        );
        Cow::Borrowed(INSTRUCTION)
    });
    crate::adjust::with_instruction(&prompt.system, instruction)
}

fn says_json(prompt: &Prompt) -> bool {
    let texts = prompt.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
        signalbox_types::Part::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let word = |text: &str| text.as_bytes().windows(4).any(|window| window.eq_ignore_ascii_case(b"json"));
    std::iter::once(prompt.system.as_str()).chain(texts).any(word)
}
