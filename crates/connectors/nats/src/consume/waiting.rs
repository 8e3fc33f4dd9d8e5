//! The oldest message that may still have to be stored.
//!
//! Not the first of the stream: a server that is killed may forget that it had removed what was acknowledged. The consumer
//! knows better, and what is below its floor is removed once more. And not those that wait for room among the dead letters:
//! they can never be stored.

use super::PATIENCE;
use crate::subjects::USAGE_STREAM;
use async_nats::jetstream::{
    Context,
    consumer::Info,
    stream::{RawMessageErrorKind, Stream},
};
use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, timeout};

/// How often it is looked for messages that were acknowledged and are still there.
const TIDY_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Oldest {
    /// What can neither be stored nor set aside.
    left: BTreeSet<u64>,
    /// Nothing before it is waited for.
    from: u64,
    tidied: Option<Instant>,
}

impl Oldest {
    pub(super) fn leave(&mut self, sequences: &[u64]) {
        self.left.extend(sequences);
    }

    /// When the stream took the oldest; `None` where that is not known.
    pub(super) async fn taken_at(&mut self, context: &Context, info: &Info) -> Option<SystemTime> {
        let floor = info.ack_floor.stream_sequence;
        self.left = self.left.split_off(&(floor + 1));
        self.from = self.from.max(floor + 1);
        let stream = context.get_stream(USAGE_STREAM).await.ok()?;
        let looking = self.look(&stream);
        timeout(PATIENCE, looking).await.ok().flatten()
    }

    /// Those that are left are passed once, not each time.
    async fn look(&mut self, stream: &Stream) -> Option<SystemTime> {
        loop {
            let next = stream.raw_message_builder().sequence(self.from).next_by_subject(">");
            match next.send().await {
                Ok(message) if self.left.contains(&message.sequence) => self.from = message.sequence + 1,
                Ok(message) => return Some(message.time.into()),
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {
                    return Some(stream.cached_info().state.last_timestamp.into());
                }
                Err(_) => return None,
            }
        }
    }

    /// Whether it is time to [`tidy`] again.
    pub(super) fn is_due(&mut self) -> bool {
        let due = self.tidied.is_none_or(|before| before.elapsed() >= TIDY_EVERY);
        if due {
            self.tidied = Some(Instant::now());
        }
        due
    }
}

/// Removes what was acknowledged and is still in the stream, where it takes room, of the time before this epoch.
pub(super) async fn tidy(context: &Context, info: &Info, through: u64) {
    let floor = info.ack_floor.stream_sequence.min(through);
    let Ok(stream) = context.get_stream(USAGE_STREAM).await else { return };
    let state = &stream.cached_info().state;
    // A stream that ends before the floor has lost more than that.
    if state.first_sequence > floor || info.ack_floor.stream_sequence > state.last_sequence {
        return;
    }
    match stream.purge().sequence(floor + 1).await {
        Ok(purged) if purged.purged > 0 => {
            let messages = purged.purged;
            tracing::info!(messages, "accounts that were stored long since are removed from the bus");
        }
        Ok(_) => {}
        Err(error) => tracing::debug!(%error, "what was acknowledged cannot be removed from the stream"),
    }
}
