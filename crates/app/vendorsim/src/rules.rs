//! Which requests a fault strikes.

use crate::fault::Fault;
use crate::vendor::Vendor;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a request is to its vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// A call that is answered at once.
    Call,
    /// A file comes in.
    Upload,
    /// A batch is handed over.
    Create,
    /// Somebody looks at batches, files or results, or throws them away.
    Read,
    /// A batch is to be stopped.
    Cancel,
    /// A request within a batch. Of all places that have to do with batches, only this one has a model.
    Item,
}

/// Which requests. `None` stands for any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Match {
    /// The vendor.
    pub vendor: Option<Vendor>,
    /// The model, exactly.
    pub model: Option<String>,
    /// What they are to the vendor.
    pub place: Option<Place>,
}

impl Match {
    /// Every request to a vendor.
    #[must_use]
    pub fn vendor(vendor: Vendor) -> Self {
        Self { vendor: Some(vendor), ..Self::default() }
    }

    /// Every request to one model of a vendor.
    #[must_use]
    pub fn model(vendor: Vendor, model: impl Into<String>) -> Self {
        Self { vendor: Some(vendor), model: Some(model.into()), ..Self::default() }
    }

    /// The same, in one place.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place: Some(place), ..self }
    }

    fn covers(&self, vendor: Vendor, model: Option<&str>, place: Place) -> bool {
        self.place.is_none_or(|wanted| wanted == place)
            && self.vendor.is_none_or(|wanted| wanted == vendor)
            && self.model.as_deref().is_none_or(|wanted| Some(wanted) == model)
    }
}

/// How many of the matching requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Times {
    /// All of them.
    #[default]
    Always,
    /// The next so many.
    First(u64),
    /// This share of them, from 0 to 1, evenly spread and without chance: 0.25 strikes every fourth.
    Share(f64),
}

/// A rule, as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Number of the rule.
    pub id: u64,
    /// Which requests.
    pub matching: Match,
    /// What goes wrong.
    pub fault: Fault,
    /// How many of them.
    pub times: Times,
    /// How many requests matched.
    pub seen: u64,
    /// How many were struck.
    pub struck: u64,
}

impl Rule {
    fn strikes(&mut self) -> bool {
        self.seen += 1;
        let strikes = match self.times {
            Times::Always => true,
            Times::First(count) => self.struck < count,
            Times::Share(share) => {
                (self.seen as f64 * share).floor() > ((self.seen - 1) as f64 * share).floor()
            }
        };
        self.struck += u64::from(strikes);
        strikes
    }
}

/// The rules in force.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    next_id: u64,
    rules: Vec<Rule>,
}

impl Rules {
    pub(crate) fn add(&self, matching: Match, fault: Fault, times: Times) -> u64 {
        let mut book = self.lock();
        book.next_id += 1;
        let id = book.next_id;
        book.rules.push(Rule { id, matching, fault, times, seen: 0, struck: 0 });
        id
    }

    pub(crate) fn clear(&self) {
        self.lock().rules.clear();
    }

    pub(crate) fn list(&self) -> Vec<Rule> {
        self.lock().rules.clone()
    }

    /// The fault of the first rule that strikes.
    pub(crate) fn strike(&self, vendor: Vendor, model: Option<&str>, place: Place) -> Option<Fault> {
        let mut book = self.lock();
        let matching = book.rules.iter_mut().filter(|rule| rule.matching.covers(vendor, model, place));
        matching.into_iter().find_map(|rule| rule.strikes().then(|| rule.fault.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strikes(rules: &Rules, model: &str, requests: usize) -> Vec<bool> {
        (0..requests).map(|_| rules.strike(Vendor::Openai, Some(model), Place::Call).is_some()).collect()
    }

    fn rules(matching: Match, times: Times) -> Rules {
        let rules = Rules::default();
        rules.add(matching, Fault::parse("hang").unwrap(), times);
        rules
    }

    #[test]
    fn a_count_runs_out() {
        assert_eq!(strikes(&rules(Match::default(), Times::First(2)), "m", 4), [true, true, false, false]);
    }

    #[test]
    fn a_share_is_spread_evenly() {
        assert_eq!(strikes(&rules(Match::default(), Times::Share(0.5)), "m", 4), [false, true, false, true]);
    }

    #[test]
    fn only_the_model_that_is_meant_is_struck() {
        let rules = rules(Match::model(Vendor::Openai, "m"), Times::Always);
        assert_eq!(strikes(&rules, "other", 1), [false]);
        assert_eq!(strikes(&rules, "m", 1), [true]);
        assert!(rules.strike(Vendor::Xai, Some("m"), Place::Call).is_none());
    }

    #[test]
    fn a_rule_that_ran_out_lets_the_next_one_strike() {
        let rules = rules(Match::default(), Times::First(1));
        rules.add(Match::default(), Fault::parse("down").unwrap(), Times::Always);
        let specs: Vec<_> = (0..2)
            .filter_map(|_| rules.strike(Vendor::Xai, None, Place::Call))
            .map(|f| f.spec().to_owned())
            .collect();
        assert_eq!(specs, ["hang", "down"]);
    }

    #[test]
    fn a_rule_for_one_place_leaves_the_others_alone() {
        let rules = rules(Match::vendor(Vendor::Openai).at(Place::Create), Times::First(1));
        assert!(rules.strike(Vendor::Openai, None, Place::Upload).is_none());
        assert!(rules.strike(Vendor::Openai, None, Place::Create).is_some());
    }
}
