//! Who a key belongs to.

use super::not_suspended;
use crate::{check::check_required, failure, operate::is_active, service::Dependencies};
use signalbox_api::{
    convert::{Violations, duration_to_proto},
    v1::{ApiKey, ResolveApiKeyRequest, ResolveApiKeyResponse},
};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use subtle::ConstantTimeEq;

/// Answers `ResolveApiKey`.
pub(crate) async fn resolve(
    dependencies: &Dependencies,
    request: ResolveApiKeyRequest,
) -> Result<ResolveApiKeyResponse, Failure> {
    let mut violations = Violations::default();
    check_required(&request.key_id, "key_id", &mut violations);
    violations.check(request.digest.len() == 32, || "digest", || "is not a SHA-256: it must have 32 bytes");
    violations.into_result()?;
    let found = dependencies.tenants.key(&request.key_id).await.map_err(failure::of_reading)?;
    // A key that is not there is compared all the same: how long it takes says nothing.
    let stored = found.as_ref().map_or([0; 32], |(_, digest)| *digest);
    let equal = bool::from(stored.as_slice().ct_eq(&request.digest));
    let now = dependencies.clock.now();
    let key = found.map(|(key, _)| key).filter(|key| equal && is_active(key, now)).ok_or_else(unknown)?;
    let tenant = dependencies.tenants.tenant(&key.tenant_id).await.map_err(failure::of_reading)?;
    let tenant = not_suspended(tenant.ok_or_else(unknown)?)?;
    dependencies.feed.uses().note(&key.key_id, now);
    let ttl = time_left(&key, now)
        .map_or(dependencies.options.cache_ttl, |left| left.min(dependencies.options.cache_ttl));
    Ok(ResolveApiKeyResponse { api_key: Some(key), tenant: Some(tenant), ttl: Some(duration_to_proto(ttl)) })
}

/// It does not say which of the three it is.
fn unknown() -> Failure {
    Failure::new(ErrorReason::Unauthenticated, "the API key is unknown, revoked or expired")
}

fn time_left(key: &ApiKey, now: SystemTime) -> Option<Duration> {
    let end = SystemTime::try_from(key.expire_time?).ok()?;
    Some(end.duration_since(now).unwrap_or_default())
}

/// When keys were last used, until that is stored. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uses(Arc<Mutex<HashMap<String, SystemTime>>>);

impl Uses {
    fn note(&self, key_id: &str, now: SystemTime) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key_id.to_owned(), now);
    }

    /// Those noted since the last time.
    pub(crate) fn take(&self) -> Vec<(String, SystemTime)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}
