//! How leases come, live on, and go back.

use super::{Wallet, lease::Lease};
use crate::slice;
use signalbox_types::Money;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How long before its end a lease is left alone.
const MARGIN: Duration = Duration::from_secs(10);

/// A lease as the ledger knows it, after a grant or a renewal.
///
/// **T3, the fence.** A replica admits from a lease until 10 s before its end (a sixth of its time where that is
/// less), by its own monotonic clock, counted from when it *sent* the request: the ledger counts from later on. One
/// that stood still between its look at the clock and its hold admits at most its idle money once more; and since the
/// ledger keeps what an expired lease holds until it is settled, this too is within the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant<'a> {
    /// Its id.
    pub lease_id: &'a str,
    /// The budget.
    pub budget_id: &'a str,
    /// The period of it.
    pub period_id: &'a str,
    /// **All** that was granted on this lease so far, so that an answer that was lost or comes twice does no harm.
    pub granted: Money,
    /// How much to keep at hand, see [`slice::SliceRules`].
    pub slice: Money,
    /// When the request for it was sent.
    pub asked_at: Instant,
    /// How long it lives, from then on.
    pub ttl: Duration,
    /// It ends because its period does. Then there is no margin: whoever asks before the end belongs to the period.
    pub ends_with_period: bool,
}

impl Grant<'_> {
    fn fence(&self) -> Instant {
        let margin = if self.ends_with_period { Duration::ZERO } else { MARGIN.min(self.ttl / 6) };
        self.asked_at.checked_add(self.ttl.saturating_sub(margin)).unwrap_or(self.asked_at)
    }
}

/// Money that goes back. It is no longer here: send it until it is taken, under one id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Return {
    /// Of which lease.
    pub lease_id: Arc<str>,
    /// How much.
    pub amount: Money,
}

impl Wallet {
    /// A lease was granted, grew, or was renewed. Answers may come in any order, but not minutes late. The lease of a
    /// later period takes the place of the one before, from which nothing more is admitted.
    pub fn grant(&mut self, grant: &Grant<'_>, now: Instant) {
        let place = self.leases.find(grant.lease_id).unwrap_or_else(|| self.put(grant));
        if let Some(lease) = self.leases.get_mut(place) {
            lease.granted = lease.granted.max(grant.granted.nano_eur());
            lease.slice = grant.slice.nano_eur();
            lease.fence = lease.fence.max(grant.fence());
        }
        self.make_current(grant.budget_id, place, now);
    }

    /// Leases that the ledger no longer knows as living: they expired. Nothing more is admitted from them; what is idle
    /// goes back with the next [`Wallet::tidy`], and requests under way settle as ever.
    pub fn lost<'a>(&mut self, lease_ids: impl IntoIterator<Item = &'a str>, now: Instant) {
        for lease_id in lease_ids {
            if let Some(place) = self.leases.find(lease_id) {
                self.retire(place, now);
            }
        }
    }

    /// The leases to renew: those that were used within `unused_for`, or hold something. Others are left to expire.
    pub fn to_renew(&self, unused_for: Duration, now: Instant) -> impl Iterator<Item = &Arc<str>> {
        let used = move |lease: &&Lease| !lease.is_retired() && !lease.is_unused_for(unused_for, now);
        self.leases.all().filter(used).map(|lease| &lease.id)
    }

    /// Others need the money of a lease: all that is idle beyond `keep` goes back.
    pub fn recall(&mut self, lease_id: &str, keep: Money) -> Option<Return> {
        let place = self.leases.find(lease_id)?;
        let lease = self.leases.get_mut(place)?;
        let beyond = lease.idle().saturating_sub(keep.nano_eur().max(0));
        give_back(lease, beyond)
    }

    /// What is too much for this replica: what is idle beyond two slices (see [`slice::excess`]), and all that is idle in
    /// leases that nobody used for `unused_for` or that are over. Call it every second or so.
    pub fn tidy(&mut self, unused_for: Duration, now: Instant) -> Vec<Return> {
        let expired = |place: &usize| self.leases.get(*place).is_some_and(|lease| lease.has_expired(now));
        let expired: Vec<usize> = self.current.values().copied().filter(expired).collect();
        for place in expired {
            self.retire(place, now);
        }
        let surplus = |lease: &Lease| match lease.is_retired() || lease.is_unused_for(unused_for, now) {
            true => lease.idle(),
            false => slice::excess(lease.idle(), lease.slice),
        };
        let back = self.leases.all_mut().filter_map(|lease| give_back(lease, surplus(lease))).collect();
        self.leases.clear_out(now);
        back
    }

    /// The replica stops: nothing more is admitted, and all that is idle goes back. Call it again when the requests
    /// under way have ended.
    pub fn close(&mut self, now: Instant) -> Vec<Return> {
        self.current.clear();
        let end = |lease: &mut Lease| {
            lease.retire(now);
            give_back(lease, i64::MAX)
        };
        self.leases.all_mut().filter_map(end).collect()
    }

    /// Nothing is leased and nothing held: the wallet may be forgotten.
    pub fn is_empty(&self) -> bool {
        self.leases.all().next().is_none()
    }

    fn put(&mut self, grant: &Grant<'_>) -> usize {
        let [id, budget, period] = [grant.lease_id, grant.budget_id, grant.period_id].map(Arc::from);
        self.leases.put(Lease::new(id, budget, period, grant.asked_at))
    }

    /// Makes this lease the one to spend from, unless one of a later period is; or one of the same period, where this
    /// one was given up before.
    fn make_current(&mut self, budget_id: &str, place: usize, now: Instant) {
        let rank = |place| self.leases.get(place).map(|lease| (lease.period_id.clone(), !lease.is_retired()));
        match self.current.get(budget_id).copied() {
            Some(before) if before == place => return,
            Some(before) if rank(before) > rank(place) => {
                self.retire(place, now);
                return;
            }
            Some(before) => self.retire(before, now),
            None => {}
        }
        if let Some(lease) = self.leases.get_mut(place) {
            lease.revive();
            self.current.insert(lease.budget_id.clone(), place);
        }
    }

    fn retire(&mut self, place: usize, now: Instant) {
        if let Some(lease) = self.leases.get_mut(place) {
            lease.retire(now);
            if self.current.get(&lease.budget_id) == Some(&place) {
                self.current.remove(&lease.budget_id);
            }
        }
    }
}

fn give_back(lease: &mut Lease, amount: i64) -> Option<Return> {
    let taken = lease.take(amount);
    (taken > 0).then(|| Return { lease_id: lease.id.clone(), amount: Money::from_nano_eur(taken) })
}
