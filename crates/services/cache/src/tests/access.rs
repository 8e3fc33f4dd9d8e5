//! Who may call what.

use super::world::{World, request};
use signalbox_api::v1::{
    self, ExplainCacheRequest, GetCacheStatsRequest, InvalidateRequest, LookupRequest, ReportHitRequest,
    cache_service_server::CacheService as _, invalidate_request, report_hit_request::Verdict,
};
use signalbox_ports::{Identity, Scope};
use std::sync::Arc;
use tonic::{Code, Request};

fn by<T>(scope: &Scope, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.extensions_mut().insert(Arc::new(Identity { key_id: "k".into(), scope: scope.clone() }));
    request
}

fn code<T>(answer: Result<T, tonic::Status>) -> Code {
    answer.err().map_or(Code::Ok, |status| status.code())
}

#[tokio::test(start_paused = true)]
async fn only_roles_look_up_and_store() {
    let world = World::new();
    let asked = request("Name the topic", "Rain.");
    for scope in [Scope::Tenant("acme".into()), Scope::ReadOnly("acme".into()), Scope::Admin] {
        let lookup = LookupRequest { request: Some(asked.clone()), ..Default::default() };
        assert_eq!(code(world.service.lookup(by(&scope, lookup)).await), Code::PermissionDenied);
        let store = v1::StoreRequest::default();
        assert_eq!(code(world.service.store(by(&scope, store)).await), Code::PermissionDenied);
        let renew = v1::RenewFlightRequest::default();
        assert_eq!(code(world.service.renew_flight(by(&scope, renew)).await), Code::PermissionDenied);
        let release = v1::ReleaseFlightRequest::default();
        assert_eq!(code(world.service.release_flight(by(&scope, release)).await), Code::PermissionDenied);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tenants_key_does_what_concerns_its_own_tenant_and_a_reader_only_reads() {
    let world = World::new();
    let tried = async |scope: &Scope, tenant: &str| {
        let asked = v1::GenerateRequest { tenant_id: tenant.into(), ..request("Name the topic", "Rain.") };
        let everything = Some(invalidate_request::Scope::Everything(true));
        let invalidate =
            InvalidateRequest { tenant_id: tenant.into(), scope: everything, ..Default::default() };
        let report = ReportHitRequest {
            tenant_id: tenant.into(),
            entry_id: "00".repeat(16),
            request_id: "7".into(),
            verdict: Verdict::Right.into(),
        };
        let stats = GetCacheStatsRequest { tenant_id: tenant.into(), ..Default::default() };
        let explain = ExplainCacheRequest { stored: Some(asked.clone()), asked: Some(asked) };
        [
            code(world.service.invalidate(by(scope, invalidate)).await),
            code(world.service.report_hit(by(scope, report)).await),
            code(world.service.explain_cache(by(scope, explain)).await),
            code(world.service.get_cache_stats(by(scope, stats)).await),
        ]
    };
    const NO: Code = Code::PermissionDenied;
    assert_eq!(tried(&Scope::Tenant("acme".into()), "acme").await, [Code::Ok; 4]);
    assert_eq!(tried(&Scope::Tenant("acme".into()), "").await, [Code::Ok; 4]);
    assert_eq!(tried(&Scope::Tenant("acme".into()), "other").await, [NO; 4]);
    assert_eq!(tried(&Scope::ReadOnly("acme".into()), "acme").await, [NO, NO, NO, Code::Ok]);
    assert_eq!(tried(&Scope::ReadOnly("acme".into()), "other").await, [NO; 4]);
    assert_eq!(tried(&Scope::Admin, "acme").await, [Code::Ok; 4]);
}
