//! The rules: what is watched, and by which detector.

use crate::measure::Measure;

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Its name, which alerts carry.
    pub name: &'static str,
    /// What it watches.
    pub measure: Measure,
    /// Of whom.
    pub per: Per,
    /// How.
    pub test: Test,
    /// Calls below which it raises no alert.
    pub least_calls: f64,
}

/// Whose calls are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// Those of each model of each vendor.
    Model,
    /// Those of all models of a vendor.
    Vendor,
}

/// What raises an alert.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Test {
    /// A minute at or above this value.
    Above(f64),
    /// A window with so much more than the one before it: 0.5 for half as much again.
    Increase {
        /// How much more.
        by: f64,
        /// Length of the window.
        minutes: u64,
    },
    /// About so many times what the same hour of the last days leads one to expect; less than 1 for less.
    Times(f64),
}

impl Rule {
    /// The same rule with another threshold, in its own test's unit.
    pub fn with_threshold(mut self, threshold: f64) -> Self {
        self.test = match self.test {
            Test::Above(_) => Test::Above(threshold),
            Test::Increase { minutes, .. } => Test::Increase { by: threshold, minutes },
            Test::Times(_) => Test::Times(threshold),
        };
        self
    }

    /// The same rule with another window, where it has one.
    pub fn with_minutes(mut self, minutes: u64) -> Self {
        if let Test::Increase { by, .. } = self.test {
            self.test = Test::Increase { by, minutes };
        }
        self
    }
}

/// The rules that come with Signalbox.
pub fn shipped() -> Vec<Rule> {
    use Measure::{CostPerCall, FailureRate, FallbackRate, JsonFailureRate, OutputTokens};
    let rule = |name, measure, per, test, least_calls| Rule { name, measure, per, test, least_calls };
    let surge = Test::Increase { by: 0.5, minutes: 10 };
    vec![
        rule("failing-now", FailureRate, Per::Model, Test::Above(0.3), 50.0),
        rule("failure-rate-up", FailureRate, Per::Vendor, surge, 100.0),
        rule("failures-above-baseline", FailureRate, Per::Model, Test::Times(3.0), 20.0),
        rule("fallbacks-above-baseline", FallbackRate, Per::Model, Test::Times(3.0), 20.0),
        rule("json-failures-above-baseline", JsonFailureRate, Per::Model, Test::Times(3.0), 20.0),
        rule("cost-per-call-above-baseline", CostPerCall, Per::Model, Test::Times(2.0), 50.0),
        rule("output-length-above-baseline", OutputTokens, Per::Model, Test::Times(2.0), 50.0),
        rule("output-length-below-baseline", OutputTokens, Per::Model, Test::Times(0.5), 50.0),
    ]
}
