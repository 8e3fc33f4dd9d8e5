//! Filter and order.

use crate::{Exclusion, Needs, exclusion};
use signalbox_types::{Capabilities, Failure, ModelFacts, ModelRef};
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
    /// A self-hosted model, for when all else fails: kept when the list is cut.
    pub last_resort: bool,
}

/// Which offers to try, in order, and why the others were left out. Indices are those of the offers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// To try, best first.
    pub order: Vec<usize>,
    /// Left out.
    pub excluded: Vec<(usize, Exclusion)>,
}

/// Plans the attempts of a request: at most `most` candidates, in the offers' order, the last resort kept at the end
/// when the list is cut.
pub fn plan(needs: &Needs, offers: &[Offer<'_>], most: usize) -> Plan {
    let mut plan = Plan { order: Vec::with_capacity(offers.len()), excluded: Vec::new() };
    for (index, offer) in offers.iter().enumerate() {
        match unfit(needs, offer).or_else(|| offer.held_for.map(Exclusion::HeldBack)) {
            None => plan.order.push(index),
            Some(why) => plan.excluded.push((index, why)),
        }
    }
    cut(&mut plan.order, offers, most);
    plan
}

fn cut(order: &mut Vec<usize>, offers: &[Offer<'_>], most: usize) {
    let is_last_resort = |index: &usize| offers.get(*index).is_some_and(|offer| offer.last_resort);
    if order.len() <= most || most == 0 {
        return order.truncate(most);
    }
    let saved = order.get(most..).and_then(|beyond| beyond.iter().copied().find(is_last_resort));
    order.truncate(most);
    let has_one = order.iter().any(is_last_resort);
    if let (Some(saved), false, Some(last)) = (saved, has_one, order.last_mut()) {
        *last = saved;
    }
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

impl Plan {
    /// What to tell the caller when nobody can serve: the reason that could be mended soonest comes first.
    pub fn refusal(&self, offers: &[Offer<'_>]) -> Failure {
        let left_out = self.excluded.iter();
        exclusion::refusal(left_out.filter_map(|(index, why)| Some((offers.get(*index)?.model, why))))
    }
}

#[cfg(test)]
mod tests;
