//! What a replica holds of one limit.

use super::{Unused, own::Own};
use signalbox_api::v1::{self, RateLimit, rate_slice::Level};
use signalbox_budgeting::rates::{RateHold, RateShort, RateSlice, RateWallet, What};
use signalbox_ports::RateLeft;
use std::{collections::BTreeMap, time::Duration};
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Rate {
    pub(super) lease_id: String,
    pub(super) level: Level,
    pub(super) name: String,
    pub(super) limit: RateLimit,
    /// What the limit had left for all, when it was last heard of.
    remaining: RateLimit,
    /// Requests and tokens, by the priority that they were granted to: a low one takes nothing from a high one.
    pub(super) by_priority: BTreeMap<i32, RateWallet>,
    /// Places for requests under way, of all priorities.
    pub(super) places: u32,
    pub(super) under_way: u32,
    pub(super) until: Instant,
    pub(super) used_at: Instant,
    pub(super) own: Option<Own>,
    /// Until when this replica's own part counts, for nobody hands out slices.
    own_until: Option<Instant>,
}

impl Rate {
    pub(super) fn new(slice: &v1::RateSlice, now: Instant) -> Self {
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
            own_until: None,
        }
    }

    /// A slice was granted to requests of a priority.
    pub(super) fn grant(&mut self, slice: &v1::RateSlice, priority: i32, asked_at: Instant, ttl: Duration) {
        self.remaining = slice.remaining.unwrap_or_default();
        self.places = slice.granted_concurrent_requests;
        self.until = self.until.max(asked_at + ttl);
        self.own = None;
        self.own_until = None;
        let given = RateSlice {
            requests: (self.limit.requests_per_minute > 0).then_some(slice.granted_requests),
            tokens: (self.limit.tokens_per_minute > 0).then_some(slice.granted_tokens),
            concurrent: None,
        };
        self.by_priority.entry(priority).or_default().grant(given, asked_at.into_std(), ttl);
    }

    /// Nobody hands out slices: this replica's own part counts until then.
    pub(super) fn go_alone(&mut self, until: Instant) {
        self.own_until = Some(until);
    }

    pub(super) fn is_alone(&self, now: Instant) -> bool {
        self.own_until.is_some_and(|until| now < until)
    }

    pub(super) fn try_hold(
        &mut self,
        priority: i32,
        tokens: u64,
        now: Instant,
    ) -> Result<RateHold, RateShort> {
        self.used_at = now;
        if self.limit.concurrent_requests > 0 && self.under_way >= self.places {
            return Err(RateShort { what: What::Concurrent, tokens: 0 });
        }
        let wallet = self.by_priority.entry(priority).or_default();
        let hold = wallet.try_hold(tokens, now.into_std())?;
        self.under_way += 1;
        Ok(hold)
    }

    /// Whether a request could pass by this replica's own part.
    pub(super) fn could_pass(&mut self, priority: i32, tokens: u64, now: Instant, replicas: u32) -> bool {
        let limit = self.limit;
        let own = self.own.get_or_insert_with(|| Own::of(&limit, replicas, now));
        own.could_pass(self.under_way, priority, tokens, now)
    }

    /// One passes that could.
    pub(super) fn pass(&mut self, priority: i32, tokens: u64, now: Instant) {
        self.used_at = now;
        self.under_way += 1;
        if let Some(own) = &mut self.own {
            own.pass(priority, tokens, now);
        }
    }

    /// What is left of one of its counts, for a priority.
    pub(super) fn left(
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

    /// Takes what was not used, to be given back; all of it where nothing is under way.
    pub(super) fn take_unused(&mut self, now: Instant) -> Option<Unused> {
        if now >= self.until {
            return None;
        }
        let slices: Vec<RateSlice> =
            self.by_priority.values_mut().map(|wallet| wallet.take_unused(now.into_std())).collect();
        let end = self.under_way == 0;
        if end {
            self.end(now);
        }
        let unused = Unused {
            lease_id: self.lease_id.clone(),
            requests: slices.iter().filter_map(|slice| slice.requests).sum(),
            tokens: slices.iter().filter_map(|slice| slice.tokens).sum(),
            end,
        };
        (end || unused.requests > 0 || unused.tokens > 0).then_some(unused)
    }

    /// Nothing more is taken from the slices held.
    pub(super) fn end(&mut self, now: Instant) {
        self.until = now;
        self.places = 0;
        for wallet in self.by_priority.values_mut() {
            let _spent_by_nobody = wallet.take_unused(now.into_std());
        }
    }
}
