//! Whether a message of the bus is an account that may be stored.
//!
//! Money that cannot be right is set aside with its reason, not stored and not guessed.

mod enums;
mod values;

#[cfg(test)]
mod tests;

use prost::Message;
use signalbox_api::v1::{UsageEvent, dead_letter::Reason};
use std::time::SystemTime;

/// The version of [`UsageEvent`]'s meaning that this program knows.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Longer ones are told as none: they are not ours.
const LONGEST_ID: usize = 128;

/// A message that must not be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub(crate) reason: Reason,
    /// What exactly, with the field where there is one.
    pub(crate) detail: String,
    /// Its `event_id` and tenant, as far as they could be read.
    pub(crate) event_id: String,
    pub(crate) tenant_id: String,
}

/// The account in a message.
pub(crate) fn read(payload: &[u8], now: SystemTime) -> Result<UsageEvent, Rejected> {
    let mut event = UsageEvent::default();
    // In place, so that a message broken further down can still be named.
    let decoded = event.merge(payload).map_err(|error| (Reason::Malformed, error.to_string()));
    let checked = decoded.and_then(|()| check(&event, now));
    checked.map_err(|(reason, detail)| Rejected {
        reason,
        detail,
        event_id: readable(&event.event_id),
        tenant_id: readable(&event.tenant_id),
    })?;
    Ok(event)
}

fn check(event: &UsageEvent, now: SystemTime) -> Result<(), (Reason, String)> {
    if event.schema_version > SCHEMA_VERSION {
        let detail = format!(
            "schema_version: is {}, this version knows {SCHEMA_VERSION}; replay it after an upgrade",
            event.schema_version
        );
        return Err((Reason::FutureVersion, detail));
    }
    enums::check(event).map_err(|detail| (Reason::UnknownEnum, detail))?;
    values::check(event, now).map_err(|detail| (Reason::InvalidValue, detail))
}

fn readable(id: &str) -> String {
    let good = id.len() <= LONGEST_ID && !id.contains(char::is_control);
    if good { id.to_owned() } else { String::new() }
}
