//! How far the servers can be trusted to say that a message was delivered before.
//!
//! A server that dies forgets deliveries and acknowledgements of the last moments, and so may another that takes its place:
//! they then deliver messages once more as if it were the first time, perhaps while another ingester still stores them.
//! So the time is cut into epochs, one for each leader of the consumer. What was in the stream when an epoch began counts as
//! delivered before, and is kept back until nobody can still be storing it. So is what its sender sent again: the first copy
//! may have been delivered and then lost with the server, so that the second is not known for one. The first ingester to
//! notice an epoch notes its beginning in the consumer's metadata, so that a new ingester does not have to begin one.

use async_nats::jetstream::consumer::Info;
use std::time::{Duration, SystemTime};

/// Key in the consumer's metadata.
pub(super) const NOTE: &str = "signalbox-epoch";

/// Who remembers deliveries, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Memory {
    /// Another one when the servers may have forgotten something.
    pub(super) id: String,
    /// Whether it surely is another one then. Else every message counts as delivered before.
    pub(super) sure: bool,
}

impl Memory {
    /// `server` is the process that the connection leads to. A server that stands alone is that process; in a cluster
    /// the consumer has a leader since some time, if it has copies.
    pub(super) fn of(info: &Info, server: &str) -> Self {
        let Some(cluster) = &info.cluster else { return Self { id: server.to_owned(), sure: true } };
        let leader = cluster.leader.as_deref().unwrap_or_default();
        match cluster.leader_since.map(|since| since.unix_timestamp_nanos()) {
            Some(since) => Self { id: format!("{leader}@{since}"), sure: true },
            None => Self { id: format!("{leader}/{server}"), sure: false },
        }
    }
}

/// A time in which deliveries are remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Epoch {
    pub(super) memory: Memory,
    /// When it was noticed.
    since: SystemTime,
    /// The last message in the stream then.
    through: u64,
}

impl Epoch {
    pub(super) fn begun(memory: Memory, since: SystemTime, through: u64) -> Self {
        Self { memory, since, through }
    }

    /// What another ingester noted, if it is about the same.
    pub(super) fn noted(memory: &Memory, note: &str) -> Option<Self> {
        let mut parts = note.rsplitn(3, ' ');
        let through = parts.next()?.parse().ok()?;
        let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(parts.next()?.parse().ok()?))?;
        (parts.next()? == memory.id).then(|| Self { memory: memory.clone(), since, through })
    }

    pub(super) fn note(&self) -> String {
        let since = self.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        format!("{} {} {}", self.memory.id, since.as_millis(), self.through)
    }

    /// The last message that was in the stream when the epoch began.
    pub(super) fn through(&self) -> u64 {
        self.through
    }

    /// Whether a message may have been delivered before, whatever the server says.
    pub(super) fn doubts(&self, sequence: u64) -> bool {
        !self.memory.sure || sequence <= self.through
    }

    /// Whether somebody may still be storing a message, or an earlier copy of one that was sent again.
    pub(super) fn must_wait(&self, sequence: u64, resent: bool, now: SystemTime, hold: Duration) -> bool {
        (resent || sequence <= self.through) && now.duration_since(self.since).unwrap_or_default() < hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn memory(id: &str) -> Memory {
        Memory { id: id.to_owned(), sure: true }
    }

    #[test]
    fn what_may_have_been_delivered_before_an_epoch_is_doubted_and_waits_for_a_while() {
        let epoch = Epoch::begun(memory("a"), at(1000), 17);
        let hold = Duration::from_secs(30);
        assert!(epoch.doubts(17) && !epoch.doubts(18));
        let waits = |sequence, resent, now| epoch.must_wait(sequence, resent, at(now), hold);
        assert!(waits(17, false, 1029) && !waits(17, false, 1030) && !waits(18, false, 1000));
        assert!(waits(18, true, 1029) && !waits(18, true, 1030));
        let unsure = Memory { sure: false, ..memory("a") };
        assert!(Epoch::begun(unsure, at(1000), 17).doubts(18));
    }

    #[test]
    fn a_note_is_believed_only_about_the_same_memory() {
        let epoch = Epoch::begun(memory("n 1@5"), at(1000), 17);
        assert_eq!(Epoch::noted(&memory("n 1@5"), &epoch.note()), Some(epoch.clone()));
        assert_eq!(Epoch::noted(&memory("n 1@6"), &epoch.note()), None);
        assert_eq!(Epoch::noted(&memory(""), "nonsense"), None);
    }
}
