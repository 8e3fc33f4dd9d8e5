//! What a budget does on the way to its limit.

mod check;
mod combine;
mod effect;
mod latch;
mod notice;

pub use combine::{Standing, strictest};
pub use effect::Effect;
pub use latch::{InForce, Latch};
pub use notice::{Notice, Noticed};

use crate::period::Period;
use signalbox_types::FieldViolation;
use std::fmt;

/// A point on the way to the limit, and what happens from there on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Share of the limit, above 0 to 1, spent and held together.
    pub used_share: f64,
    /// Only while less than this share of the period has passed, above 0 to 1; `None` for always.
    pub before_elapsed_share: Option<f64>,
    /// What happens.
    pub effect: Effect,
}

impl Threshold {
    fn is_in_time(&self, elapsed_share: Option<f64>) -> bool {
        match (self.before_elapsed_share, elapsed_share) {
            (Some(before), Some(elapsed)) => elapsed < before,
            _ => true,
        }
    }

    fn is_reached(&self, at: &Position<'_>) -> bool {
        at.used_share >= self.used_share && self.is_in_time(at.elapsed_share)
    }
}

/// What a limit means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Enforcement {
    /// It is not exceeded. At the limit only models that cost nothing are left, unless a threshold there says otherwise.
    Hard,
    /// Beyond it the cheapest models serve, and the operators are told. It never refuses.
    Soft,
}

/// Where a budget stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position<'a> {
    /// The running period.
    pub period_id: &'a str,
    /// See [`used_share`].
    pub used_share: f64,
    /// How much of the period has passed; `None` for a prepaid budget.
    pub elapsed_share: Option<f64>,
}

/// Which share of a limit is spent and held. All of a limit of nothing is.
pub fn used_share(used: i64, limit: i64) -> f64 {
    if limit <= 0 { 1.0 } else { used.max(0) as f64 / limit as f64 }
}

/// The thresholds of a budget, checked, and what its limit itself does.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    list: Vec<Threshold>,
}

impl Thresholds {
    /// Checks a budget's thresholds. To those is added what happens at the limit where none says so.
    ///
    /// # Errors
    /// All that is wrong, each with its field, as in `thresholds[1].used_share`.
    pub fn new(
        mut list: Vec<Threshold>,
        period: Period,
        enforcement: Enforcement,
    ) -> Result<Self, Vec<FieldViolation>> {
        let violations = check::violations(&list, period, enforcement);
        if !violations.is_empty() {
            return Err(violations);
        }
        list.extend(at_limit(&list, enforcement));
        Ok(Self { list })
    }
}

/// What a limit does by itself: the cheapest models, or those that cost nothing. Where the budget's own threshold at its
/// limit is one that only tells, or acts for a part of the period, this is beside it.
fn at_limit(list: &[Threshold], enforcement: Enforcement) -> Option<Threshold> {
    let effect = match enforcement {
        Enforcement::Hard => Effect::FreeOnly,
        Enforcement::Soft => Effect::LimitTier(signalbox_types::Tier::Economy),
    };
    let is_said = |own: &Threshold| {
        own.used_share >= 1.0 && own.before_elapsed_share.is_none() && own.effect != Effect::Notify
    };
    let own = Threshold { used_share: 1.0, before_elapsed_share: None, effect };
    (!list.iter().any(is_said)).then_some(own)
}

/// A share as people write it, as in `90%` or `92.5%`.
#[derive(Debug, Clone, Copy)]
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:.2}", self.0 * 100.0);
        write!(f, "{}%", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests;
