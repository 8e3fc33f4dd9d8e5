//! How often a model's answers pass the gate.

use signalbox_types::ModelRef;
use std::collections::HashMap;

/// Answers that the prior weighs as much as.
const PRIOR_WEIGHT: f64 = 50.0;
/// Once so many answers have been counted, all counts are halved: a model that changes is noticed again.
const MEMORY: f64 = 4_000.0;
/// A prior nearer to 0 would keep a model from ever being tried, one nearer to 1 says more than can be known.
const PRIOR_BOUNDS: (f64, f64) = (0.01, 0.99);

/// The share of answers that pass, as the mean of a Beta distribution: the prior, moved by what was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassRate {
    prior: f64,
    passed: f64,
    failed: f64,
}

impl PassRate {
    /// Nothing seen yet: the share expected, as from an offline evaluation.
    pub fn new(prior: f64) -> Self {
        let prior = if prior.is_nan() { 0.5 } else { prior.clamp(PRIOR_BOUNDS.0, PRIOR_BOUNDS.1) };
        Self { prior, passed: 0.0, failed: 0.0 }
    }

    /// Counts an answer.
    pub fn record(&mut self, passed: bool) {
        *if passed { &mut self.passed } else { &mut self.failed } += 1.0;
        self.forget();
    }

    /// Adds what another replica has seen since the same start.
    pub fn merge(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.forget();
    }

    /// The share expected now, between 0 and 1 and never either.
    pub fn mean(&self) -> f64 {
        (PRIOR_WEIGHT * self.prior + self.passed) / (PRIOR_WEIGHT + self.seen())
    }

    /// Answers behind it, the prior aside.
    pub fn seen(&self) -> f64 {
        self.passed + self.failed
    }

    fn forget(&mut self) {
        while self.seen() > MEMORY {
            self.passed /= 2.0;
            self.failed /= 2.0;
        }
    }
}

/// Pass rates by model and task type. Holds an entry for each pair recorded: record only names from the catalogue.
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    rates: HashMap<ModelRef, HashMap<Box<str>, PassRate>>,
}

impl Verdicts {
    /// Counts an answer; `prior` is used where it is the first.
    pub fn record(&mut self, model: &ModelRef, task: &str, prior: f64, passed: bool) {
        let tasks = match self.rates.get_mut(model) {
            Some(tasks) => tasks,
            None => self.rates.entry(model.clone()).or_default(),
        };
        match tasks.get_mut(task) {
            Some(rate) => rate.record(passed),
            None => tasks.entry(task.into()).or_insert_with(|| PassRate::new(prior)).record(passed),
        }
    }

    /// The pass rate, where anything was recorded.
    pub fn get(&self, model: &ModelRef, task: &str) -> Option<&PassRate> {
        self.rates.get(model)?.get(task)
    }

    /// The share of answers expected to pass: `prior` where nothing was recorded.
    pub fn mean(&self, model: &ModelRef, task: &str, prior: f64) -> f64 {
        self.get(model, task).copied().unwrap_or_else(|| PassRate::new(prior)).mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_prior_holds_until_enough_is_seen() {
        let mut rate = PassRate::new(0.9);
        assert!((rate.mean() - 0.9).abs() < 1e-12);
        rate.record(false);
        assert!((rate.mean() - 45.0 / 51.0).abs() < 1e-12);
        (0..49).for_each(|_| rate.record(false));
        assert!((rate.mean() - 0.45).abs() < 1e-12);
    }

    #[test]
    fn a_model_that_changes_is_noticed_after_years_of_good_answers() {
        let mut rate = PassRate::new(0.9);
        (0..1_000_000).for_each(|_| rate.record(true));
        assert!(rate.mean() > 0.99);
        (0..4_000).for_each(|_| rate.record(false));
        assert!(rate.mean() < 0.5, "{}", rate.mean());
    }

    #[test]
    fn models_and_tasks_are_kept_apart() {
        let (a, b) = (ModelRef::new("v", "a"), ModelRef::new("v", "b"));
        let mut verdicts = Verdicts::default();
        (0..50).for_each(|_| verdicts.record(&a, "headline", 0.8, false));
        assert!((verdicts.mean(&a, "headline", 0.8) - 0.4).abs() < 1e-12);
        assert!((verdicts.mean(&a, "summary", 0.8) - 0.8).abs() < 1e-12);
        assert!((verdicts.mean(&b, "headline", 0.8) - 0.8).abs() < 1e-12);
        assert!(verdicts.get(&b, "headline").is_none());
    }

    proptest! {
        #[test]
        fn the_mean_is_a_share_and_each_answer_moves_it_its_way(
            prior: f64,
            answers in prop::collection::vec(any::<bool>(), 0..200),
        ) {
            let mut rate = PassRate::new(prior);
            for passed in answers {
                let before = rate.mean();
                rate.record(passed);
                prop_assert!(rate.mean() > 0.0 && rate.mean() < 1.0);
                prop_assert_eq!(rate.mean() > before, passed);
            }
        }

        #[test]
        fn replicas_merge_in_any_order(left in prop::collection::vec(any::<bool>(), 0..100),
                                       right in prop::collection::vec(any::<bool>(), 0..100)) {
            let rate = |answers: &[bool]| {
                let mut rate = PassRate::new(0.7);
                answers.iter().for_each(|&passed| rate.record(passed));
                rate
            };
            let (mut one, mut other) = (rate(&left), rate(&right));
            let whole = rate(&[left, right].concat());
            let right_alone = other;
            other.merge(&one);
            one.merge(&right_alone);
            prop_assert_eq!(one, other);
            prop_assert_eq!(one, whole);
        }
    }
}
