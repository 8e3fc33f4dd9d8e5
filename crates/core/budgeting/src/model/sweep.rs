//! What nobody renewed is taken in hand.

use super::{
    AccountKey, Kind, LeaseState, LedgerModel, Swept,
    lease::{Lease, State},
};
use std::{collections::BTreeSet, time::SystemTime};

impl LedgerModel {
    /// Leases that expired before `now` are orphans; those orphaned before `hopeless` are written off. Reservations that
    /// expired are released.
    pub fn sweep(&mut self, now: SystemTime, hopeless: SystemTime) -> Swept {
        let is_expired = |lease: &Lease| lease.is(State::Alive) && lease.expires_at < now;
        let is_lost = |lease: &Lease| {
            lease.is(State::Orphaned) && lease.orphaned_at.is_some_and(|orphaned_at| orphaned_at < hopeless)
        };
        // Both before anything is done: what is orphaned now is not lost yet.
        let (expired, lost) = (self.that(is_expired), self.that(is_lost));
        for lease in &expired {
            self.orphan(lease, now);
        }
        for lease in &lost {
            self.write_off(lease);
        }
        Swept { orphaned: expired, written_off: lost, released: self.release_expired(now) }
    }

    fn that(&self, is: impl Fn(&Lease) -> bool) -> Vec<LeaseState> {
        self.leases.values().filter(|lease| is(lease)).map(Lease::told).collect()
    }

    fn orphan(&mut self, found: &LeaseState, now: SystemTime) {
        if let Some(lease) = self.leases.get_mut(&found.lease_id) {
            lease.state = State::Orphaned;
            lease.orphaned_at = Some(now);
        }
        if found.outstanding > 0 {
            self.enter(Kind::Orphan, &found.account, found.outstanding, &found.lease_id, "");
        }
    }

    fn write_off(&mut self, found: &LeaseState) {
        if let Some(lease) = self.leases.get_mut(&found.lease_id) {
            lease.state = State::WrittenOff;
            lease.written_off += found.outstanding;
        }
        if found.outstanding > 0 {
            self.line(&found.account).settled += found.outstanding;
            self.enter(Kind::WriteOff, &found.account, found.outstanding, &found.lease_id, "");
        }
    }

    fn release_expired(&mut self, now: SystemTime) -> u64 {
        let expired = self.parts.iter().filter(|(_, part)| part.is_open && part.expires_at < now);
        let expired: Vec<(String, AccountKey)> = expired.map(|(id, _)| id.clone()).collect();
        for (reservation_id, key) in &expired {
            self.release(reservation_id, key, "");
        }
        let reservations: BTreeSet<&String> =
            expired.iter().map(|(reservation_id, _)| reservation_id).collect();
        reservations.len() as u64
    }
}
