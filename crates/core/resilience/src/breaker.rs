//! May a call pass at all: the circuit breaker of one vendor and model.
//!
//! ```text
//! Closed ── too many failures ──► Open ── its time is over ──► HalfOpen: one probe
//!   ▲                              ▲ ▲                            │       │
//!   │                              │ └──────── it fails ──────────┘       │
//!   │                              │                                 it succeeds
//!   │                     over 20 % fail                                  │
//!   └─ 100 %, still clean ────── Ramp: 1 %, doubling each second ◄────────┘
//! ```
//!
//! A vendor that comes back is weak: in simulation, one that regained its capacity over ten seconds failed 33 calls and
//! was shut out again when all traffic returned at once, and 12 with a ramp, without a second outage.
//!
//! Whether to call a vendor though its breaker is open, because no other is left, is the planner's decision: such a
//! call has no permit and is not recorded.

mod recent;
mod rules;
mod state;

use crate::{Outcome, unit::unit};
use recent::Recent;
use state::State;
use std::time::Instant;

pub use rules::BreakerRules;
pub use state::BreakerState;

/// Leave for one call. It is spent by [`Breaker::record`], so that no call is counted twice.
///
/// A call that ends in any way must be recorded; one that was dropped or cancelled as [`Outcome::Neutral`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a call that is not recorded keeps its probe's place"]
pub struct Permit {
    epoch: u64,
}

/// The circuit breaker of one vendor and model.
#[derive(Debug, Clone)]
pub struct Breaker {
    rules: BreakerRules,
    state: State,
    /// How often it opened: a call let through before it last opened says nothing of the vendor since.
    epoch: u64,
    /// Openings without a good while between.
    openings: u32,
    recent: Recent,
    /// Broken connections and silences in a row.
    unreached: u32,
}

impl Breaker {
    /// A closed breaker.
    pub fn new(rules: BreakerRules, now: Instant) -> Self {
        Self {
            rules,
            state: State::Closed { since: now },
            epoch: 0,
            openings: 0,
            recent: Recent::new(now),
            unreached: 0,
        }
    }

    /// What calls meet now.
    pub fn state(&self, now: Instant) -> BreakerState {
        self.state.shown(&self.rules, now)
    }

    /// Asks leave for one call. `random`, from 0 to 1, draws the lot of the ramp (or the jitter of an opening).
    pub fn admit(&mut self, now: Instant, random: f64) -> Option<Permit> {
        match self.state(now) {
            BreakerState::Closed => {}
            BreakerState::Open { .. } => return None,
            BreakerState::HalfOpen { probing: false } => self.state = State::HalfOpen { probe: Some(now) },
            BreakerState::HalfOpen { probing: true } => {
                // A probe that never reports must not shut the vendor out for ever.
                if self.state.probe_is_lost(&self.rules, now) {
                    self.open(now, random);
                }
                return None;
            }
            BreakerState::Ramp { share } if lot(random) < share => {}
            BreakerState::Ramp { .. } => return None,
        }
        Some(Permit { epoch: self.epoch })
    }

    /// Records how a call ended. `random`, from 0 to 1, is the jitter of an opening.
    pub fn record(&mut self, permit: Permit, outcome: Outcome, now: Instant, random: f64) {
        if permit.epoch != self.epoch {
            return;
        }
        if outcome == Outcome::Neutral {
            // A probe without a verdict makes place for the next.
            if let State::HalfOpen { probe } = &mut self.state {
                *probe = None;
            }
            return;
        }
        self.count_unreached(outcome);
        match self.state {
            State::Closed { .. } => self.record_closed(outcome, now, random),
            State::HalfOpen { .. } if outcome.is_failure() => self.open(now, random),
            State::HalfOpen { .. } => self.state = State::Ramp { since: now, calls: 0, failures: 0 },
            State::Ramp { since, calls, failures } => {
                let (calls, failures) = (calls + 1, failures + u32::from(outcome.is_failure()));
                self.state = State::Ramp { since, calls, failures };
                self.record_ramp(calls, failures, now, random);
            }
            // No permit of this epoch was given yet.
            State::Open { .. } => {}
        }
    }

    fn record_closed(&mut self, outcome: Outcome, now: Instant, random: f64) {
        self.recent.push(outcome.is_failure(), self.rules.window, now);
        if self.is_unreachable() || self.rules.trips(self.recent.calls(), self.recent.failures()) {
            self.open(now, random);
        }
    }

    fn record_ramp(&mut self, calls: u32, failures: u32, now: Instant, random: f64) {
        if self.is_unreachable() || self.rules.reopens(calls, failures) {
            self.open(now, random);
        } else if calls >= self.rules.ramp_min_calls
            && matches!(self.state(now), BreakerState::Ramp { share } if share >= 1.0)
        {
            self.state = State::Closed { since: now };
        }
    }

    fn open(&mut self, now: Instant, random: f64) {
        if let State::Closed { since } = self.state
            && now.saturating_duration_since(since) >= self.rules.forget_after
        {
            self.openings = 0;
        }
        let length = self.rules.open_length(self.openings, unit(random));
        self.openings = self.openings.saturating_add(1);
        self.epoch += 1;
        self.recent.clear();
        self.state = State::Open { since: now, length };
    }

    fn count_unreached(&mut self, outcome: Outcome) {
        let unreached = matches!(outcome, Outcome::Transport | Outcome::Timeout);
        self.unreached = if unreached { self.unreached.saturating_add(1) } else { 0 };
    }

    fn is_unreachable(&self) -> bool {
        self.unreached >= self.rules.consecutive_unreached.max(1)
    }
}

/// The lot of a ramp, below 1: a full share admits everyone.
fn lot(random: f64) -> f64 {
    // What is not a number admits nobody before the ramp's end.
    let random = if random.is_nan() { 1.0 } else { unit(random) };
    random.min(1.0 - f64::EPSILON)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
