//! A rate limit that replicas take slices of: buckets of requests and tokens that hold a minute and fill again
//! continuously, and permits for requests under way at once.
//!
//! Counts are exact: a bucket counts in sixty-thousandths, so that a limit per minute is a whole number of them per
//! millisecond. The script that does the same in Redis takes the same steps in the same order.
//!
//! - A **slice** is a twentieth of the limit, less when little is left, but never less than what is asked for.
//! - What comes **back** of a slice can be taken by others only as far as the bucket has not filled up for it already.
//! - A **lower priority** leaves a part of the bucket to the higher ones, so that these find something at once; it is
//!   a tenth of the limit for each step, half at most. In turn a tenth of the limit is its own: when it was refused,
//!   higher ones leave that much to it until it comes again.

mod bucket;
mod permits;
mod slices;

use bucket::Bucket;
use slices::Slices;

/// Milliseconds of a minute, and parts of one request or token.
pub(crate) const MINUTE: u64 = 60_000;
/// More a minute is as good as no limit, and less keeps every number exact in a script's floating point.
pub const LARGEST: u64 = 100_000_000_000;
/// How long the share of somebody refused is kept for them, after the time at which they were told to come again.
const PATIENCE: u64 = 2_000;
/// Steps between two priorities that count.
pub const MOST_STEPS: u32 = 5;

/// How much at a time. Zero is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limit {
    /// Requests a minute.
    pub requests: u64,
    /// Tokens a minute.
    pub tokens: u64,
    /// Requests under way at once.
    pub concurrent: u32,
}

impl Limit {
    /// Whether it never has so many tokens.
    pub fn is_below(&self, tokens: u64) -> bool {
        self.tokens > 0 && tokens > self.tokens.min(LARGEST)
    }
}

/// Who wants what of a limit.
#[derive(Debug, Clone, Copy)]
pub struct Want<'a> {
    /// Names the slice. Asked for again it grows.
    pub slice: &'a str,
    /// Tokens, at least; and one request.
    pub tokens: u64,
    /// Requests that the slice's holder has under way beside the one at hand.
    pub under_way: u32,
    /// How many steps of priority it is below the highest.
    pub steps: u32,
    /// For how many milliseconds what is given may be kept.
    pub ttl: u64,
}

/// What a slice gets. Zero where that is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Given {
    /// Requests.
    pub requests: u64,
    /// Tokens.
    pub tokens: u64,
    /// Requests under way at once, in all.
    pub concurrent: u32,
}

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Requests a minute.
    Requests,
    /// Tokens a minute.
    Tokens,
    /// Requests under way at once.
    Concurrent,
}

/// Why a slice gets nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Too little is left.
    Short {
        /// Worth asking again after so many milliseconds.
        wait: u64,
        /// Of what; where it is of several, of that which takes longest.
        of: Count,
    },
    /// The limit never has so many tokens.
    TooLarge,
}

/// A limit's buckets and slices, by milliseconds of one clock.
#[derive(Debug, Clone, Default)]
pub struct RateLimit {
    at: u64,
    requests: Bucket,
    tokens: Bucket,
    /// Whether somebody of a lower priority waits for a permit.
    permit_claimed: bool,
    claimed_until: u64,
    slices: Slices,
}

/// What everybody of one priority finds.
#[derive(Debug, Clone, Copy)]
struct Asker {
    steps: u32,
    replicas: u64,
    /// Whether what lower priorities wait for counts.
    claims: bool,
}

impl RateLimit {
    /// Lets time pass, and the limit be what it is now. To be called before anything else is asked.
    pub fn advance(&mut self, limit: &Limit, now: u64) {
        // A clock that was set back fills nothing.
        let from = std::mem::replace(&mut self.at, now).min(now);
        self.requests.fill(limit.requests, now - from);
        self.tokens.fill(limit.tokens, now - from);
        self.slices.expire(now);
        self.slices.fit(|slice| &mut slice.requests, self.requests.used());
        self.slices.fit(|slice| &mut slice.tokens, self.tokens.used());
    }

    /// What somebody would get.
    ///
    /// # Errors
    /// [`Refused`], where it is less than they want.
    pub fn offer(&self, limit: &Limit, want: &Want<'_>) -> Result<Given, Refused> {
        if limit.is_below(want.tokens) {
            return Err(Refused::TooLarge);
        }
        let asker = self.asker(want);
        let requests = self.requests.offer(limit.requests, 1, asker);
        let tokens = self.tokens.offer(limit.tokens, want.tokens, asker);
        let concurrent = self.permits(limit, want).offer(asker, self.permit_claimed);
        match (requests, tokens, concurrent) {
            (Ok(requests), Ok(tokens), Ok(concurrent)) => Ok(Given { requests, tokens, concurrent }),
            refused => {
                let (requests, tokens, concurrent) = refused;
                // Of two that take as long the last is told.
                let waits = [
                    (concurrent.err(), Count::Concurrent),
                    (tokens.err(), Count::Tokens),
                    (requests.err(), Count::Requests),
                ];
                let longest = waits.into_iter().filter_map(|(wait, of)| Some((wait?, of)));
                let (wait, of) = longest.max_by_key(|(wait, _)| *wait).unwrap_or((0, Count::Requests));
                Err(Refused::Short { wait, of })
            }
        }
    }

    /// Gives what was offered.
    pub fn take(&mut self, limit: &Limit, want: &Want<'_>, given: &Given) {
        let low = want.steps > 0;
        self.requests.take(limit.requests, 1, given.requests, low);
        self.tokens.take(limit.tokens, want.tokens, given.tokens, low);
        if low {
            self.permit_claimed = false;
        }
        let slice = self.slices.extend(want.slice, self.at.saturating_add(want.ttl));
        slice.requests += given.requests * MINUTE;
        slice.tokens += given.tokens * MINUTE;
        slice.permits = given.concurrent;
        slice.low = low;
    }

    /// Somebody was refused as [`Refused::Short`] and told to wait so long. What is theirs is kept for them.
    pub fn refused(&mut self, limit: &Limit, want: &Want<'_>, wait: u64) {
        if want.steps == 0 {
            return;
        }
        let asker = self.asker(want);
        let permits = self.permits(limit, want).offer(asker, self.permit_claimed);
        self.requests.claim(limit.requests, 1, asker);
        self.tokens.claim(limit.tokens, want.tokens, asker);
        self.permit_claimed = permits.is_err();
        self.claimed_until = self.at.saturating_add(wait).saturating_add(PATIENCE);
    }

    /// Keeps a slice for its time anew, with permits for what is under way and some to spare. `None` where it is over.
    pub fn renew(&mut self, limit: &Limit, want: &Want<'_>) -> Option<Given> {
        self.slices.get_mut(want.slice)?;
        let slice = self.slices.extend(want.slice, self.at.saturating_add(want.ttl));
        slice.permits = slice.permits.min(want.under_way.saturating_add(permits::spare(limit.concurrent)));
        Some(Given { concurrent: slice.permits, ..Given::default() })
    }

    /// A part of a slice comes back.
    pub fn give_back(&mut self, slice: &str, unused: &Given) {
        let Some(slice) = self.slices.get_mut(slice) else { return };
        self.requests.give_back(&mut slice.requests, unused.requests, slice.low);
        self.tokens.give_back(&mut slice.tokens, unused.tokens, slice.low);
        slice.permits = slice.permits.saturating_sub(unused.concurrent);
    }

    /// What is left, for all.
    pub fn remaining(&self, limit: &Limit) -> Limit {
        Limit {
            requests: self.requests.remaining(limit.requests),
            tokens: self.tokens.remaining(limit.tokens),
            concurrent: limit.concurrent.saturating_sub(self.slices.permits_but("").all),
        }
    }

    /// Whether it is as if it had never been used.
    pub fn is_idle(&self) -> bool {
        self.slices.is_empty() && self.requests.is_full() && self.tokens.is_full()
    }

    fn asker(&self, want: &Want<'_>) -> Asker {
        Asker {
            steps: want.steps.min(MOST_STEPS),
            replicas: self.slices.count_with(want.slice),
            claims: self.at < self.claimed_until,
        }
    }

    fn permits(&self, limit: &Limit, want: &Want<'_>) -> permits::Permits {
        permits::Permits {
            limit: limit.concurrent,
            need: want.under_way.saturating_add(1),
            others: self.slices.permits_but(want.slice),
            next_end: self.slices.next_end_but(want.slice).map(|end| end.saturating_sub(self.at)),
        }
    }
}

#[cfg(test)]
mod tests;
