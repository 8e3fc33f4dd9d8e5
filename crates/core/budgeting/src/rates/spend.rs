//! What a replica may start of one rate limit without asking.

use std::time::{Duration, Instant};

/// A slice of a limit. `None` where that is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateSlice {
    /// Requests.
    pub requests: Option<u64>,
    /// Tokens, prompt and answer together.
    pub tokens: Option<u64>,
    /// Requests under way at once.
    pub concurrent: Option<u32>,
}

/// What a rate limit is short of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// There is no slice, or its time is over.
    Slice,
    /// Requests.
    Requests,
    /// Tokens.
    Tokens,
    /// Requests under way at once: it helps to wait until one ends.
    Concurrent,
}

/// The slice here is too small for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateShort {
    /// Of what.
    pub what: What,
    /// How many tokens are missing.
    pub tokens: u64,
}

/// What one request took of a limit. It ends by [`RateWallet::settle`], once, for it cannot be copied.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a hold that is not settled keeps its place among the requests under way"]
pub struct RateHold {
    tokens: u64,
}

/// The slices that a replica has of one limit. Keep one for each limit and priority: what was granted to one priority
/// is not for the others.
#[derive(Debug, Default)]
pub struct RateWallet {
    slice: RateSlice,
    requests: u64,
    /// Below zero where answers were longer than thought.
    tokens: i64,
    under_way: u32,
    until: Option<Instant>,
}

impl RateWallet {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// A slice was granted, for `ttl` from when it was asked for. Requests and tokens add to what is left of the one
    /// before, if its time is not over; places for requests under way replace it.
    pub fn grant(&mut self, slice: RateSlice, asked_at: Instant, ttl: Duration) {
        if !self.lives(asked_at) {
            self.requests = 0;
            self.tokens = self.tokens.min(0);
        }
        self.slice = slice;
        self.requests = self.requests.saturating_add(slice.requests.unwrap_or_default());
        self.tokens = self.tokens.saturating_add(whole(slice.tokens.unwrap_or_default()));
        self.until = self.until.max(asked_at.checked_add(ttl));
    }

    /// Takes a request, its tokens at most, and a place among those under way: all of them or none.
    ///
    /// # Errors
    /// [`RateShort`]: what to ask for.
    pub fn try_hold(&mut self, tokens: u64, now: Instant) -> Result<RateHold, RateShort> {
        let short = |what, tokens| Err(RateShort { what, tokens });
        if !self.lives(now) {
            return short(What::Slice, tokens);
        }
        let missing = whole(tokens).saturating_sub(self.tokens);
        if self.slice.tokens.is_some() && missing > 0 {
            return short(What::Tokens, missing.unsigned_abs());
        }
        if self.slice.requests.is_some() && self.requests == 0 {
            return short(What::Requests, 0);
        }
        if self.slice.concurrent.is_some_and(|most| self.under_way >= most) {
            return short(What::Concurrent, 0);
        }
        self.requests = self.requests.saturating_sub(1);
        self.tokens = self.tokens.saturating_sub(whole(tokens));
        self.under_way += 1;
        Ok(RateHold { tokens })
    }

    /// The request has ended and used so many tokens; `None` for all it held.
    pub fn settle(&mut self, hold: RateHold, tokens: Option<u64>) {
        self.under_way = self.under_way.saturating_sub(1);
        let used = tokens.unwrap_or(hold.tokens);
        self.tokens = self.tokens.saturating_add(whole(hold.tokens)).saturating_sub(whole(used));
    }

    /// The request did not start after all, because another limit or budget was short.
    pub fn cancel(&mut self, hold: RateHold) {
        self.requests = self.requests.saturating_add(1);
        self.settle(hold, Some(0));
    }

    /// What can be started now.
    pub fn left(&self, now: Instant) -> RateSlice {
        if !self.lives(now) {
            return RateSlice {
                requests: self.slice.requests.map(|_| 0),
                tokens: self.slice.tokens.map(|_| 0),
                concurrent: self.slice.concurrent.map(|_| 0),
            };
        }
        RateSlice {
            requests: self.slice.requests.map(|_| self.requests),
            tokens: self.slice.tokens.map(|_| u64::try_from(self.tokens).unwrap_or_default()),
            concurrent: self.slice.concurrent.map(|most| most.saturating_sub(self.under_way)),
        }
    }

    /// Takes all that was not used, to be given back. Requests under way keep their places.
    pub fn take_unused(&mut self, now: Instant) -> RateSlice {
        let unused = self.left(now);
        self.requests = 0;
        self.tokens = self.tokens.min(0);
        self.until = None;
        unused
    }

    fn lives(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| now < until)
    }
}

fn whole(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(10);
    const SLICE: RateSlice = RateSlice { requests: Some(3), tokens: Some(1_000), concurrent: Some(2) };

    fn wallet(now: Instant) -> RateWallet {
        let mut wallet = RateWallet::new();
        wallet.grant(SLICE, now, TTL);
        wallet
    }

    #[test]
    fn what_a_request_did_not_use_serves_the_next() {
        let now = Instant::now();
        let mut wallet = wallet(now);
        let hold = wallet.try_hold(900, now).unwrap();
        assert_eq!(wallet.try_hold(200, now), Err(RateShort { what: What::Tokens, tokens: 100 }));
        wallet.settle(hold, Some(100));
        let left = RateSlice { requests: Some(2), tokens: Some(900), concurrent: Some(2) };
        assert_eq!(wallet.left(now), left);
    }

    #[test]
    fn requests_and_places_run_out_each_for_itself() {
        let now = Instant::now();
        let mut wallet = wallet(now);
        let (one, two) = (wallet.try_hold(1, now).unwrap(), wallet.try_hold(1, now).unwrap());
        assert_eq!(wallet.try_hold(1, now).unwrap_err().what, What::Concurrent);
        wallet.settle(one, None);
        let three = wallet.try_hold(1, now).unwrap();
        wallet.settle(two, None);
        assert_eq!(wallet.try_hold(1, now).unwrap_err().what, What::Requests);
        wallet.cancel(three);
        let again = wallet.try_hold(1, now).unwrap();
        wallet.settle(again, None);
    }

    #[test]
    fn answers_that_were_longer_than_thought_are_paid_from_the_next_slice() {
        let now = Instant::now();
        let mut wallet = wallet(now);
        let hold = wallet.try_hold(1_000, now).unwrap();
        wallet.settle(hold, Some(1_500));
        assert_eq!(wallet.left(now).tokens, Some(0));
        wallet.grant(SLICE, now + TTL, TTL);
        assert_eq!(wallet.left(now + TTL).tokens, Some(500));
    }

    #[test]
    fn a_slice_whose_time_is_over_starts_nothing_and_is_not_saved() {
        let now = Instant::now();
        let mut wallet = wallet(now);
        assert_eq!(wallet.try_hold(1, now + TTL).unwrap_err().what, What::Slice);
        assert_eq!(wallet.left(now + TTL).requests, Some(0));
        wallet.grant(SLICE, now + TTL, TTL);
        assert_eq!(wallet.left(now + TTL), SLICE);
        wallet.grant(SLICE, now + TTL, TTL);
        assert_eq!(wallet.left(now + TTL).requests, Some(6), "one more in the same time adds");
        assert_eq!(wallet.left(now + TTL).concurrent, Some(2), "but no places");
    }

    #[test]
    fn what_is_not_limited_does_not_run_out() {
        let now = Instant::now();
        let mut wallet = RateWallet::new();
        wallet.grant(RateSlice { requests: Some(2), tokens: None, concurrent: None }, now, TTL);
        let huge = wallet.try_hold(u64::MAX, now).unwrap();
        let more = wallet.try_hold(u64::MAX, now).unwrap();
        assert_eq!(wallet.try_hold(1, now).unwrap_err().what, What::Requests);
        wallet.settle(huge, Some(u64::MAX));
        wallet.settle(more, None);
        assert_eq!(wallet.left(now).tokens, None);
    }

    #[test]
    fn what_was_not_used_is_given_back_once() {
        let now = Instant::now();
        let mut wallet = wallet(now);
        let hold = wallet.try_hold(400, now).unwrap();
        let unused = RateSlice { requests: Some(2), tokens: Some(600), concurrent: Some(1) };
        assert_eq!(wallet.take_unused(now), unused);
        assert_eq!(wallet.take_unused(now).tokens, Some(0));
        wallet.settle(hold, None);
    }
}
