//! API keys.

use super::secret::{NewKey, digest};
use crate::{
    audit::Deed,
    check::{check_id, check_key, check_reason, check_required},
    failure,
    pages::Page,
    service::Dependencies,
};
use signalbox_api::{
    convert::Violations,
    v1::{
        ApiKey, CreateApiKeyRequest, CreateApiKeyResponse, ListApiKeysRequest, ListApiKeysResponse,
        RevokeApiKeyRequest, RevokeApiKeyResponse,
    },
};
use signalbox_ports::Identity;
use signalbox_types::Failure;
use std::time::SystemTime;

/// Answers `CreateApiKey`.
pub(crate) async fn create(
    dependencies: &Dependencies,
    actor: &Identity,
    request: CreateApiKeyRequest,
) -> Result<CreateApiKeyResponse, Failure> {
    let wanted = request.api_key.ok_or_else(|| Failure::invalid("api_key", "is required"))?;
    let now = dependencies.clock.now();
    let mut violations = Violations::default();
    check_key(&wanted, now, &mut violations);
    violations.into_result()?;
    let new = NewKey::of(&(dependencies.random)());
    let key = ApiKey {
        key_id: new.key_id,
        create_time: Some(now.into()),
        revoke_time: None,
        last_use_time: None,
        ..wanted
    };
    let deed = Deed { actor, method: "CreateApiKey", tenant_id: &key.tenant_id, reason: "" };
    let entry = deed.entry(&*dependencies.clock, resource(&key.key_id), None, Some(&key));
    let created = dependencies.tenants.create_key(&key, &digest(&new.text), &entry).await;
    created.map_err(|error| failure::of_store(error, || failure::tenant(&key.tenant_id)))?;
    Ok(CreateApiKeyResponse { api_key: Some(key), secret: new.text })
}

/// Answers `ListApiKeys`. Inactive ones are left out here, so that a page may have fewer rows than it could.
pub(crate) async fn list(
    dependencies: &Dependencies,
    request: ListApiKeysRequest,
) -> Result<ListApiKeysResponse, Failure> {
    let mut violations = Violations::default();
    check_id(&request.tenant_id, "tenant_id", &mut violations);
    let page = Page::of(&request, &mut violations);
    violations.into_result()?;
    let found = dependencies.tenants.keys(&request.tenant_id, page.after_id(), page.ask()).await;
    let mut api_keys = found.map_err(failure::of_reading)?;
    let next_page_token = page.cut(&mut api_keys, |last| vec![last.key_id.clone()]);
    let now = dependencies.clock.now();
    api_keys.retain(|key| request.show_inactive || is_active(key, now));
    Ok(ListApiKeysResponse { api_keys, next_page_token })
}

/// Answers `RevokeApiKey`.
pub(crate) async fn revoke(
    dependencies: &Dependencies,
    actor: &Identity,
    request: RevokeApiKeyRequest,
) -> Result<RevokeApiKeyResponse, Failure> {
    let RevokeApiKeyRequest { tenant_id, key_id, reason } = request;
    let mut violations = Violations::default();
    check_id(&tenant_id, "tenant_id", &mut violations);
    check_required(&key_id, "key_id", &mut violations);
    check_reason(&reason, &mut violations);
    violations.into_result()?;
    let before = find(dependencies, &tenant_id, &key_id).await?;
    let now = dependencies.clock.now();
    let after = ApiKey { revoke_time: before.revoke_time.or_else(|| Some(now.into())), ..before.clone() };
    let deed = Deed { actor, method: "RevokeApiKey", tenant_id: &tenant_id, reason: &reason };
    let entry = deed.entry(&*dependencies.clock, resource(&key_id), Some(&before), Some(&after));
    let revoked = dependencies.tenants.revoke_key(&tenant_id, &key_id, now, &entry).await;
    let key = revoked.map_err(|error| failure::of_store(error, || failure::key(&tenant_id, &key_id)))?;
    Ok(RevokeApiKeyResponse { api_key: Some(key) })
}

/// A key of a tenant.
pub(super) async fn find(
    dependencies: &Dependencies,
    tenant_id: &str,
    key_id: &str,
) -> Result<ApiKey, Failure> {
    let found = dependencies.tenants.key(key_id).await.map_err(failure::of_reading)?;
    let own = found.map(|(key, _)| key).filter(|key| key.tenant_id == tenant_id);
    own.ok_or_else(|| failure::not_found(&failure::key(tenant_id, key_id)))
}

/// Whether a key opens anything now.
pub(crate) fn is_active(key: &ApiKey, now: SystemTime) -> bool {
    let expired =
        key.expire_time.is_some_and(|time| SystemTime::try_from(time).is_ok_and(|time| time <= now));
    key.revoke_time.is_none() && !expired
}

fn resource(key_id: &str) -> String {
    format!("key/{key_id}")
}
