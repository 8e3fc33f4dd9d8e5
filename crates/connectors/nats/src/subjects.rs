//! The names on the bus, and where a message belongs.
//!
//! | subject | what |
//! | --- | --- |
//! | `signalbox.usage.v1.<tenant>` | events, in stream `USAGE` |
//! | `signalbox.usage.v1.=unreadable` | entries of a spool that are no events; the ingester sets them aside |
//! | `signalbox.usage-tail.v1.<tenant>` | each event once more, as the stream took it; nothing is kept |
//! | `signalbox.usage-dead.v1.<reason>.<id>` | what could not be stored, in stream `USAGE_DEAD` |
//! | `signalbox.alerts.v1` | alerts, in stream `SIGNALBOX_ALERTS` |
//!
//! In `<tenant>` each byte of the id that is no ASCII letter, digit, `-` or `_` stands as `=` and two hex digits; the
//! empty id is `=`. It is cut after 200 characters, for it only serves to choose what to hear.

use prost::Message;
use prost_types::Timestamp;
use std::{fmt::Write as _, time::SystemTime};

/// Name of the stream of events.
pub const USAGE_STREAM: &str = "USAGE";
/// Name of the stream of dead letters.
pub const DEAD_STREAM: &str = "USAGE_DEAD";
/// Name of the stream of alerts.
pub const ALERTS_STREAM: &str = "SIGNALBOX_ALERTS";
/// Name of the ingesters' durable consumer.
pub const CONSUMER: &str = "cost-ingest";

pub(crate) const EVENTS: &str = "signalbox.usage.v1";
pub(crate) const TAIL: &str = "signalbox.usage-tail.v1";
pub(crate) const DEAD: &str = "signalbox.usage-dead.v1";
pub(crate) const ALERTS: &str = "signalbox.alerts.v1";

/// Header of a message that may have been published, and stored, before.
pub(crate) const AGAIN: &str = "Signalbox-Again";

/// Header by which the servers know a message again.
pub(crate) const MESSAGE_ID: &str = "Nats-Msg-Id";

const LONGEST_TOKEN: usize = 200;
const LONGEST_ID: usize = 128;

/// A tenant's part of a subject.
pub fn tenant_token(tenant_id: &str) -> String {
    let mut token = String::with_capacity(tenant_id.len());
    for byte in tenant_id.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' {
            token.push(char::from(byte));
        } else {
            let _infallible = write!(token, "={byte:02x}");
        }
    }
    if token.is_empty() {
        token.push('=');
    }
    token.truncate(LONGEST_TOKEN);
    token
}

/// What of an event must be known to send it on.
#[derive(Clone, PartialEq, Message)]
struct Envelope {
    #[prost(string, tag = "2")]
    event_id: String,
    #[prost(string, tag = "5")]
    tenant_id: String,
    #[prost(message, tag = "29")]
    end_time: Option<Timestamp>,
}

/// What an event says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) event_id: String,
    /// When the request ended.
    pub(crate) ended: Option<SystemTime>,
}

impl Stamp {
    /// That of an event; none of something else, and of one whose id cannot stand in a header.
    pub(crate) fn of(payload: &[u8]) -> Option<Self> {
        let event = Envelope::decode(payload).ok().filter(|event| is_plain(&event.event_id))?;
        let ended = event.end_time.and_then(|time| time.try_into().ok());
        Some(Self { event_id: event.event_id, ended })
    }
}

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) subject: String,
    /// Its `Nats-Msg-Id`; `None` where it has no id of its own.
    pub(crate) event_id: Option<String>,
    /// When the request ended.
    pub(crate) ended: Option<SystemTime>,
}

impl Route {
    /// That of an event; of something that is none, where the ingester finds it.
    pub(crate) fn of(payload: &[u8]) -> Self {
        match Envelope::decode(payload) {
            Ok(event) if is_plain(&event.event_id) => Self {
                subject: format!("{EVENTS}.{}", tenant_token(&event.tenant_id)),
                ended: event.end_time.and_then(|time| time.try_into().ok()),
                event_id: Some(event.event_id),
            },
            _ => Self { subject: format!("{EVENTS}.=unreadable"), event_id: None, ended: None },
        }
    }
}

/// Whether an id can stand in a header.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.len() <= LONGEST_ID && id.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_api::v1::UsageEvent;

    #[test]
    fn any_tenant_is_one_legal_part_of_a_subject_and_no_two_share_it() {
        assert_eq!(tenant_token("acme-eu_1"), "acme-eu_1");
        assert_eq!(tenant_token("a.b"), "a=2eb");
        assert_eq!(tenant_token("a=2eb"), "a=3d2eb");
        assert_eq!(tenant_token("*"), "=2a");
        assert_eq!(tenant_token("für > alle"), "f=c3=bcr=20=3e=20alle");
        assert_eq!(tenant_token(""), "=");
        assert_eq!(tenant_token(&"x".repeat(5000)).len(), LONGEST_TOKEN);
    }

    #[test]
    fn an_event_goes_to_its_tenant_under_its_id() {
        let event =
            UsageEvent { event_id: "e1".to_owned(), tenant_id: "acme".to_owned(), ..UsageEvent::default() };
        let route = Route::of(&event.encode_to_vec());
        assert_eq!(route.subject, "signalbox.usage.v1.acme");
        assert_eq!(route.event_id.as_deref(), Some("e1"));
    }

    #[test]
    fn what_is_no_event_or_has_no_usable_id_goes_where_it_is_set_aside() {
        let unnamed = UsageEvent { tenant_id: "acme".to_owned(), ..UsageEvent::default() };
        let broken = UsageEvent { event_id: "e\r\n1".to_owned(), ..UsageEvent::default() };
        for payload in [b"\xff\xff".to_vec(), unnamed.encode_to_vec(), broken.encode_to_vec()] {
            let route = Route::of(&payload);
            assert_eq!((route.subject.as_str(), route.event_id), ("signalbox.usage.v1.=unreadable", None));
        }
    }
}
