//! What a vendor offers for a request, and whether that fits.

use crate::{Exclusion, Needs};
use signalbox_types::{Capabilities, ModelFacts, ModelRef};
use std::time::Duration;

/// A model that a request's names lead to, and how things stand with it now.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Its name.
    pub model: &'a ModelRef,
    /// What it can do; `None` where the catalogue does not know it.
    pub facts: Option<&'a ModelFacts>,
    /// Whether its vendor is configured where calls are made.
    pub configured: bool,
    /// Whether its vendor still serves it.
    pub served: bool,
    /// The vendor asked not to be called for this much longer.
    pub held_for: Option<Duration>,
    /// When its turn comes.
    pub standing: Standing,
}

/// When the turn of a model comes, whatever its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Standing {
    /// Among the first choices.
    #[default]
    Preferred,
    /// After every preferred one.
    Secondary,
    /// After all others: a self-hosted model, for when all else fails. Kept when the list is cut.
    LastResort,
}

/// Why an offer cannot serve the request, now or later.
pub(crate) fn unfit(needs: &Needs, offer: &Offer<'_>) -> Option<Exclusion> {
    let Some(facts) = offer.facts else { return Some(Exclusion::Unknown) };
    if !offer.configured {
        return Some(Exclusion::NotConfigured);
    }
    if !offer.served {
        return Some(Exclusion::Retired);
    }
    let missing = needs.capabilities.without(facts.capabilities);
    if missing != Capabilities::NONE {
        return Some(Exclusion::Lacks(missing));
    }
    if !fits(needs, facts.context_window) {
        let needed = needs.prompt_tokens.saturating_add(needs.answer_tokens);
        return Some(Exclusion::WindowTooSmall { needed, window: facts.context_window });
    }
    None
}

/// The count is an estimate that can be a quarter too high, so a prompt is turned away only when it would not fit
/// even then; the vendor has the last word. A window of 0 is unknown.
fn fits(needs: &Needs, window: u32) -> bool {
    let at_least = needs.prompt_tokens - needs.prompt_tokens / 4;
    window == 0 || at_least <= u64::from(window)
}

#[cfg(test)]
mod tests;
