//! Our account at one vendor: slices of its limit, which all processes with the same limiter share.

use super::metrics;
use signalbox_api::v1::{RateLimit, rate_slice::Level};
use signalbox_budgeting::rates::{RateHold, RateShort, RateSlice, RateWallet};
use signalbox_ports::{NoRate, RateAsk, RateGrant, RateLimiter};
use signalbox_types::{ErrorReason, Failure};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};
use tokio::time::Instant;

/// How long a slice is kept without a word, and what is renewed or given back how often.
const TTL: Duration = Duration::from_secs(60);
const UPKEEP_EVERY: Duration = Duration::from_secs(20);
/// The longest that a caller is told to wait: a smaller request may pass sooner than a large one.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// How often a slice is asked for before others count as quicker.
const TRIES: usize = 3;

/// A vendor's account with a limit.
#[derive(Debug)]
pub struct VendorAccount {
    vendor: Arc<str>,
    limiter: Arc<dyn RateLimiter>,
    ask: RateAsk,
    held: Mutex<Held>,
    /// One asks for all that wait.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Held {
    wallet: RateWallet,
    under_way: u32,
    /// Whether anybody came since the last upkeep.
    used: bool,
}

/// A call that may be made. Dropped without a word it used all its tokens.
#[derive(Debug)]
pub(super) struct Admitted {
    account: Arc<VendorAccount>,
    /// `None` where nobody counts.
    hold: Option<RateHold>,
}

impl VendorAccount {
    /// An account of which `process`, a name of its own, takes slices. Must be called inside the runtime that is to keep
    /// them.
    pub fn new(
        vendor: Arc<str>,
        limit: RateLimit,
        limiter: Arc<dyn RateLimiter>,
        process: &str,
    ) -> Arc<Self> {
        let ask = RateAsk {
            // No tenant is called so, and none has limits of this kind.
            tenant_id: String::new(),
            level: Level::Unspecified,
            name: vendor.to_string(),
            limit,
            priority: (0, 0),
            slice_id: process.to_owned(),
            under_way: 0,
            ttl: TTL,
        };
        let account = Arc::new(Self {
            vendor,
            limiter,
            ask,
            held: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        });
        tokio::spawn(upkeep(Arc::downgrade(&account)));
        account
    }

    /// Lets a call of so many tokens through, or says how long to wait. One above the whole limit passes when all of it
    /// is there.
    pub(super) async fn admit(self: &Arc<Self>, tokens: u64) -> Result<Admitted, Failure> {
        let limit = self.ask.limit.tokens_per_minute;
        let tokens = if limit > 0 { tokens.min(limit) } else { tokens };
        if let Ok(hold) = self.try_hold(tokens) {
            return Ok(self.admitted(Some(hold)));
        }
        let _one_at_a_time = self.asking.lock().await;
        for _ in 0..TRIES {
            let short = match self.try_hold(tokens) {
                Ok(hold) => return Ok(self.admitted(Some(hold))),
                Err(short) => short,
            };
            match self.fetch(short.tokens).await {
                Ok(()) => {}
                Err(NoRate::Short { retry_after, .. }) => return Err(self.held_back(retry_after)),
                Err(NoRate::TooLarge { .. }) => return Err(self.held_back(LONGEST_WAIT)),
                Err(NoRate::Away(why)) => {
                    // The vendor says itself when it is too much.
                    tracing::debug!(why, vendor = %self.vendor, "the limit of our account is not checked");
                    metrics::unchecked(&self.vendor);
                    return Ok(self.admitted(None));
                }
            }
        }
        Err(self.held_back(LONGEST_WAIT))
    }

    fn admitted(self: &Arc<Self>, hold: Option<RateHold>) -> Admitted {
        Admitted { account: self.clone(), hold }
    }

    fn held_back(&self, wait: Duration) -> Failure {
        metrics::held_back(&self.vendor);
        let message = format!("our own limit for vendor `{}` is used up for now", self.vendor);
        Failure {
            retry_after: Some(wait.min(LONGEST_WAIT)),
            ..Failure::new(ErrorReason::VendorRateLimited, message)
        }
    }

    fn try_hold(&self, tokens: u64) -> Result<RateHold, RateShort> {
        let mut held = self.held();
        held.used = true;
        let hold = held.wallet.try_hold(tokens, Instant::now().into_std())?;
        held.under_way += 1;
        Ok(hold)
    }

    /// Brings another slice.
    async fn fetch(&self, tokens: u64) -> Result<(), NoRate> {
        let (ask, asked_at) = (self.ask_now(), Instant::now());
        let grants = self.limiter.take(std::slice::from_ref(&ask), tokens).await?;
        for grant in grants {
            self.granted(&grant, asked_at);
        }
        Ok(())
    }

    fn ask_now(&self) -> RateAsk {
        RateAsk { under_way: self.held().under_way, ..self.ask.clone() }
    }

    fn granted(&self, grant: &RateGrant, asked_at: Instant) {
        let limit = &self.ask.limit;
        let slice = RateSlice {
            requests: (limit.requests_per_minute > 0).then_some(grant.requests),
            tokens: (limit.tokens_per_minute > 0).then_some(grant.tokens),
            concurrent: (limit.concurrent_requests > 0).then_some(grant.concurrent),
        };
        self.held().wallet.grant(slice, asked_at.into_std(), TTL);
    }

    /// Keeps the slice while calls are under way; gives back what nobody came for.
    async fn keep(&self) {
        let (under_way, used) = {
            let mut held = self.held();
            (held.under_way, std::mem::take(&mut held.used))
        };
        if under_way > 0 {
            let asked_at = Instant::now();
            if let Ok(Some(grant)) = self.limiter.renew(&self.ask_now()).await {
                self.granted(&grant, asked_at);
            }
        } else if !used {
            let unused = self.held().wallet.take_unused(Instant::now().into_std());
            let unused = RateGrant {
                requests: unused.requests.unwrap_or_default(),
                tokens: unused.tokens.unwrap_or_default(),
                concurrent: unused.concurrent.unwrap_or_default(),
                ..RateGrant::default()
            };
            if unused != RateGrant::default() {
                // Otherwise the limit has made up for it within a minute.
                let _given_back = self.limiter.give_back(&self.ask, &unused).await;
            }
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As long as the account is in use.
async fn upkeep(account: Weak<VendorAccount>) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        let Some(account) = account.upgrade() else { return };
        account.keep().await;
    }
}

impl Admitted {
    /// The call has ended, and used so many tokens; `None` for all it was admitted for.
    pub(super) fn used(mut self, tokens: Option<u64>) {
        self.settle(tokens);
    }

    fn settle(&mut self, tokens: Option<u64>) {
        if let Some(hold) = self.hold.take() {
            let mut held = self.account.held();
            held.under_way = held.under_way.saturating_sub(1);
            held.wallet.settle(hold, tokens);
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.settle(None);
    }
}
