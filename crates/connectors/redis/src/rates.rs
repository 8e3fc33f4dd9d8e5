//! Rate limits by scripts, so that what is found and what is taken are one step.

use crate::{Redis, metrics};
use redis::{Script, ScriptInvocation};
use signalbox_api::v1::{RateLimit, rate_slice::Level};
use signalbox_kit::Clock;
use signalbox_ports::{Count, NoRate, RateAsk, RateGrant, RateLimiter};
use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, SystemTime},
};

const TAKE: &str = concat!(include_str!("rates/limit.lua"), include_str!("rates/take.lua"));
const RENEW: &str = concat!(include_str!("rates/limit.lua"), include_str!("rates/renew.lua"));
const GIVE_BACK: &str = concat!(include_str!("rates/limit.lua"), include_str!("rates/give_back.lua"));

/// Rate limits that every process with this Redis shares.
#[derive(Debug)]
pub struct RedisRates {
    redis: Redis,
    /// In place of the server's, which all share.
    clock: Option<Arc<dyn Clock>>,
    take: Script,
    renew: Script,
    give_back: Script,
}

impl RedisRates {
    /// Limits by the server's clock.
    pub fn new(redis: Redis) -> Self {
        let [take, renew, give_back] = [TAKE, RENEW, GIVE_BACK].map(Script::new);
        Self { redis, clock: None, take, renew, give_back }
    }

    /// Limits by a clock of a test.
    pub fn with_clock(redis: Redis, clock: Arc<dyn Clock>) -> Self {
        Self { clock: Some(clock), ..Self::new(redis) }
    }

    /// A script about one slice, with what both of these begin with.
    fn of_one<'a>(&self, script: &'a Script, ask: &RateAsk) -> ScriptInvocation<'a> {
        let mut script = script.prepare_invoke();
        script.arg(self.now()).arg(&ask.slice_id);
        keys(&mut script, ask);
        limit(&mut script, &ask.limit);
        script
    }

    fn now(&self) -> String {
        let since = |clock: &Arc<dyn Clock>| clock.now().duration_since(SystemTime::UNIX_EPOCH);
        let since = self.clock.as_ref().map(|clock| since(clock).unwrap_or_default());
        since.map(|since| since.as_millis().to_string()).unwrap_or_default()
    }
}

#[async_trait::async_trait]
impl RateLimiter for RedisRates {
    async fn take(&self, asks: &[RateAsk], tokens: u64) -> Result<Vec<RateGrant>, NoRate> {
        if asks.is_empty() {
            return Ok(Vec::new());
        }
        let mut script = self.take.prepare_invoke();
        script.arg(self.now()).arg(tokens);
        for ask in asks {
            keys(&mut script, ask);
            script.arg(&ask.slice_id);
            limit(&mut script, &ask.limit);
            script.arg(ask.under_way).arg(ask.steps()).arg(milliseconds(ask));
        }
        let answer =
            self.redis.ask(async |connection| script.invoke_async::<Vec<u64>>(connection).await).await;
        let read = answer.map_err(NoRate::Away).and_then(|answer| read(&answer, asks.len()));
        metrics::asked(match &read {
            Ok(_) => "given",
            Err(NoRate::Short { .. }) => "short",
            Err(NoRate::TooLarge { .. }) => "too_large",
            Err(NoRate::Away(_)) => "away",
        });
        read
    }

    async fn renew(&self, ask: &RateAsk) -> Result<Option<RateGrant>, NoRate> {
        let mut script = self.of_one(&self.renew, ask);
        script.arg(ask.under_way).arg(milliseconds(ask));
        let answer =
            self.redis.ask(async |connection| script.invoke_async::<Vec<u64>>(connection).await).await;
        match answer.map_err(NoRate::Away)?[..] {
            [] => Ok(None),
            [concurrent, requests, tokens, left] => {
                Ok(Some(grant(&[0, 0, concurrent, requests, tokens, left])))
            }
            _ => Err(unreadable()),
        }
    }

    async fn give_back(&self, ask: &RateAsk, unused: &RateGrant) -> Result<(), NoRate> {
        let mut script = self.of_one(&self.give_back, ask);
        script.arg(unused.requests).arg(unused.tokens).arg(unused.concurrent);
        let answer = self.redis.ask(async |connection| script.invoke_async::<()>(connection).await).await;
        answer.map_err(NoRate::Away)
    }
}

/// How long a slice may be kept.
fn milliseconds(ask: &RateAsk) -> u64 {
    u64::try_from(ask.ttl.as_millis()).unwrap_or(u64::MAX).max(1)
}

fn limit(script: &mut ScriptInvocation<'_>, limit: &RateLimit) {
    script.arg(limit.requests_per_minute).arg(limit.tokens_per_minute).arg(limit.concurrent_requests);
}

/// Both keys of a limit. What is in braces decides on which node of a cluster they are, so that all of a tenant are on
/// one; it is never empty, which would not count.
fn keys(script: &mut ScriptInvocation<'_>, ask: &RateAsk) {
    let level = match ask.level {
        Level::Unspecified => "other",
        Level::Tenant => "tenant",
        Level::Scene => "scene",
        Level::Key => "key",
    };
    let key = format!("signalbox:rate:{{t:{}}}:{level}:{}", encoded(&ask.tenant_id), encoded(&ask.name));
    let slices = format!("{key}:slices");
    script.key(key).key(slices);
}

/// Text in which nothing has a meaning in a key.
fn encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-.".contains(&byte) {
            encoded.push(byte.into());
        } else {
            // Writing to a string does not fail.
            let _written = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// What a script answered to `asks` asks.
fn read(answer: &[u64], asks: usize) -> Result<Vec<RateGrant>, NoRate> {
    let index = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
    match *answer {
        [0, ref numbers @ ..] if numbers.len() == 6 * asks => {
            Ok(numbers.chunks_exact(6).map(grant).collect())
        }
        [1, ask, wait, requests, tokens, concurrent, of @ 0..=2] => Err(NoRate::Short {
            ask: index(ask),
            of: match of {
                0 => Count::Requests,
                1 => Count::Tokens,
                _ => Count::Concurrent,
            },
            retry_after: Duration::from_millis(wait),
            remaining: remaining(requests, tokens, concurrent),
        }),
        [2, ask] => Err(NoRate::TooLarge { ask: index(ask) }),
        _ => Err(unreadable()),
    }
}

fn unreadable() -> NoRate {
    NoRate::Away("its answer cannot be read".to_owned())
}

fn grant(numbers: &[u64]) -> RateGrant {
    let [requests, tokens, concurrent, left @ ..] = numbers else { return RateGrant::default() };
    let left = |at: usize| left.get(at).copied().unwrap_or_default();
    RateGrant {
        requests: *requests,
        tokens: *tokens,
        concurrent: small(*concurrent),
        remaining: remaining(left(0), left(1), left(2)),
    }
}

fn remaining(requests: u64, tokens: u64, concurrent: u64) -> RateLimit {
    RateLimit {
        requests_per_minute: small(requests),
        tokens_per_minute: tokens,
        concurrent_requests: small(concurrent),
    }
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
