//! Things to store.

use crate::calendar;
use signalbox_api::v1::{
    ApiKey, AuditEntry, Budget, RateLimit, Tenant, Tier, api_key::Scope, budget::Period,
};
use std::time::{Duration, SystemTime};

pub(super) fn now() -> SystemTime {
    calendar::at(2026, 11, 30, 12, 0)
}

pub(super) fn later(seconds: u64) -> SystemTime {
    now() + Duration::from_secs(seconds)
}

pub(super) fn tenant(tenant_id: &str) -> Tenant {
    Tenant {
        tenant_id: tenant_id.to_owned(),
        display_name: "Ä Newspaper".to_owned(),
        time_zone: "Europe/Rome".to_owned(),
        allowed_tiers: vec![Tier::Economy.into()],
        rate_limit: Some(RateLimit { requests_per_minute: 60, ..RateLimit::default() }),
        create_time: Some(now().into()),
        etag: "1".to_owned(),
        ..Tenant::default()
    }
}

pub(super) fn budget(budget_id: &str) -> Budget {
    Budget {
        budget_id: budget_id.to_owned(),
        tenant_id: "acme".to_owned(),
        period: Period::Monthly.into(),
        limit_nano_eur: 7,
        etag: "1".to_owned(),
        ..Budget::default()
    }
}

pub(super) fn key(key_id: &str) -> ApiKey {
    ApiKey {
        key_id: key_id.to_owned(),
        tenant_id: "acme".to_owned(),
        scope: Scope::Tenant.into(),
        create_time: Some(now().into()),
        ..ApiKey::default()
    }
}

/// A digest that no other name has.
pub(super) fn digest(name: &str) -> [u8; 32] {
    let mut digest = [0xFF; 32];
    digest[..name.len()].copy_from_slice(name.as_bytes());
    digest
}

pub(super) fn audit(audit_id: &str) -> AuditEntry {
    AuditEntry {
        audit_id: audit_id.to_owned(),
        create_time: Some(now().into()),
        method: "UpdateTenant".to_owned(),
        tenant_id: "acme".to_owned(),
        after_json: "{}".to_owned(),
        ..AuditEntry::default()
    }
}
