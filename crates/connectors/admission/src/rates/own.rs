//! A replica's own part of a limit, which it lets through while nobody hands out slices.

use signalbox_api::v1::RateLimit;
use signalbox_budgeting::rates::Bucket;
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Own {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    places: Option<u32>,
}

impl Own {
    /// The part of one of `replicas`; of each kind at least one.
    pub(super) fn of(limit: &RateLimit, replicas: u32, now: Instant) -> Self {
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

    /// Whether a request could pass beside those under way.
    pub(super) fn could_pass(&mut self, under_way: u32, priority: i32, tokens: u64, now: Instant) -> bool {
        let has = |bucket: &mut Option<Bucket>, amount| {
            bucket.as_mut().is_none_or(|bucket| bucket.wish(priority, now.into_std()) >= amount)
        };
        self.places.is_none_or(|places| under_way < places)
            && has(&mut self.requests, 1)
            && has(&mut self.tokens, tokens)
    }

    /// One passes that could.
    pub(super) fn pass(&mut self, priority: i32, tokens: u64, now: Instant) {
        for (bucket, amount) in [(&mut self.requests, 1), (&mut self.tokens, tokens)] {
            // It is there, as the lock has not been given up since the look.
            let _taken = bucket.as_mut().map(|bucket| bucket.take(amount, priority, now.into_std()));
        }
    }

    /// One that passed did not use all its tokens, or did not start at all.
    pub(super) fn give_back(&mut self, requests: u64, tokens: u64, now: Instant) {
        for (bucket, amount) in [(&mut self.requests, requests), (&mut self.tokens, tokens)] {
            if let Some(bucket) = bucket {
                bucket.give_back(amount, now.into_std());
            }
        }
    }
}
