//! What a server says of a message, in the subject to acknowledge it by.

use async_nats::Subject;
use std::time::{Duration, SystemTime};

/// Where a message stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// In the stream.
    pub(super) sequence: u64,
    /// How often it was delivered, this time included.
    pub(super) delivered: u64,
    /// When the stream took it.
    pub(super) taken_at: SystemTime,
    pub(super) reply: Subject,
}

impl Place {
    /// `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<delivered>.<sequence>.<its own>.<nanoseconds>.<pending>[...]`
    pub(super) fn of(reply: &Subject) -> Option<Self> {
        let parts: Vec<&str> = reply.strip_prefix("$JS.ACK.")?.split('.').collect();
        let from = match parts.len() {
            7 => 2,
            9.. => 4,
            _ => return None,
        };
        let number = |at: usize| parts.get(from + at)?.parse::<u64>().ok();
        Some(Self {
            delivered: number(0)?,
            sequence: number(1)?,
            taken_at: SystemTime::UNIX_EPOCH + Duration::from_nanos(number(3)?),
            reply: reply.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_in_both_forms_that_servers_use() {
        let taken_at = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_700_000_000_000_000_001);
        for reply in [
            "$JS.ACK.USAGE.cost-ingest.2.17.30.1700000000000000001.5",
            "$JS.ACK._.ab12.USAGE.cost-ingest.2.17.30.1700000000000000001.5",
            "$JS.ACK.hub.ab12.USAGE.cost-ingest.2.17.30.1700000000000000001.5.token",
        ] {
            let reply = Subject::from(reply);
            let place = Place { sequence: 17, delivered: 2, taken_at, reply: reply.clone() };
            assert_eq!(Place::of(&reply), Some(place));
        }
        for other in ["$JS.ACK.USAGE", "inbox.1", "$JS.ACK.a.b.c.d.e.f.g"] {
            assert_eq!(Place::of(&Subject::from(other)), None);
        }
    }
}
