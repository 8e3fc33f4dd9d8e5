//! Notices that a window is worse than the one before it.

use crate::{
    minute::Minute,
    scale::{Reading, Scale},
    verdict::{Standing, Verdict},
};
use std::collections::VecDeque;

/// Deviations that chance does not explain. Looked at every minute, fewer would raise alerts by chance alone.
const SIGNIFICANT: f64 = 4.5;
/// What a window of shares that knows little is drawn towards: Beta(1.5, 98.5).
const PRIOR: Reading = Reading { sum: 1.5, of: 100.0 };

/// The last two windows of so many minutes.
#[derive(Debug, Clone)]
pub(crate) struct Surge {
    minutes: u64,
    seen: VecDeque<(Minute, Reading)>,
    /// The window before the surge began: what the windows of an open alert are compared with.
    before: Option<Reading>,
}

/// What makes a surge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) scale: Scale,
    /// So much more than before: 0.5 for half as much again.
    pub(crate) increase: f64,
    pub(crate) least_calls: f64,
    pub(crate) dispersion: f64,
}

impl Surge {
    /// Of windows of so many minutes.
    pub(crate) fn new(minutes: u64) -> Self {
        Self { minutes: minutes.max(1), seen: VecDeque::new(), before: None }
    }

    /// Takes a minute in, and compares the window that ends with it.
    pub(crate) fn judge(&mut self, minute: Minute, reading: Reading, limits: Limits) -> Option<Verdict> {
        self.seen.push_back((minute, reading));
        while self.seen.front().is_some_and(|(at, _)| minute.since(*at) >= 2 * self.minutes) {
            self.seen.pop_front();
        }
        let now = self.sum(|at| minute.since(at) < self.minutes);
        let before = self.before.unwrap_or_else(|| self.sum(|at| minute.since(at) >= self.minutes));
        if before.of <= 0.0 {
            return None;
        }
        let verdict = compare(now, before, limits);
        if verdict.standing == Standing::Breach {
            self.before = Some(before);
        }
        Some(verdict)
    }

    /// The alert is over: the next window is compared with the one before it again.
    pub(crate) fn release(&mut self) {
        self.before = None;
    }

    fn sum(&self, of: impl Fn(Minute) -> bool) -> Reading {
        let seen = self.seen.iter().filter(|(at, _)| of(*at));
        seen.fold(Reading::default(), |sum, (_, reading)| sum.and(*reading))
    }
}

fn compare(now: Reading, before: Reading, limits: Limits) -> Verdict {
    let expected = match limits.scale {
        Scale::Share => limits.scale.bounded(before.and(PRIOR).value()),
        Scale::Ratio => before.value(),
    };
    let (observed, threshold) = (now.value(), expected * (1.0 + limits.increase));
    let enough = now.of >= limits.least_calls && before.of >= limits.least_calls;
    let standing = if observed >= threshold && enough && is_significant(now, before, limits) {
        Standing::Breach
    } else if observed < expected * (1.0 + limits.increase / 2.0) {
        Standing::Calm
    } else {
        Standing::Between
    };
    Verdict { standing, observed, expected, threshold }
}

/// Shares by the usual test of two proportions, means by their logarithms.
fn is_significant(now: Reading, before: Reading, limits: Limits) -> bool {
    let scale = limits.scale;
    let together = scale.level(now.and(before).value());
    let unit = scale.deviation(together) * limits.dispersion;
    let weights = 1.0 / scale.weight(now) + 1.0 / scale.weight(before);
    let away = scale.level(now.value()) - scale.level(before.value());
    away > SIGNIFICANT * unit * weights.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { scale: Scale::Share, increase: 0.5, least_calls: 100.0, dispersion: 1.0 };

    fn judged(minutes: impl IntoIterator<Item = (f64, f64)>) -> Vec<Standing> {
        let mut surge = Surge::new(10);
        let minutes = minutes.into_iter().enumerate();
        let verdicts =
            minutes.map(|(at, (sum, of))| surge.judge(Minute(1000 + at as u64), Reading { sum, of }, LIMITS));
        verdicts.map(|verdict| verdict.map_or(Standing::Between, |verdict| verdict.standing)).collect()
    }

    fn minutes(many: usize, k: f64, n: f64) -> impl Iterator<Item = (f64, f64)> {
        (0..many).map(move |_| (k, n))
    }

    #[test]
    fn a_window_that_is_half_as_bad_again_is_a_breach_when_chance_cannot_explain_it() {
        let many = judged(minutes(10, 20.0, 1000.0).chain(minutes(10, 40.0, 1000.0)));
        assert_eq!(many.last(), Some(&Standing::Breach));
        let few = judged(minutes(10, 1.0, 50.0).chain(minutes(10, 2.0, 50.0)));
        assert!(!few.contains(&Standing::Breach), "{few:?}");
    }

    #[test]
    fn two_of_three_are_none() {
        let few = judged(minutes(10, 0.0, 3.0).chain(minutes(10, 2.0, 3.0)));
        assert!(!few.contains(&Standing::Breach), "{few:?}");
    }

    #[test]
    fn a_failure_that_lasts_is_compared_with_the_time_before_it() {
        let long = judged(minutes(10, 10.0, 1000.0).chain(minutes(200, 100.0, 1000.0)));
        assert_eq!(long.last(), Some(&Standing::Breach));
        let mended = judged(
            minutes(10, 10.0, 1000.0).chain(minutes(50, 100.0, 1000.0)).chain(minutes(10, 10.0, 1000.0)),
        );
        assert_eq!(mended.last(), Some(&Standing::Calm));
    }

    #[test]
    fn the_first_window_has_none_before_it() {
        assert!(judged(minutes(9, 900.0, 1000.0)).iter().all(|standing| *standing == Standing::Between));
    }
}
