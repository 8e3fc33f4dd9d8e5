//! When a breaker opens, for how long, and how it closes.

use super::recent::Recent;
use std::time::Duration;

/// The least share that a ramp begins with: from nothing, doubling leads nowhere.
const LEAST_SHARE: f64 = 0.001;

/// When a breaker opens, for how long, and how it closes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakerRules {
    /// Opens at this share of failures ...
    pub failure_share: f64,
    /// ... among at least this many calls (at most 64) ...
    pub min_calls: u32,
    /// ... of the last 64 that are not older than this.
    pub window: Duration,
    /// Or opens after this many broken connections or silences in a row.
    pub consecutive_unreached: u32,
    /// How long it stays open at first; each further opening may last twice as long.
    pub open_for: Duration,
    /// The longest it stays open.
    pub open_at_most: Duration,
    /// Openings are forgotten once it was closed for this long.
    pub forget_after: Duration,
    /// A probe that does not report within this time has failed. Longer than the longest call.
    pub probe_patience: Duration,
    /// The share of calls that passes at the beginning of the ramp.
    pub ramp_start: f64,
    /// The time in which this share doubles.
    pub ramp_step: Duration,
    /// Opens again if a larger share than this fails in the ramp ...
    pub ramp_failure_share: f64,
    /// ... among at least this many calls; and only closes after as many.
    pub ramp_min_calls: u32,
}

impl Default for BreakerRules {
    /// Half of twenty calls: Hystrix's defaults. Five in a row, 30 s, at most 5 minutes: those of Envoy's outlier
    /// detection, which counts timeouts as broken connections too. The ramp of seven doublings and its 20 %: measured in
    /// simulation. The rest are ours.
    fn default() -> Self {
        Self {
            failure_share: 0.5,
            min_calls: 20,
            window: Duration::from_secs(60),
            consecutive_unreached: 5,
            open_for: Duration::from_secs(30),
            open_at_most: Duration::from_secs(300),
            forget_after: Duration::from_secs(300),
            probe_patience: Duration::from_secs(600),
            ramp_start: 0.01,
            ramp_step: Duration::from_secs(1),
            ramp_failure_share: 0.2,
            ramp_min_calls: 5,
        }
    }
}

impl BreakerRules {
    /// Whether so many failures open a closed breaker.
    pub(super) fn trips(&self, calls: u32, failures: u32) -> bool {
        let enough = self.min_calls.clamp(1, Recent::MOST);
        failures > 0 && calls >= enough && f64::from(failures) >= self.failure_share * f64::from(calls)
    }

    /// Whether so many failures end a ramp.
    pub(super) fn reopens(&self, calls: u32, failures: u32) -> bool {
        calls >= self.ramp_min_calls && f64::from(failures) > self.ramp_failure_share * f64::from(calls)
    }

    /// How long to stay open after so many earlier openings: `open_for` the first time, and then any time between that
    /// and its double, fourfold and so on ("full jitter"), so that replicas that opened together ask one by one.
    pub(super) fn open_length(&self, earlier: u32, jitter: f64) -> Duration {
        let doubled = self.open_for.saturating_mul(1 << earlier.min(16)).min(self.open_at_most);
        let extra = doubled.saturating_sub(self.open_for).as_secs_f64() * jitter;
        self.open_for.saturating_add(Duration::try_from_secs_f64(extra).unwrap_or_default())
    }

    /// The share of calls that passes this long after the beginning of a ramp.
    pub(super) fn ramp_share(&self, elapsed: Duration) -> f64 {
        let steps = elapsed.as_nanos().checked_div(self.ramp_step.as_nanos()).unwrap_or(u128::MAX);
        let doublings = i32::try_from(steps).unwrap_or(i32::MAX).min(64);
        (self.ramp_start.max(LEAST_SHARE) * 2f64.powi(doublings)).min(1.0)
    }
}
