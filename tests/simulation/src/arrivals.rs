//! When requests come.

use crate::{dice::dice, record::Ask, scenario::Scenario};
use rand::{RngExt, rngs::StdRng};
use std::time::Duration;

/// Requests at random moments, as many a second as the scenario says on average: a Poisson process.
#[derive(Debug)]
pub(crate) struct Arrivals {
    dice: StdRng,
    rate: f64,
    end: Duration,
    at: Duration,
    number: u64,
}

impl Arrivals {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let Scenario { seed, rate, length, .. } = scenario;
        Self { dice: dice(*seed, &[0]), rate: *rate, end: *length, at: Duration::ZERO, number: 0 }
    }
}

impl Iterator for Arrivals {
    type Item = Ask;

    fn next(&mut self) -> Option<Ask> {
        let gap = -(1.0 - self.dice.random::<f64>()).ln() / self.rate;
        self.at += Duration::from_secs_f64(gap);
        self.number += 1;
        (self.at < self.end).then_some(Ask { number: self.number, at: self.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios;

    #[test]
    fn as_many_requests_come_as_the_scenario_says() {
        let scenario = scenarios::calm(500.0, Duration::from_secs(20));
        let asks: Vec<_> = Arrivals::of(&scenario).collect();
        assert!((9_700..10_300).contains(&asks.len()), "{}", asks.len());
        assert!(asks.is_sorted_by_key(|ask| ask.at));
    }
}
