//! One drill: which calls it hits, when it ends, and what came of it.

use super::{tally::Tally, verdict::verdict, wanted::Wanted};
use crate::metrics;
use signalbox_api::{convert, v1};
use signalbox_types::{DrillFault, ModelRef};
use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};
use tokio::time::Instant;

/// Why a drill ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Time,
    Calls,
    Stopped,
    SwitchedOff,
    Refused,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "its time was over",
            Self::Calls => "it had hit as many calls as it might",
            Self::Stopped => "it was stopped",
            Self::SwitchedOff => "`drills.enabled` was switched off",
            Self::Refused => "an adapter refused the fault: set `drills.enabled: true` there too",
        })
    }
}

/// A drill that runs or ran.
#[derive(Debug)]
pub(super) struct Drill {
    name: String,
    wanted: Wanted,
    started_at: SystemTime,
    ends_at: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ended: Option<Ending>,
    tally: Tally,
}

impl Drill {
    pub(super) fn new(name: String, wanted: Wanted, now: Instant, started_at: SystemTime) -> Self {
        let ends_at = now + wanted.duration;
        Self { name, wanted, started_at, ends_at, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    pub(super) fn fault(&self) -> DrillFault {
        self.wanted.fault
    }

    pub(super) fn ends_at(&self) -> Instant {
        self.ends_at
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.wanted.overlaps(&other.wanted)
    }

    /// Whether it still hits calls. Ends it when its time is over.
    pub(super) fn is_running(&self, now: Instant) -> bool {
        if now >= self.ends_at {
            self.end(Ending::Time);
        }
        self.state().ended.is_none()
    }

    /// Whether it looks at a tenant's requests now.
    pub(super) fn compares(&self, tenant: &str, now: Instant) -> bool {
        self.wanted.is_of(tenant) && self.is_running(now)
    }

    /// Whether it hits a call, which then counts as hit.
    pub(super) fn takes(
        &self,
        tenant: &str,
        model: &ModelRef,
        request_id: &str,
        attempt: u32,
        now: Instant,
    ) -> bool {
        let drawn = || lot(&self.name, request_id, attempt) < self.wanted.share;
        if !self.wanted.aims_at(tenant, model) || !self.is_running(now) || !drawn() {
            return false;
        }
        let mut state = self.state();
        if state.ended.is_some() {
            return false;
        }
        state.tally.calls_hit += 1;
        let last = self.wanted.max_calls.is_some_and(|most| state.tally.calls_hit >= most);
        drop(state);
        metrics::drill_hit(&self.wanted.vendor);
        if last {
            self.end(Ending::Calls);
        }
        true
    }

    /// Hits no more calls. The first ending counts.
    pub(super) fn end(&self, ending: Ending) {
        let mut state = self.state();
        if state.ended.is_none() {
            state.ended = Some(ending);
            let hit = state.tally.calls_hit;
            drop(state);
            tracing::info!(drill = self.name, calls_hit = hit, "drill ended: {ending}");
        }
    }

    /// Counts what became of requests.
    pub(super) fn count(&self, count: impl FnOnce(&mut Tally)) {
        count(&mut self.state().tally);
    }

    pub(super) fn to_proto(&self) -> v1::Drill {
        let Wanted { tenant, fault, share, duration, max_calls, .. } = &self.wanted;
        let state = self.state();
        let running = if state.ended.is_some() { v1::drill::State::Ended } else { v1::drill::State::Running };
        v1::Drill {
            name: self.name.clone(),
            target: Some(self.wanted.target()),
            tenant_id: tenant.clone(),
            fault: Some(convert::drill_fault_to_proto(*fault)),
            share: *share,
            duration: Some(convert::duration_to_proto(*duration)),
            state: running as i32,
            verdict: Some(verdict(&self.wanted, &state.tally, state.ended)),
            started_at: Some(self.started_at.into()),
            max_calls: max_calls.unwrap_or_default(),
        }
    }
}

/// A number from 0 to 1 for each attempt of each request, the same for the same ones.
fn lot(drill: &str, request_id: &str, attempt: u32) -> f64 {
    let mut hasher = DefaultHasher::new();
    (drill, request_id, attempt).hash(&mut hasher);
    // The 53 bits that a double can hold.
    (hasher.finish() >> 11) as f64 / (1_u64 << 53) as f64
}
