//! API keys.

use super::texts::{plain_id, text};
use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{ApiKey, api_key::Scope},
};
use std::time::SystemTime;

/// The end of the year 9999.
const LAST_SECOND: i64 = 253_402_300_799;

/// Checks a key that is to be made.
pub(crate) fn key(key: &ApiKey, now: SystemTime, violations: &mut Violations) {
    plain_id(&key.tenant_id, "api_key.tenant_id", violations);
    text(&key.display_name, 256, "api_key.display_name", violations);
    let scope = known_enum::<Scope>(key.scope, "api_key.scope", violations);
    let said = scope != Scope::Unspecified || Scope::try_from(key.scope).is_err();
    violations.check(said, || "api_key.scope", || "is required: tenant, read only or admin");
    if let Some(time) = key.expire_time {
        // What a wire timestamp may say at all: others cannot be written out as text.
        let is_time = (0..1_000_000_000).contains(&time.nanos) && time.seconds <= LAST_SECOND;
        let later = is_time && SystemTime::try_from(time).is_ok_and(|time| time > now);
        violations.check(
            later,
            || "api_key.expire_time",
            || "must be in the future, and before the year 10000",
        );
    }
}
