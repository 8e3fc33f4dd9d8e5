use super::*;
use signalbox_api::v1::RateLimit;
use signalbox_contracts::SetClock;
use signalbox_kit::Clock as _;
use signalbox_ports::{NoRate, RateAsk, RateGrant, RateLimiter};
use signalbox_rates::MemoryRates;
use signalbox_types::ErrorReason;
use std::time::{Duration, SystemTime};
use tokio::time::advance;

/// A limiter with a clock that goes as tokio's does.
struct World {
    limiter: Arc<MemoryRates>,
    clock: Arc<SetClock>,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(SetClock::at(SystemTime::UNIX_EPOCH + Duration::from_secs(1_775_001_600)));
        Self { limiter: Arc::new(MemoryRates::new(clock.clone())), clock }
    }

    fn account(&self, process: &str, requests: u32, tokens: u64, concurrent: u32) -> Arc<VendorAccount> {
        let limit = RateLimit {
            requests_per_minute: requests,
            tokens_per_minute: tokens,
            concurrent_requests: concurrent,
        };
        VendorAccount::new("acme".into(), limit, self.limiter.clone(), process)
    }

    /// Lets time pass bit by bit, so that what is due meanwhile is done.
    async fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.clock.set(self.clock.now() + Duration::from_secs(1));
            advance(Duration::from_secs(1)).await;
        }
    }
}

/// Calls that pass at once, kept under way.
async fn passing(account: &Arc<VendorAccount>, tokens: u64) -> Vec<Admitted> {
    let mut passed = Vec::new();
    while let Ok(admitted) = account.admit(tokens).await {
        passed.push(admitted);
    }
    passed
}

#[tokio::test(start_paused = true)]
async fn processes_share_the_limit_and_who_comes_too_much_is_told_to_wait() {
    let world = World::new();
    let (one, two) = (world.account("1", 60, 0, 0), world.account("2", 60, 0, 0));
    let first = one.admit(0).await.unwrap();
    let passed = passing(&two, 0).await.len() + passing(&one, 0).await.len();
    assert_eq!(passed + 1, 60);
    let failure = two.admit(0).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::VendorRateLimited);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(1)));
    first.used(Some(0));
    world.pass(1).await;
    assert_eq!(passing(&two, 0).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn tokens_that_an_answer_did_not_need_are_for_the_next() {
    let world = World::new();
    let account = world.account("1", 0, 10_000, 0);
    account.admit(9_000).await.unwrap().used(Some(500));
    account.admit(9_000).await.unwrap().used(None);
    let failure = account.admit(9_000).await.unwrap_err();
    assert_eq!(failure.retry_after, Some(Duration::from_secs(2)), "a smaller one may pass sooner");
    account.admit(400).await.unwrap();
    world.pass(120).await;
    account.admit(1_000_000).await.expect("more than the limit passes when all of it is there");
}

#[tokio::test(start_paused = true)]
async fn calls_under_way_keep_their_places_however_long_they_take() {
    let world = World::new();
    let (one, two) = (world.account("1", 0, 0, 3), world.account("2", 0, 0, 3));
    let long = passing(&one, 0).await;
    assert_eq!(long.len(), 3);
    world.pass(300).await;
    assert!(two.admit(0).await.is_err());
    drop(long);
    world.pass(60).await;
    assert_eq!(passing(&two, 0).await.len(), 3);
}

/// A limiter that cannot be reached.
#[derive(Debug)]
struct Away;

#[async_trait]
impl RateLimiter for Away {
    async fn take(&self, _: &[RateAsk], _: u64) -> Result<Vec<RateGrant>, NoRate> {
        Err(NoRate::Away("gone".to_owned()))
    }

    async fn renew(&self, _: &RateAsk) -> Result<Option<RateGrant>, NoRate> {
        Err(NoRate::Away("gone".to_owned()))
    }

    async fn give_back(&self, _: &RateAsk, _: &RateGrant) -> Result<(), NoRate> {
        Err(NoRate::Away("gone".to_owned()))
    }
}

#[tokio::test(start_paused = true)]
async fn while_nobody_counts_the_vendor_itself_says_what_is_too_much() {
    let limit = RateLimit { requests_per_minute: 1, ..RateLimit::default() };
    let account = VendorAccount::new("acme".into(), limit, Arc::new(Away), "1");
    for _ in 0..5 {
        account.admit(10).await.unwrap().used(None);
    }
}
