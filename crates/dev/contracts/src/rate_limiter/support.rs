//! A limiter with its clock, and short ways to ask it.

use super::Fresh;
use crate::SetClock;
use signalbox_api::v1::{RateLimit, rate_slice::Level};
use signalbox_kit::Clock;
use signalbox_ports::{NoRate, RateAsk, RateGrant, RateLimiter};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const MINUTE: Duration = Duration::from_secs(60);

/// A limiter at a time that the test moves.
pub(super) struct World {
    limiter: Arc<dyn RateLimiter>,
    clock: Arc<SetClock>,
    _keep: Box<dyn std::any::Any + Send>,
}

impl World {
    pub(super) async fn new(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) -> Self {
        let clock = Arc::new(SetClock::at(SystemTime::UNIX_EPOCH + Duration::from_secs(1_775_001_600)));
        let Fresh { limiter, keep } = fresh(clock.clone()).await;
        Self { limiter, clock, _keep: keep }
    }

    /// Another limiter with the same clock.
    pub(super) fn beside(world: &Self, limiter: impl FnOnce(Arc<dyn Clock>) -> Arc<dyn RateLimiter>) -> Self {
        let clock = world.clock.clone();
        Self { limiter: limiter(clock.clone()), clock, _keep: Box::new(()) }
    }

    pub(super) fn pass(&self, time: Duration) {
        self.clock.set(self.clock.now() + time);
    }

    pub(super) fn set_back(&self, time: Duration) {
        self.clock.set(self.clock.now() - time);
    }

    pub(super) async fn take_all(&self, asks: &[RateAsk], tokens: u64) -> Result<Vec<RateGrant>, NoRate> {
        self.limiter.take(asks, tokens).await
    }

    pub(super) async fn take(&self, ask: &RateAsk, tokens: u64) -> Result<RateGrant, NoRate> {
        let grants = self.take_all(std::slice::from_ref(ask), tokens).await?;
        assert_eq!(grants.len(), 1);
        Ok(grants[0])
    }

    /// The grant of a slice that must be given.
    pub(super) async fn given(&self, ask: &RateAsk, tokens: u64) -> RateGrant {
        self.take(ask, tokens).await.unwrap()
    }

    /// How long to wait for a slice that must not be given.
    pub(super) async fn wait(&self, ask: &RateAsk, tokens: u64) -> Duration {
        match self.take(ask, tokens).await {
            Err(NoRate::Short { ask: 0, retry_after, .. }) => retry_after,
            other => panic!("expected to be told to wait: {other:?}"),
        }
    }

    /// Takes slices until none is given, and counts their requests and tokens.
    pub(super) async fn drain(&self, ask: &RateAsk, tokens: u64) -> (u64, u64) {
        let mut sum = (0, 0);
        while let Ok(grant) = self.take(ask, tokens).await {
            sum = (sum.0 + grant.requests, sum.1 + grant.tokens);
        }
        sum
    }

    pub(super) async fn renew(&self, ask: &RateAsk) -> Option<RateGrant> {
        self.limiter.renew(ask).await.unwrap()
    }

    pub(super) async fn give_back(&self, ask: &RateAsk, requests: u64, tokens: u64, concurrent: u32) {
        let unused = RateGrant { requests, tokens, concurrent, ..RateGrant::default() };
        self.limiter.give_back(ask, &unused).await.unwrap();
    }
}

/// A tenant's limit, asked for by one replica.
pub(super) fn ask(requests: u32, tokens: u64, concurrent: u32) -> RateAsk {
    RateAsk {
        tenant_id: "acme".to_owned(),
        level: Level::Tenant,
        name: String::new(),
        limit: RateLimit {
            requests_per_minute: requests,
            tokens_per_minute: tokens,
            concurrent_requests: concurrent,
        },
        priority: (0, 0),
        slice_id: "replica-1".to_owned(),
        under_way: 0,
        ttl: MINUTE,
    }
}

pub(super) fn by(replica: u32, ask: &RateAsk) -> RateAsk {
    RateAsk { slice_id: format!("replica-{replica}"), ..ask.clone() }
}
