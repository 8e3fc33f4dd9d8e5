//! The slices of rate limits that a replica holds for a tenant.

mod own;
mod rate;

use own::Own;
use rate::Rate;
use signalbox_api::v1;
use signalbox_budgeting::rates::{RateHold, RateWallet};
use signalbox_ports::{RateLeft, RatesLeft};
use std::time::Duration;
use tokio::time::Instant;

/// Slices in places that stay the same.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    places: Vec<Rate>,
    /// Replicas among which a limit is parted that nobody hands out.
    pub(crate) replicas: u32,
}

/// What one request took of all its limits.
#[derive(Debug, Default)]
#[must_use = "what is not settled counts as under way"]
pub(crate) struct RatesTaken {
    priority: i32,
    /// By place.
    holds: Vec<(usize, Held)>,
}

/// What it took of one.
#[derive(Debug)]
enum Held {
    Slice(RateHold),
    /// So many tokens of the replica's own part.
    Own(u64),
}

/// What is lacking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateLack {
    /// A larger slice: so many tokens at least.
    Slice(u64),
    /// The replica's own part is used up.
    Own,
}

/// What of a slice goes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unused {
    pub(crate) lease_id: String,
    pub(crate) requests: u64,
    pub(crate) tokens: u64,
    /// Nothing is under way.
    pub(crate) end: bool,
}

impl Rates {
    /// A slice was granted to requests of a priority, for which it was asked then. Its place.
    pub(crate) fn granted(
        &mut self,
        lease: &v1::Lease,
        slice: &v1::RateSlice,
        priority: i32,
        asked_at: Instant,
        ttl: Duration,
    ) -> usize {
        let same = |rate: &Rate| rate.level == slice.level() && rate.name == slice.name;
        let place = self.places.iter().position(same).unwrap_or_else(|| {
            self.places.push(Rate::new(slice, asked_at));
            self.places.len() - 1
        });
        if let Some(rate) = self.places.get_mut(place) {
            rate.lease_id.clone_from(&lease.lease_id);
            rate.limit = slice.limit.unwrap_or_default();
            match slice.own_part {
                true => rate.go_alone(asked_at + ttl),
                false => rate.grant(slice, priority, asked_at, ttl),
            }
        }
        place
    }

    /// The places of requests under way are kept on; nothing is added to what is left.
    pub(crate) fn renewed(
        &mut self,
        lease: &v1::Lease,
        slice: &v1::RateSlice,
        asked_at: Instant,
        ttl: Duration,
    ) {
        if let Some(rate) = self.places.iter_mut().find(|rate| rate.lease_id == lease.lease_id) {
            let priorities: Vec<i32> = rate.by_priority.keys().copied().collect();
            let nothing = v1::RateSlice { granted_requests: 0, granted_tokens: 0, ..slice.clone() };
            priorities.into_iter().for_each(|priority| rate.grant(&nothing, priority, asked_at, ttl));
        }
    }

    /// The service no longer knows the lease: what is left of it must not be spent.
    pub(crate) fn lost(&mut self, lease_id: &str, now: Instant) {
        if let Some(rate) = self.places.iter_mut().find(|rate| rate.lease_id == lease_id) {
            rate.end(now);
        }
    }

    /// Takes a request and its tokens from each of the places, or from none.
    ///
    /// # Errors
    /// What is lacking.
    pub(crate) fn try_take(
        &mut self,
        places: &[usize],
        priority: i32,
        tokens: u64,
        now: Instant,
    ) -> Result<RatesTaken, RateLack> {
        if places.iter().filter_map(|place| self.places.get(*place)).any(|rate| rate.is_alone(now)) {
            return self.try_own(places, priority, tokens, now).ok_or(RateLack::Own);
        }
        let mut taken = RatesTaken { priority, holds: Vec::with_capacity(places.len()) };
        let mut missing = None;
        for place in places {
            let Some(rate) = self.places.get_mut(*place) else { continue };
            match rate.try_hold(priority, tokens, now) {
                Ok(hold) => taken.holds.push((*place, Held::Slice(hold))),
                Err(short) => missing = missing.max(Some(short.tokens)),
            }
        }
        match missing {
            None => Ok(taken),
            Some(tokens) => {
                self.cancel(taken, now);
                Err(RateLack::Slice(tokens))
            }
        }
    }

    /// As above, from this replica's own part of each; `None` where that is too little.
    pub(crate) fn try_own(
        &mut self,
        places: &[usize],
        priority: i32,
        tokens: u64,
        now: Instant,
    ) -> Option<RatesTaken> {
        let replicas = self.replicas;
        let allowed = places.iter().all(|place| {
            let rate = self.places.get_mut(*place);
            rate.is_none_or(|rate| rate.could_pass(priority, tokens, now, replicas))
        });
        if !allowed {
            return None;
        }
        let mut taken = RatesTaken { priority, holds: Vec::with_capacity(places.len()) };
        for place in places {
            if let Some(rate) = self.places.get_mut(*place) {
                rate.pass(priority, tokens, now);
                taken.holds.push((*place, Held::Own(tokens)));
            }
        }
        Some(taken)
    }

    /// The request did not start after all.
    pub(crate) fn cancel(&mut self, taken: RatesTaken, now: Instant) {
        self.end(taken, |wallet, hold| wallet.cancel(hold), |own, held| own.give_back(1, held, now));
    }

    /// The request has ended; `None` for all the tokens it held.
    pub(crate) fn settle(&mut self, taken: RatesTaken, tokens: Option<u64>, now: Instant) {
        let unused = |held: u64| held.saturating_sub(tokens.unwrap_or(held));
        self.end(
            taken,
            |wallet, hold| wallet.settle(hold, tokens),
            |own, held| own.give_back(0, unused(held), now),
        );
    }

    fn end(
        &mut self,
        taken: RatesTaken,
        of_slice: impl Fn(&mut RateWallet, RateHold),
        of_own: impl Fn(&mut Own, u64),
    ) {
        for (place, held) in taken.holds {
            let Some(rate) = self.places.get_mut(place) else { continue };
            rate.under_way = rate.under_way.saturating_sub(1);
            match held {
                Held::Slice(hold) => {
                    if let Some(wallet) = rate.by_priority.get_mut(&taken.priority) {
                        of_slice(wallet, hold);
                    }
                }
                Held::Own(tokens) => {
                    if let Some(own) = &mut rate.own {
                        of_own(own, tokens);
                    }
                }
            }
        }
    }

    /// Whether one of the places never has so many tokens.
    pub(crate) fn never_has(&self, places: &[usize], tokens: u64) -> bool {
        let most = |place: &usize| Some(self.places.get(*place)?.limit.tokens_per_minute);
        places.iter().filter_map(most).any(|most| most > 0 && tokens > most)
    }

    /// What the tightest of the places has left.
    pub(crate) fn left(&self, places: &[usize], priority: i32, now: Instant) -> RatesLeft {
        let each = || places.iter().filter_map(|place| self.places.get(*place));
        let requests = |rate: &Rate| {
            rate.left(priority, now, |limit| limit.requests_per_minute.into(), |left| left.requests)
        };
        let tokens =
            |rate: &Rate| rate.left(priority, now, |limit| limit.tokens_per_minute, |left| left.tokens);
        let by_left = |left: &RateLeft| left.remaining;
        RatesLeft {
            requests: each().filter_map(requests).min_by_key(by_left),
            tokens: each().filter_map(tokens).min_by_key(by_left),
        }
    }

    /// Requests under way under each of the places.
    pub(crate) fn uses(&self, places: &[usize]) -> Vec<v1::RateUse> {
        let used = |rate: &&Rate| rate.under_way > 0;
        let told = |rate: &Rate| v1::RateUse {
            level: rate.level.into(),
            name: rate.name.clone(),
            under_way: rate.under_way,
        };
        places.iter().filter_map(|place| self.places.get(*place)).filter(used).map(told).collect()
    }

    /// What nobody used for `unused_for`, to be given back.
    pub(crate) fn tidy(&mut self, unused_for: Duration, now: Instant) -> Vec<Unused> {
        let unused = |rate: &&mut Rate| now.saturating_duration_since(rate.used_at) >= unused_for;
        self.places.iter_mut().filter(unused).filter_map(|rate| rate.take_unused(now)).collect()
    }

    /// Leases with requests under way, which keep their places only while they are renewed.
    pub(crate) fn to_renew(&self, now: Instant) -> impl Iterator<Item = &str> {
        let needed = move |rate: &&Rate| rate.under_way > 0 && rate.places > 0 && now < rate.until;
        self.places.iter().filter(needed).map(|rate| rate.lease_id.as_str())
    }

    /// Requests under way under leases, by their ids.
    pub(crate) fn under_way(&self, lease_ids: &[String]) -> Vec<(String, u32)> {
        let named = |rate: &&Rate| lease_ids.contains(&rate.lease_id);
        self.places.iter().filter(named).map(|rate| (rate.lease_id.clone(), rate.under_way)).collect()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.places.iter().all(|rate| rate.under_way == 0)
    }
}
