//! Messages that were sent twice and stand in the stream twice.
//!
//! The servers drop a message that is sent again within the duplicate window. After it, the stream holds both, and two
//! ingesters could store them side by side, each finding that the store has no such event. So one that was sent again is
//! kept back until nothing waits in the stream that is older by as much as the window: the first copy has then been stored,
//! or never was there. As long as ingesters keep up, that is at once.

use crate::subjects::USAGE_STREAM;
use async_nats::jetstream::Context;
use signalbox_ports::Delivery;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

#[derive(Debug)]
pub(super) struct Twice {
    window: Duration,
    kept: Vec<Delivery>,
    extended: Instant,
}

impl Twice {
    /// A little less than the window, since clocks and clean-up are not exact.
    pub(super) fn new(window: Duration) -> Self {
        Self { window: window.mul_f64(0.9), kept: Vec::new(), extended: Instant::now() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(super) fn keep(&mut self, delivery: Delivery) {
        self.kept.retain(|kept| kept.sequence != delivery.sequence);
        self.kept.push(delivery);
    }

    /// Those that must be told to be still wanted, from time to time.
    pub(super) fn take_due(&mut self, every: Duration) -> Vec<u64> {
        if self.extended.elapsed() < every {
            return Vec::new();
        }
        self.extended = Instant::now();
        self.kept.iter().map(|delivery| delivery.sequence).collect()
    }

    /// Those that need not wait any more.
    pub(super) async fn release(&mut self, context: &Context) -> Vec<Delivery> {
        let Some(oldest) = oldest_waiting(context).await else { return Vec::new() };
        let free = |kept: &mut Delivery| !must_wait(kept.taken_at, oldest, self.window);
        self.kept.extract_if(.., free).collect()
    }
}

fn must_wait(taken_at: SystemTime, oldest_waiting: SystemTime, window: Duration) -> bool {
    taken_at.duration_since(oldest_waiting).is_ok_and(|apart| apart >= window)
}

/// When the stream took the oldest message that nobody has stored yet.
async fn oldest_waiting(context: &Context) -> Option<SystemTime> {
    let stream = context.get_stream(USAGE_STREAM).await.ok()?;
    Some(stream.cached_info().state.first_timestamp.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_only_for_those_older_than_the_servers_remember() {
        let window = Duration::from_secs(600);
        let sent_again = SystemTime::UNIX_EPOCH + Duration::from_secs(10_000);
        let waits = |before: u64| must_wait(sent_again, sent_again - Duration::from_secs(before), window);
        assert!(!waits(0) && !waits(599) && waits(600) && waits(5000));
    }
}
