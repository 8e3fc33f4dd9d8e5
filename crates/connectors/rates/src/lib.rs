//! Rate limits in memory: for one process that serves everything.

use signalbox_api::v1::{self, rate_slice::Level};
use signalbox_budgeting::rate_limit::{Count, Given, Limit, RateLimit, Refused, Want};
use signalbox_kit::Clock;
use signalbox_ports::{NoRate, RateAsk, RateGrant, RateLimiter};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

/// From how many limits on those are looked for that are not used any more.
const FIRST_SWEEP: usize = 64;

/// Rate limits that this process alone knows. They begin anew when it does.
#[derive(Debug)]
pub struct MemoryRates {
    clock: Arc<dyn Clock>,
    limits: Mutex<Limits>,
}

/// Whose limit, of what kind, and which.
type Key = (String, Level, String);

#[derive(Debug, Default)]
struct Limits {
    states: HashMap<Key, Kept>,
    sweep_at: usize,
}

#[derive(Debug, Default)]
struct Kept {
    limit: Limit,
    state: RateLimit,
}

impl MemoryRates {
    /// Nothing is used yet.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, limits: Mutex::default() }
    }

    fn now(&self) -> u64 {
        let since = self.clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        milliseconds(since)
    }

    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait::async_trait]
impl RateLimiter for MemoryRates {
    async fn take(&self, asks: &[RateAsk], tokens: u64) -> Result<Vec<RateGrant>, NoRate> {
        if let Some(ask) = asks.iter().position(|ask| limit(&ask.limit).is_below(tokens)) {
            return Err(NoRate::TooLarge { ask });
        }
        let now = self.now();
        let mut limits = self.limits();
        limits.sweep(now);
        let mut offers = Vec::with_capacity(asks.len());
        for ask in asks {
            let Kept { limit, state } = limits.advanced(ask, now);
            offers.push(state.offer(limit, &want(ask, tokens)));
        }
        match offers.iter().copied().collect() {
            Ok(given) => Ok(limits.give(asks, tokens, given)),
            Err(_) => Err(limits.refuse(asks, tokens, &offers)),
        }
    }

    async fn renew(&self, ask: &RateAsk) -> Result<Option<RateGrant>, NoRate> {
        let now = self.now();
        let mut limits = self.limits();
        let Kept { limit, state } = limits.advanced(ask, now);
        let renewed = state.renew(limit, &want(ask, 0));
        Ok(renewed.map(|given| grant(limit, state, &given)))
    }

    async fn give_back(&self, ask: &RateAsk, unused: &RateGrant) -> Result<(), NoRate> {
        let now = self.now();
        let unused =
            Given { requests: unused.requests, tokens: unused.tokens, concurrent: unused.concurrent };
        self.limits().advanced(ask, now).state.give_back(&ask.slice_id, &unused);
        Ok(())
    }
}

impl Limits {
    /// A limit, as it is by now.
    fn advanced(&mut self, ask: &RateAsk, now: u64) -> &mut Kept {
        let kept = self.states.entry(key(ask)).or_default();
        kept.limit = limit(&ask.limit);
        kept.state.advance(&kept.limit, now);
        kept
    }

    fn give(&mut self, asks: &[RateAsk], tokens: u64, given: Vec<Given>) -> Vec<RateGrant> {
        let give = |(ask, given): (&RateAsk, Given)| {
            let Kept { limit, state } = self.states.entry(key(ask)).or_default();
            state.take(limit, &want(ask, tokens), &given);
            grant(limit, state, &given)
        };
        asks.iter().zip(given).map(give).collect()
    }

    /// Says which limit is to be waited for the longest.
    fn refuse(&mut self, asks: &[RateAsk], tokens: u64, offers: &[Result<Given, Refused>]) -> NoRate {
        let mut longest: Option<(usize, u64, Count)> = None;
        for (index, (ask, offer)) in asks.iter().zip(offers).enumerate() {
            let Err(Refused::Short { wait, of }) = *offer else { continue };
            let Kept { limit, state } = self.states.entry(key(ask)).or_default();
            state.refused(limit, &want(ask, tokens), wait);
            if longest.is_none_or(|(_, longest, _)| wait > longest) {
                longest = Some((index, wait, of));
            }
        }
        let (ask, wait, of) = longest.unwrap_or((0, 0, Count::Requests));
        let left = asks.get(ask).and_then(|ask| self.states.get(&key(ask)));
        let remaining = left.map(|kept| remaining(&kept.limit, &kept.state)).unwrap_or_default();
        NoRate::Short { ask, of, retry_after: Duration::from_millis(wait), remaining }
    }

    /// Forgets limits that are as if they had never been used, each time that there are twice as many.
    fn sweep(&mut self, now: u64) {
        if self.states.len() < self.sweep_at.max(FIRST_SWEEP) {
            return;
        }
        self.states.retain(|_, kept| {
            let mut by_now = kept.state.clone();
            by_now.advance(&kept.limit, now);
            !by_now.is_idle()
        });
        self.sweep_at = 2 * self.states.len();
    }
}

fn key(ask: &RateAsk) -> Key {
    (ask.tenant_id.clone(), ask.level, ask.name.clone())
}

fn limit(limit: &v1::RateLimit) -> Limit {
    Limit {
        requests: limit.requests_per_minute.into(),
        tokens: limit.tokens_per_minute,
        concurrent: limit.concurrent_requests,
    }
}

fn want(ask: &RateAsk, tokens: u64) -> Want<'_> {
    Want {
        slice: &ask.slice_id,
        tokens,
        under_way: ask.under_way,
        steps: ask.steps(),
        ttl: milliseconds(ask.ttl).max(1),
    }
}

fn grant(limit: &Limit, state: &RateLimit, given: &Given) -> RateGrant {
    RateGrant {
        requests: given.requests,
        tokens: given.tokens,
        concurrent: given.concurrent,
        remaining: remaining(limit, state),
    }
}

fn remaining(limit: &Limit, state: &RateLimit) -> v1::RateLimit {
    let left = state.remaining(limit);
    v1::RateLimit {
        requests_per_minute: u32::try_from(left.requests).unwrap_or(u32::MAX),
        tokens_per_minute: left.tokens,
        concurrent_requests: left.concurrent,
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
