use super::world::{World, by, refused, told};
use sha2::{Digest, Sha256};
use signalbox_api::v1::{
    self, ApiKey, ResolveApiKeyResponse, Tenant, api_key::Scope as KeyScope,
    budget_service_server::BudgetService, tenant::State,
};
use signalbox_ports::Scope;
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;
use tonic::Request;

impl World {
    /// A key of `acme`, and its text.
    pub(super) async fn key(&self, key: ApiKey) -> (ApiKey, String) {
        let api_key = ApiKey { tenant_id: "acme".to_owned(), scope: KeyScope::Tenant as i32, ..key };
        let request = v1::CreateApiKeyRequest { api_key: Some(api_key) };
        let made = told(self.service.create_api_key(by(&Scope::Admin, request)).await);
        (made.api_key.unwrap(), made.secret)
    }

    /// Who a text belongs to.
    pub(super) async fn resolve(&self, text: &str) -> Result<ResolveApiKeyResponse, Failure> {
        let key_id = text.split('_').nth(1).unwrap_or_default().to_owned();
        let digest = Sha256::digest(text).to_vec().into();
        let request = v1::ResolveApiKeyRequest { key_id, digest };
        let answer = self.service.resolve_api_key(Request::new(request)).await;
        answer.map(tonic::Response::into_inner).map_err(|status| signalbox_api::status::from_status(&status))
    }

    async fn revoke(&self, key_id: &str) -> ApiKey {
        let request = v1::RevokeApiKeyRequest {
            tenant_id: "acme".to_owned(),
            key_id: key_id.to_owned(),
            reason: "lost".to_owned(),
        };
        told(self.service.revoke_api_key(Request::new(request)).await).api_key.unwrap()
    }
}

#[tokio::test]
async fn a_key_is_shown_once_and_opens_its_tenant() {
    let world = World::with_acme().await;
    let (key, text) = world.key(ApiKey::default()).await;
    assert!(text.starts_with(&format!("sbx_{}_", key.key_id)), "{text}");
    let resolved = world.resolve(&text).await.unwrap();
    assert_eq!(resolved.api_key.as_ref(), Some(&key));
    assert_eq!(resolved.tenant.unwrap().tenant_id, "acme");
    let secret = text.rsplit('_').next().unwrap();
    let audits = world.audits().await;
    assert_eq!(audits[0].method, "CreateApiKey");
    assert!(!format!("{audits:?}").contains(secret), "the audit trail has no secret");
}

#[tokio::test]
async fn a_key_that_is_wrong_unknown_revoked_or_expired_is_told_the_same() {
    let world = World::with_acme().await;
    let in_an_hour = Some((world.dependencies.clock.now() + Duration::from_secs(3_600)).into());
    let (_, expiring) = world.key(ApiKey { expire_time: in_an_hour, ..ApiKey::default() }).await;
    let (lost, revoked) = world.key(ApiKey::default()).await;
    assert!(world.resolve(&expiring).await.is_ok() && world.resolve(&revoked).await.is_ok());
    world.revoke(&lost.key_id).await;
    world.clock.forward(Duration::from_secs(3_600));
    let wrong = format!("{revoked}x");
    for text in [&expiring, &revoked, &wrong, "sbx_nobody_secret"] {
        let failure = world.resolve(text).await.unwrap_err();
        assert_eq!(failure.reason, ErrorReason::Unauthenticated);
        assert_eq!(failure.message, "the API key is unknown, revoked or expired");
    }
}

#[tokio::test]
async fn a_key_is_not_relied_on_beyond_its_end() {
    let world = World::with_acme().await;
    let soon = Some((world.dependencies.clock.now() + Duration::from_secs(5)).into());
    let (_, text) = world.key(ApiKey { expire_time: soon, ..ApiKey::default() }).await;
    assert_eq!(world.resolve(&text).await.unwrap().ttl.unwrap().seconds, 5);
}

#[tokio::test]
async fn a_suspended_tenant_is_refused_and_may_come_back() {
    let world = World::with_acme().await;
    let (_, text) = world.key(ApiKey::default()).await;
    for (state, reason) in [(State::Suspended, Some(ErrorReason::PermissionDenied)), (State::Active, None)] {
        let tenant = Tenant { tenant_id: "acme".into(), state: state as i32, ..Tenant::default() };
        let request = v1::UpdateTenantRequest { tenant: Some(tenant), update_mask: None };
        told(world.service.update_tenant(Request::new(request)).await);
        assert_eq!(world.resolve(&text).await.err().map(|failure| failure.reason), reason);
        let acquired = world.acquire("r1", "g1", 0).await;
        assert_eq!(acquired.err().map(|failure| failure.reason), reason);
    }
}

#[tokio::test]
async fn keys_are_listed_newest_first_without_those_that_ended() {
    let world = World::with_acme().await;
    let (first, _) = world.key(ApiKey::default()).await;
    let (second, _) = world.key(ApiKey::default()).await;
    let revoked = world.revoke(&first.key_id).await;
    assert!(revoked.revoke_time.is_some());
    assert_eq!(world.revoke(&first.key_id).await.revoke_time, revoked.revoke_time, "once is for good");
    let list = |show_inactive| {
        let request =
            v1::ListApiKeysRequest { tenant_id: "acme".into(), show_inactive, ..Default::default() };
        let ids = |keys: Vec<ApiKey>| keys.into_iter().map(|key| key.key_id).collect::<Vec<_>>();
        let answer = world.service.list_api_keys(Request::new(request));
        async move { ids(told(answer.await).api_keys) }
    };
    assert_eq!(list(false).await, std::slice::from_ref(&second.key_id));
    assert_eq!(list(true).await, [second.key_id, first.key_id]);
    let audits = world.audits().await;
    assert_eq!((audits[0].method.as_str(), audits[0].reason.as_str()), ("RevokeApiKey", "lost"));
    let request =
        v1::RevokeApiKeyRequest { tenant_id: "other".into(), key_id: revoked.key_id, ..Default::default() };
    assert_eq!(
        refused(world.service.revoke_api_key(Request::new(request)).await).reason,
        ErrorReason::NotFound
    );
}

#[tokio::test]
async fn a_key_of_a_tenant_that_is_not_there_is_not_made() {
    let world = World::new().await;
    let api_key = ApiKey { tenant_id: "nobody".into(), scope: KeyScope::Tenant as i32, ..ApiKey::default() };
    let request = v1::CreateApiKeyRequest { api_key: Some(api_key) };
    assert_eq!(
        refused(world.service.create_api_key(Request::new(request)).await).reason,
        ErrorReason::NotFound
    );
}
