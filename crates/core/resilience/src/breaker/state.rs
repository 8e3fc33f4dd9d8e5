//! The states of a breaker: as kept, and as shown.

use super::BreakerRules;
use std::time::{Duration, Instant};

/// What calls meet at a breaker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BreakerState {
    /// All pass.
    Closed,
    /// None passes for this much longer.
    Open {
        /// How much longer.
        left: Duration,
    },
    /// One probe passes, and the others wait for its verdict.
    HalfOpen {
        /// The probe is under way.
        probing: bool,
    },
    /// The probe succeeded, and a growing share passes.
    Ramp {
        /// The share, above 0 and at most 1.
        share: f64,
    },
}

/// The state as kept.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    Closed {
        since: Instant,
    },
    /// For `length`, and then as half-open without a probe.
    Open {
        since: Instant,
        length: Duration,
    },
    HalfOpen {
        probe: Option<Instant>,
    },
    Ramp {
        since: Instant,
        calls: u32,
        failures: u32,
    },
}

impl State {
    /// The state as shown now.
    pub(super) fn shown(self, rules: &BreakerRules, now: Instant) -> BreakerState {
        match self {
            Self::Closed { .. } => BreakerState::Closed,
            Self::Open { since, length } => {
                let left = length.saturating_sub(now.saturating_duration_since(since));
                if left.is_zero() {
                    BreakerState::HalfOpen { probing: false }
                } else {
                    BreakerState::Open { left }
                }
            }
            Self::HalfOpen { probe } => BreakerState::HalfOpen { probing: probe.is_some() },
            Self::Ramp { since, .. } => {
                BreakerState::Ramp { share: rules.ramp_share(now.saturating_duration_since(since)) }
            }
        }
    }

    /// Whether a probe has been under way for longer than any call takes.
    pub(super) fn probe_is_lost(self, rules: &BreakerRules, now: Instant) -> bool {
        matches!(self, Self::HalfOpen { probe: Some(sent) }
            if now.saturating_duration_since(sent) >= rules.probe_patience)
    }
}
