//! May a request be looked up, and may its answer be kept?

mod reason;
#[cfg(test)]
mod tests;
mod time_words;

pub use reason::Reason;
pub use time_words::speaks_of_now;

use crate::{Canonical, Semantic, TaskPolicy};
use signalbox_types::{
    CachePolicy, FinishReason, GenerateRequest, ImageSource, Message, Part, Purpose, ToolChoice,
};

/// Most bytes of an answer that is kept.
pub const LARGEST_ANSWER: usize = 256 * 1024;
/// Most turns before the last one of a request that is matched by meaning.
pub const MOST_TURNS_BEFORE: usize = 2;

/// What is known of a request beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// It was marked as sensitive, or a content policy found personal data in it.
    pub is_sensitive: bool,
}

/// How a request may be matched, or its answer found. It may always be exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    /// Also to requests that are equal but for their typesetting.
    pub normalised: bool,
    /// Also by meaning.
    pub semantic: Semantic,
    /// Why not in every way that the policy allows.
    pub narrowed: Option<Reason>,
}

/// Whether a request may be looked up, and how. The error is the reason for a bypass.
pub fn may_look_up(
    request: &GenerateRequest,
    canonical: &Canonical<'_>,
    policy: &TaskPolicy,
    facts: Facts,
) -> Result<Allowed, Reason> {
    match request.cache {
        CachePolicy::Refresh | CachePolicy::Bypass => Err(Reason::Mode),
        CachePolicy::Default | CachePolicy::ExactOnly => cacheable(request, canonical, policy, facts),
    }
}

/// Whether an answer may be kept, and how it may be found. The error is the reason why not.
pub fn may_store(
    request: &GenerateRequest,
    canonical: &Canonical<'_>,
    policy: &TaskPolicy,
    facts: Facts,
    answer: &[Part],
    finish_reason: FinishReason,
) -> Result<Allowed, Reason> {
    if request.cache == CachePolicy::Bypass {
        return Err(Reason::Mode);
    }
    let allowed = cacheable(request, canonical, policy, facts)?;
    match unfit(answer, finish_reason) {
        Some(reason) => Err(reason),
        None => Ok(allowed),
    }
}

fn cacheable(
    request: &GenerateRequest,
    canonical: &Canonical<'_>,
    policy: &TaskPolicy,
    facts: Facts,
) -> Result<Allowed, Reason> {
    match barred(request, policy, facts) {
        Some(reason) => Err(reason),
        None => Ok(ways(request, canonical, policy)),
    }
}

/// Why a request has nothing to do with the cache, whatever its [`CachePolicy`]. Cheap: nothing is digested, so that who
/// would have to ask somebody else can look first.
pub fn barred(request: &GenerateRequest, policy: &TaskPolicy, facts: Facts) -> Option<Reason> {
    let prompt = &request.prompt;
    // Unset leaves it to the vendor: who says nothing does not ask for variety.
    let is_hot = prompt.sampling.temperature.is_some_and(|t| t.is_nan() || t > policy.temperature_at_most);
    let may_call = !prompt.tools.is_empty() && prompt.tool_choice != ToolChoice::None;
    let may_change = |image: &signalbox_types::Image| matches!(image.source, ImageSource::Url(_));
    // In this order: what costs nothing to find out first, and the text last.
    [
        (!policy.exact, Reason::Disabled),
        (facts.is_sensitive, Reason::Sensitive),
        (may_call, Reason::Tools),
        (is_hot, Reason::Temperature),
        (prompt.images().any(may_change), Reason::ImageUrl),
    ]
    .into_iter()
    .find_map(|(is_so, reason)| is_so.then_some(reason))
    .or_else(|| asks_for_now(&prompt.messages).then_some(Reason::TimeWords))
}

/// What the last turn asks. Content is a matter of the past whatever it speaks of.
fn asks_for_now(messages: &[Message]) -> bool {
    messages.last().is_some_and(|last| {
        last.parts.iter().any(|part| match part {
            Part::Text { purpose: Purpose::Content, .. } => false,
            Part::Text { text, .. } => speaks_of_now(text),
            _ => false,
        })
    })
}

/// In which ways a request may be matched beside exactly.
fn ways(request: &GenerateRequest, canonical: &Canonical<'_>, policy: &TaskPolicy) -> Allowed {
    let is_whole = canonical.instruction().is_some_and(super::Instruction::is_in_one_place);
    let only_exact = [
        (request.cache == CachePolicy::ExactOnly, Reason::Mode),
        // A seed asks for the same answer to the same words, not to others.
        (request.prompt.sampling.seed.is_some(), Reason::Seed),
        (!is_whole, Reason::Instruction),
    ];
    if let Some((_, reason)) = only_exact.into_iter().find(|(is_so, _)| *is_so) {
        return Allowed { normalised: false, semantic: Semantic::Off, narrowed: Some(reason) };
    }
    let normalised = policy.normalized;
    if policy.semantic != Semantic::Off && request.prompt.messages.len() > MOST_TURNS_BEFORE + 1 {
        return Allowed { normalised, semantic: Semantic::Off, narrowed: Some(Reason::History) };
    }
    Allowed { normalised, semantic: policy.semantic, narrowed: None }
}

/// Why an answer is not given again, whatever was asked.
fn unfit(answer: &[Part], finish_reason: FinishReason) -> Option<Reason> {
    let mut size = 0;
    let mut is_empty = true;
    for part in answer {
        match part {
            Part::Text { text, .. } => {
                is_empty &= text.trim().is_empty();
                size += text.len();
            }
            Part::Reasoning(reasoning) => {
                size += reasoning.text.len() + reasoning.signature.as_ref().map_or(0, String::len);
            }
            Part::ToolCall(_) | Part::ToolResult(_) => return Some(Reason::ToolCall),
            Part::Image(_) => return Some(Reason::Image),
        }
    }
    match finish_reason {
        FinishReason::Stop | FinishReason::StopSequence => {}
        FinishReason::Refusal => return Some(Reason::Refusal),
        FinishReason::ToolCalls | FinishReason::MalformedToolCall => return Some(Reason::ToolCall),
        FinishReason::Unknown
        | FinishReason::Length
        | FinishReason::ContentFilter
        | FinishReason::ContextExceeded
        | FinishReason::Pause => return Some(Reason::FinishReason),
    }
    if is_empty {
        return Some(Reason::Empty);
    }
    (size > LARGEST_ANSWER).then_some(Reason::TooLarge)
}
