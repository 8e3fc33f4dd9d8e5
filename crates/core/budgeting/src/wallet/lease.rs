//! One lease, as the replica that holds it knows it.

use super::Lack;
use signalbox_types::Money;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How long a lease is remembered after its end. An answer about it that came later would be taken for that of a new
/// lease, with money that is long spent; calls end much sooner than that.
pub(super) const REMEMBERED: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(super) struct Lease {
    pub(super) id: Arc<str>,
    pub(super) budget_id: Arc<str>,
    pub(super) period_id: Arc<str>,
    /// All that was granted so far.
    pub(super) granted: i64,
    /// All that was given back so far.
    pub(super) returned: i64,
    /// What requests that have ended cost.
    spent: i64,
    /// What requests under way may cost.
    held: i64,
    /// Requests under way.
    open: u32,
    /// How much to keep at hand.
    pub(super) slice: i64,
    /// Until when to admit requests, by this replica's own clock.
    pub(super) fence: Instant,
    /// Since when nothing more is admitted, because its period is over or it expired.
    retired: Option<Instant>,
    /// When a request was last admitted from it.
    used_at: Instant,
}

impl Lease {
    pub(super) fn new(id: Arc<str>, budget_id: Arc<str>, period_id: Arc<str>, now: Instant) -> Self {
        Self {
            id,
            budget_id,
            period_id,
            granted: 0,
            returned: 0,
            spent: 0,
            held: 0,
            open: 0,
            slice: 0,
            fence: now,
            retired: None,
            used_at: now,
        }
    }

    /// What may be spent or given back; negative for a debt.
    pub(super) fn idle(&self) -> i64 {
        self.granted.saturating_sub(self.returned).saturating_sub(self.spent).saturating_sub(self.held)
    }

    pub(super) fn is_usable(&self, now: Instant) -> bool {
        !self.is_retired() && now < self.fence
    }

    /// What costs nothing is admitted whatever the lease's time and money.
    pub(super) fn admits(&self, amount: i64, now: Instant) -> bool {
        !self.is_retired() && (amount == 0 || (now < self.fence && self.idle() >= amount))
    }

    pub(super) fn begin(&mut self, amount: i64, now: Instant) {
        self.open += 1;
        self.used_at = self.used_at.max(now);
        self.hold(amount);
    }

    pub(super) fn hold(&mut self, amount: i64) {
        self.held = self.held.saturating_add(amount);
    }

    pub(super) fn end(&mut self, held: i64, cost: i64) {
        self.open = self.open.saturating_sub(1);
        self.held = self.held.saturating_sub(held);
        self.spent = self.spent.saturating_add(cost);
    }

    /// Takes up to so much of what is idle; how much it was.
    pub(super) fn take(&mut self, amount: i64) -> i64 {
        let taken = amount.min(self.idle()).max(0);
        self.returned += taken;
        taken
    }

    pub(super) fn is_unused_for(&self, time: Duration, now: Instant) -> bool {
        self.open == 0 && now.saturating_duration_since(self.used_at) >= time
    }

    pub(super) fn is_retired(&self) -> bool {
        self.retired.is_some()
    }

    pub(super) fn retire(&mut self, now: Instant) {
        self.retired.get_or_insert(now);
    }

    pub(super) fn revive(&mut self) {
        self.retired = None;
    }

    /// Nobody holds anything of it, and no answer about it can still be on its way.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let is_late = |since| now.saturating_duration_since(since) >= REMEMBERED;
        self.open == 0 && self.idle() <= 0 && self.retired.is_some_and(is_late)
    }

    /// It was not renewed for so long that the ledger has let it expire.
    pub(super) fn has_expired(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.fence) >= REMEMBERED
    }

    pub(super) fn lack(&self) -> Lack {
        Lack { budget_id: self.budget_id.to_string(), idle: Some(Money::from_nano_eur(self.idle())) }
    }
}
