//! A rule's detector at work on one model.

use crate::{
    cusum::Cusum,
    drift::Drift,
    guard,
    minute::Minute,
    rule::{Rule, Test},
    scale::{Expectation, Reading},
    surge::{Limits, Surge},
    verdict::{Standing, Verdict},
};

/// What a rule remembers of one model.
#[derive(Debug, Clone)]
pub(crate) enum Detector {
    Guard,
    Surge(Surge),
    /// Two for the same thing: one is quick, the other patient.
    Baseline(Cusum, Drift),
}

impl Detector {
    pub(crate) fn of(rule: &Rule) -> Self {
        match rule.test {
            Test::Above(_) => Self::Guard,
            Test::Increase { minutes, .. } => Self::Surge(Surge::new(minutes)),
            Test::Times(_) => Self::Baseline(Cusum::default(), Drift::default()),
        }
    }

    /// Takes a whole minute in.
    pub(crate) fn judge(
        &mut self,
        rule: &Rule,
        minute: Minute,
        reading: Reading,
        expected: Option<Expectation>,
    ) -> Option<Verdict> {
        match (self, rule.test) {
            (Self::Guard, Test::Above(limit)) => {
                Some(guard::judge(reading, limit, rule.least_calls, expected))
            }
            (Self::Surge(surge), Test::Increase { by, .. }) => {
                let scale = rule.measure.scale();
                let dispersion = expected.map_or(1.0, |expected| expected.dispersion);
                let limits = Limits { scale, increase: by, least_calls: rule.least_calls, dispersion };
                surge.judge(minute, reading, limits)
            }
            (Self::Baseline(cusum, drift), Test::Times(ratio)) => {
                let expected = expected?;
                cusum.step(reading, expected, ratio);
                drift.step(reading, expected);
                baseline_verdict(cusum, drift, expected, ratio, rule.least_calls)
            }
            _ => None,
        }
    }

    /// Looks at a minute that still runs: only what is bad whatever follows can be told of it.
    pub(crate) fn glance(
        &self,
        rule: &Rule,
        reading: Reading,
        expected: Option<Expectation>,
    ) -> Option<Verdict> {
        match (self, rule.test) {
            (Self::Guard, Test::Above(limit)) => {
                Some(guard::judge(reading, limit, rule.least_calls, expected))
            }
            _ => None,
        }
    }

    /// An alert was closed.
    pub(crate) fn release(&mut self) {
        if let Self::Surge(surge) = self {
            surge.release();
        }
    }
}

fn baseline_verdict(
    cusum: &Cusum,
    drift: &Drift,
    expected: Expectation,
    ratio: f64,
    least_calls: f64,
) -> Option<Verdict> {
    let verdict =
        |standing, observed, threshold| Verdict { standing, observed, expected: expected.value(), threshold };
    let threshold = expected.threshold(ratio);
    if cusum.is_breached(least_calls) {
        return Some(verdict(Standing::Breach, cusum.observed()?, threshold));
    }
    if drift.is_breached(expected, ratio, least_calls) {
        return Some(verdict(Standing::Breach, drift.observed()?, Drift::threshold(expected, ratio)));
    }
    let calm = cusum.is_calm() && drift.is_calm(ratio);
    let standing = if calm { Standing::Calm } else { Standing::Between };
    Some(verdict(standing, cusum.observed()?, threshold))
}
