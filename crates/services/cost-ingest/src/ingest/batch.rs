//! Events on their way to the store.

use sha2::{Digest, Sha256};
use signalbox_api::v1::{UsageEvent, dead_letter::Reason};
use signalbox_ports::{Letter, usage_store::Batch};
use std::{fmt::Write, time::SystemTime};

/// A good event and the message it came in.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) sequence: u64,
    pub(super) again: bool,
    pub(super) payload: Vec<u8>,
    pub(super) event: UsageEvent,
}

impl Held {
    /// When its request ended.
    pub(super) fn end(&self) -> Option<SystemTime> {
        self.event.end_time?.try_into().ok()
    }

    /// Where it goes when the store refuses it.
    pub(super) fn refused(self, why: &str, now: SystemTime) -> Letter {
        Letter {
            sequence: self.sequence,
            reason: Reason::StoreRefused,
            detail: why.to_owned(),
            event_id: self.event.event_id,
            tenant_id: self.event.tenant_id,
            set_aside_at: now,
            payload: self.payload,
        }
    }
}

/// Those that must be looked for before they are stored: all, after an insert of which nobody knows how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspects {
    Again,
    All,
}

pub(super) fn batch(part: &[Held], suspects: Suspects) -> Batch {
    let suspected = part.iter().filter(|held| held.again || suspects == Suspects::All);
    Batch {
        token: token(part),
        events: part.iter().map(|held| held.event.clone()).collect(),
        suspects: suspected.map(|held| held.event.event_id.clone()).collect(),
    }
}

/// By place in the stream and by content: a stream that was made anew counts from the beginning again.
fn token(part: &[Held]) -> String {
    let sequence = |held: Option<&Held>| held.map_or(0, |held| held.sequence);
    let mut ids = Sha256::new();
    for held in part {
        ids.update(held.event.event_id.as_bytes());
        ids.update([0]);
    }
    let mut token = format!("{}-{}-{}-", sequence(part.first()), sequence(part.last()), part.len());
    for byte in ids.finalize().iter().take(16) {
        let _infallible = write!(token, "{byte:02x}");
    }
    token
}
