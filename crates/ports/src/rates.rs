//! Limits of requests and tokens over time, shared by every replica of the budget service.

use signalbox_api::v1::{RateLimit, rate_slice::Level};
pub use signalbox_budgeting::rate_limit::Count;
use std::{fmt, time::Duration};

/// Hands out slices of rate limits.
#[async_trait::async_trait]
pub trait RateLimiter: Send + Sync + fmt::Debug {
    /// A slice of each limit, in their order, each with at least one request, `tokens`, and a permit more than are
    /// under way: of all, or of none. All limits are one tenant's.
    ///
    /// # Errors
    /// See [`NoRate`].
    async fn take(&self, asks: &[RateAsk], tokens: u64) -> Result<Vec<RateGrant>, NoRate>;

    /// Keeps a slice for its time anew: with permits for what is under way and some to spare, none more than it had, and
    /// no more requests or tokens. `None` where its time was over.
    ///
    /// # Errors
    /// [`NoRate::Away`]
    async fn renew(&self, ask: &RateAsk) -> Result<Option<RateGrant>, NoRate>;

    /// Gives back what of a slice was not used. Requests and tokens that the limit has made up for meanwhile count no
    /// more, nor does anything after the slice's time.
    ///
    /// # Errors
    /// [`NoRate::Away`]; permits to run at once then come back when the slice's time is over.
    async fn give_back(&self, ask: &RateAsk, unused: &RateGrant) -> Result<(), NoRate>;
}

/// A limit, and who wants a slice of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RateAsk {
    /// Whose: the tenant.
    pub tenant_id: String,
    /// Of what kind.
    pub level: Level,
    /// Which key or scene; empty for the tenant's own.
    pub name: String,
    /// The limit.
    pub limit: RateLimit,
    /// The scene's priority among those of the tenant, 0 for the ordinary; and the highest that any has.
    pub priority: (i32, i32),
    /// Names the slice, one for each replica. Asked for again, it gets more requests and tokens, its time begins anew,
    /// and its permits are as many as the new grant says, in all.
    pub slice_id: String,
    /// Requests that the slice's holder has under way, without the one at hand.
    pub under_way: u32,
    /// How long the slice may be used, and its permits are kept.
    pub ttl: Duration,
}

impl RateAsk {
    /// How many steps of priority it is below the highest. A scene's own limit knows no priorities.
    pub fn steps(&self) -> u32 {
        let (own, highest) = self.priority;
        if self.level == Level::Scene || own >= highest { 0 } else { highest.abs_diff(own) }
    }
}

/// A slice of a limit. Zero where that is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateGrant {
    /// Requests.
    pub requests: u64,
    /// Tokens.
    pub tokens: u64,
    /// Requests under way at once, those of the slice before included.
    pub concurrent: u32,
    /// What the limit has left after it, for all.
    pub remaining: RateLimit,
}

/// No slice was given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoRate {
    /// A limit is used up for now.
    #[error("the rate limit is used up")]
    Short {
        /// Index of the limit among those asked for.
        ask: usize,
        /// What of it is used up.
        of: Count,
        /// When it may be worth asking again: exact for requests and tokens, a guess for permits.
        retry_after: Duration,
        /// What is left of it.
        remaining: RateLimit,
    },
    /// A request of so many tokens never fits the limit.
    #[error("the request needs more tokens than the limit ever has")]
    TooLarge {
        /// Index of the limit.
        ask: usize,
    },
    /// The limiter cannot be reached.
    #[error("the rate limiter is away: {0}")]
    Away(String),
}
