//! What requests usually cost, so that scores do not depend on who else is eligible.

use signalbox_routing::{Candidate, Standing};
use signalbox_types::Money;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A running median moves by at most this share towards each new cost, so that it follows within some hundred
/// requests and no single dear one moves it far.
const STEP: f64 = 0.02;

/// What a request of each kind usually costs, a kind being a task type, alias or tier. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct UsualCosts(Arc<Mutex<HashMap<String, Usual>>>);

/// A running median in nano-EUR: a small step up for a cost above it, down for one below (stochastic approximation,
/// Robbins and Monro, 1951). First steps are larger, so that a start far off does not stay.
#[derive(Debug, Clone, Copy)]
struct Usual {
    median: f64,
    seen: f64,
}

impl UsualCosts {
    /// What a request of this kind usually costs; `None` before the first one.
    pub(crate) fn of(&self, kind: &str) -> Option<Money> {
        self.lock().get(kind).map(|usual| Money::from_nano_eur(usual.median as i64))
    }

    /// A request of this kind would cost so much.
    pub(crate) fn learn(&self, kind: &str, cost: Option<Money>) {
        let Some(cost) = cost.map(nanos) else { return };
        let mut all = self.lock();
        match all.get_mut(kind) {
            Some(usual) => usual.learn(cost),
            None => drop(all.insert(kind.to_owned(), Usual { median: cost, seen: 1.0 })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Usual>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Usual {
    fn learn(&mut self, cost: f64) {
        self.seen += 1.0;
        let step = 1.0 + STEP.max(1.0 / self.seen);
        self.median =
            if cost > self.median { (self.median * step).min(cost) } else { (self.median / step).max(cost) };
    }
}

/// The lower median of what the preferred ones with a price would cost, whoever of them is eligible. Servers of one's
/// own cost nothing by the token, which would make every vendor look dear.
pub(super) fn middle(candidates: &[Candidate<'_>]) -> Option<Money> {
    let preferred = |candidate: &&Candidate<'_>| candidate.offer.standing == Standing::Preferred;
    let costs = candidates.iter().filter(preferred).filter_map(|candidate| candidate.cost);
    let mut costs: Vec<Money> = costs.filter(|cost| *cost > Money::ZERO).collect();
    let middle = costs.len().checked_sub(1)? / 2;
    let (_, middle, _) = costs.select_nth_unstable(middle);
    Some(*middle)
}

/// At least one, so that steps lead somewhere from a price of nearly nothing, too.
#[expect(clippy::cast_precision_loss, reason = "costs are compared, not added up")]
fn nanos(cost: Money) -> f64 {
    cost.nano_eur().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_routing::{Chance, Offer};
    use signalbox_types::{ModelFacts, ModelRef};

    fn learnt(costs: impl IntoIterator<Item = i64>) -> i64 {
        let usual = UsualCosts::default();
        costs.into_iter().for_each(|cost| usual.learn("headline", Some(Money::from_nano_eur(cost))));
        usual.of("headline").unwrap().nano_eur()
    }

    #[test]
    fn it_follows_the_median_and_a_single_dear_request_hardly_moves_it() {
        let mut chance = Chance::of("costs");
        let mut cost = || 500_000 + (chance.unit() * 1_000_000.0) as i64;
        let around = learnt((0..2_000).map(|_| cost()));
        assert!((900_000..1_100_000).contains(&around), "{around}");
        let steady = std::iter::repeat_n(1_000_000, 500);
        assert_eq!(learnt(steady.clone().chain([1_000_000_000])), 1_020_000);
        assert_eq!(learnt(steady), 1_000_000);
    }

    #[test]
    fn a_start_far_off_is_left_behind() {
        for start in [1, 100_000_000] {
            let after = learnt(std::iter::once(start).chain(std::iter::repeat_n(1_000_000, 1_000)));
            assert_eq!(after, 1_000_000);
        }
    }

    #[test]
    fn the_middle_is_that_of_the_preferred_ones_with_a_price() {
        let (model, facts) = (ModelRef::new("a", "m"), ModelFacts::default());
        let costing = |cost: i64, standing| {
            let offer = Offer {
                model: &model,
                facts: Some(&facts),
                configured: true,
                served: true,
                held_for: None,
                standing,
            };
            Candidate { cost: Some(Money::from_nano_eur(cost)), ..Candidate::new(offer) }
        };
        use Standing::{LastResort, Preferred, Secondary};
        let all =
            [(0, LastResort), (0, Preferred), (9, Preferred), (4, Preferred), (7, Preferred), (1, Secondary)];
        let all = all.map(|(cost, standing)| costing(cost, standing));
        assert_eq!(middle(&all), Some(Money::from_nano_eur(7)));
        assert_eq!(middle(&all[..2]), None);
    }

    #[test]
    fn kinds_do_not_mix_and_unknown_prices_teach_nothing() {
        let usual = UsualCosts::default();
        usual.learn("headline", Some(Money::from_nano_eur(5)));
        usual.learn("summary", None);
        assert_eq!(usual.of("headline"), Some(Money::from_nano_eur(5)));
        assert_eq!(usual.of("summary"), None);
    }
}
