//! The slices of rate limits that a replica holds for a tenant.

use signalbox_api::v1::{self, RateLimit, rate_slice::Level};
use signalbox_budgeting::rates::{Bucket, RateHold, RateShort, RateSlice, RateWallet, What};
use signalbox_ports::{RateLeft, RatesLeft};
use std::{collections::BTreeMap, time::Duration};
use tokio::time::Instant;

/// Slices in places that stay the same.
#[derive(Debug, Default)]
pub(crate) struct Rates(Vec<Rate>);

/// A limit's slices.
#[derive(Debug)]
struct Rate {
    lease_id: String,
    level: Level,
    name: String,
    limit: RateLimit,
    /// What the limit had left for all, when it was last heard of.
    remaining: RateLimit,
    /// Requests and tokens, by the priority that they were granted to: a low one takes nothing from a high one.
    by_priority: BTreeMap<i32, RateWallet>,
    /// Places for requests under way, of all priorities.
    places: u32,
    under_way: u32,
    until: Instant,
    used_at: Instant,
    /// What this replica lets through by itself, while nobody hands out slices.
    own: Option<Own>,
}

/// A replica's own part of a limit.
#[derive(Debug)]
struct Own {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    places: Option<u32>,
}

/// What one request took of all its limits.
#[derive(Debug, Default)]
#[must_use = "what is not settled counts as under way"]
pub(crate) struct RatesTaken {
    priority: i32,
    /// By place; none where it was let through by the replica's own part.
    holds: Vec<(usize, Option<RateHold>)>,
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
        let limit = slice.limit.unwrap_or_default();
        let found = self.0.iter().position(|rate| rate.level == slice.level() && rate.name == slice.name);
        let place = found.unwrap_or_else(|| {
            self.0.push(Rate::new(slice, asked_at));
            self.0.len() - 1
        });
        let Some(rate) = self.0.get_mut(place) else { return place };
        rate.lease_id.clone_from(&lease.lease_id);
        rate.limit = limit;
        rate.remaining = slice.remaining.unwrap_or_default();
        rate.places = slice.granted_concurrent_requests;
        rate.until = rate.until.max(asked_at + ttl);
        rate.own = None;
        let given = RateSlice {
            requests: (limit.requests_per_minute > 0).then_some(slice.granted_requests),
            tokens: (limit.tokens_per_minute > 0).then_some(slice.granted_tokens),
            concurrent: None,
        };
        rate.by_priority.entry(priority).or_default().grant(given, asked_at.into_std(), ttl);
        place
    }

    /// Takes a request and its tokens from each of the places, or from none.
    ///
    /// # Errors
    /// How many tokens to ask for.
    pub(crate) fn try_take(
        &mut self,
        places: &[usize],
        priority: i32,
        tokens: u64,
        now: Instant,
    ) -> Result<RatesTaken, u64> {
        let mut taken = RatesTaken { priority, holds: Vec::with_capacity(places.len()) };
        let mut missing = None;
        for place in places {
            let Some(rate) = self.0.get_mut(*place) else { continue };
            match rate.try_hold(priority, tokens, now) {
                Ok(hold) => taken.holds.push((*place, Some(hold))),
                Err(short) => missing = missing.max(Some(short.tokens)),
            }
        }
        match missing {
            None => Ok(taken),
            Some(tokens) => {
                self.cancel(taken);
                Err(tokens)
            }
        }
    }

    /// As above, from what this replica may let through by itself as one of `replicas`; `None` where that is too
    /// little.
    pub(crate) fn try_own(
        &mut self,
        places: &[usize],
        priority: i32,
        tokens: u64,
        now: Instant,
        replicas: u32,
    ) -> Option<RatesTaken> {
        let allowed = places.iter().all(|place| {
            self.0.get_mut(*place).is_none_or(|rate| rate.could_pass(priority, tokens, now, replicas))
        });
        if !allowed {
            return None;
        }
        let mut taken = RatesTaken { priority, holds: Vec::with_capacity(places.len()) };
        for place in places {
            if let Some(rate) = self.0.get_mut(*place) {
                rate.pass(priority, tokens, now);
                taken.holds.push((*place, None));
            }
        }
        Some(taken)
    }

    /// The request did not start after all.
    pub(crate) fn cancel(&mut self, taken: RatesTaken) {
        for (place, hold) in taken.holds {
            let Some(rate) = self.0.get_mut(place) else { continue };
            rate.under_way = rate.under_way.saturating_sub(1);
            if let (Some(hold), Some(wallet)) = (hold, rate.by_priority.get_mut(&taken.priority)) {
                wallet.cancel(hold);
            }
        }
    }

    /// The request has ended; `None` for all the tokens it held.
    pub(crate) fn settle(&mut self, taken: RatesTaken, tokens: Option<u64>) {
        for (place, hold) in taken.holds {
            let Some(rate) = self.0.get_mut(place) else { continue };
            rate.under_way = rate.under_way.saturating_sub(1);
            if let (Some(hold), Some(wallet)) = (hold, rate.by_priority.get_mut(&taken.priority)) {
                wallet.settle(hold, tokens);
            }
        }
    }

    /// What the tightest of the places has left.
    pub(crate) fn left(&self, places: &[usize], priority: i32, now: Instant) -> RatesLeft {
        let each = || places.iter().filter_map(|place| self.0.get(*place));
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
        places.iter().filter_map(|place| self.0.get(*place)).filter(used).map(told).collect()
    }

    /// What nobody used for `unused_for`, to be given back.
    pub(crate) fn tidy(&mut self, unused_for: Duration, now: Instant) -> Vec<Unused> {
        let unused = |rate: &&mut Rate| now.saturating_duration_since(rate.used_at) >= unused_for;
        self.0.iter_mut().filter(unused).filter_map(|rate| rate.take_unused(now)).collect()
    }

    /// Leases with requests under way, which keep their places only while they are renewed.
    pub(crate) fn to_renew(&self, now: Instant) -> impl Iterator<Item = &str> {
        let needed = move |rate: &&Rate| rate.under_way > 0 && rate.places > 0 && now < rate.until;
        self.0.iter().filter(needed).map(|rate| rate.lease_id.as_str())
    }

    /// Requests under way under leases, by their ids.
    pub(crate) fn under_way(&self, lease_ids: &[String]) -> Vec<(String, u32)> {
        let named = |rate: &&Rate| lease_ids.contains(&rate.lease_id);
        self.0.iter().filter(named).map(|rate| (rate.lease_id.clone(), rate.under_way)).collect()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.iter().all(|rate| rate.under_way == 0)
    }
}

impl Rate {
    fn new(slice: &v1::RateSlice, now: Instant) -> Self {
        Self {
            lease_id: String::new(),
            level: slice.level(),
            name: slice.name.clone(),
            limit: RateLimit::default(),
            remaining: RateLimit::default(),
            by_priority: BTreeMap::new(),
            places: 0,
            under_way: 0,
            until: now,
            used_at: now,
            own: None,
        }
    }

    fn try_hold(&mut self, priority: i32, tokens: u64, now: Instant) -> Result<RateHold, RateShort> {
        self.used_at = now;
        if self.limit.concurrent_requests > 0 && self.under_way >= self.places {
            return Err(RateShort { what: What::Concurrent, tokens: 0 });
        }
        let wallet = self.by_priority.entry(priority).or_default();
        let hold = wallet.try_hold(tokens, now.into_std())?;
        self.under_way += 1;
        Ok(hold)
    }

    fn could_pass(&mut self, priority: i32, tokens: u64, now: Instant, replicas: u32) -> bool {
        let limit = self.limit;
        let own = self.own.get_or_insert_with(|| Own::of(&limit, replicas, now));
        let has = |bucket: &mut Option<Bucket>, amount| {
            bucket.as_mut().is_none_or(|bucket| bucket.wish(priority, now.into_std()) >= amount)
        };
        own.places.is_none_or(|places| self.under_way < places)
            && has(&mut own.requests, 1)
            && has(&mut own.tokens, tokens)
    }

    fn pass(&mut self, priority: i32, tokens: u64, now: Instant) {
        self.under_way += 1;
        let Some(own) = &mut self.own else { return };
        for (bucket, amount) in [(&mut own.requests, 1), (&mut own.tokens, tokens)] {
            if let Some(bucket) = bucket {
                // It was there a moment ago, under the same lock.
                let _taken = bucket.take(amount, priority, now.into_std());
            }
        }
    }

    fn left(
        &self,
        priority: i32,
        now: Instant,
        of: impl Fn(&RateLimit) -> u64,
        here: impl Fn(&RateSlice) -> Option<u64>,
    ) -> Option<RateLeft> {
        let limit = of(&self.limit);
        let wallet = self.by_priority.get(&priority);
        let here = wallet.and_then(|wallet| here(&wallet.left(now.into_std()))).unwrap_or_default();
        let remaining = of(&self.remaining).saturating_add(here).min(limit);
        (limit > 0).then_some(RateLeft { limit, remaining })
    }

    fn take_unused(&mut self, now: Instant) -> Option<Unused> {
        if now >= self.until {
            return None;
        }
        let slices: Vec<RateSlice> =
            self.by_priority.values_mut().map(|wallet| wallet.take_unused(now.into_std())).collect();
        let end = self.under_way == 0;
        if end {
            self.until = now;
            self.places = 0;
        }
        let unused = Unused {
            lease_id: self.lease_id.clone(),
            requests: slices.iter().filter_map(|slice| slice.requests).sum(),
            tokens: slices.iter().filter_map(|slice| slice.tokens).sum(),
            end,
        };
        (end || unused.requests > 0 || unused.tokens > 0).then_some(unused)
    }
}

impl Own {
    fn of(limit: &RateLimit, replicas: u32, now: Instant) -> Self {
        let replicas = replicas.max(1);
        let bucket = |limit: u64| {
            let part = (limit / u64::from(replicas)).max(1);
            (limit > 0).then(|| Bucket::new(part, now.into_std()))
        };
        let places = limit.concurrent_requests;
        Self {
            requests: bucket(limit.requests_per_minute.into()),
            tokens: bucket(limit.tokens_per_minute),
            places: (places > 0).then(|| (places / replicas).max(1)),
        }
    }
}
