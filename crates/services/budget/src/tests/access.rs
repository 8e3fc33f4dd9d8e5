use super::world::{World, by, refused};
use signalbox_api::{
    status::from_status,
    v1::{self, Tenant, budget_service_server::BudgetService},
};
use signalbox_ports::Scope;
use signalbox_types::ErrorReason;
use tonic::Request;

fn scopes() -> [Scope; 5] {
    let acme = || "acme".to_owned();
    [Scope::Open, Scope::Admin, Scope::Deployment, Scope::Tenant(acme()), Scope::ReadOnly(acme())]
}

/// The scopes that are let in, of a method called with an empty request.
macro_rules! let_in {
    ($world:ident, $method:ident, $request:ident) => {{
        let mut let_in = Vec::new();
        for scope in scopes() {
            let answer = $world.service.$method(by(&scope, v1::$request::default())).await;
            let denied = answer
                .err()
                .is_some_and(|status| from_status(&status).reason == ErrorReason::PermissionDenied);
            if !denied {
                let_in.push(scope);
            }
        }
        (stringify!($method), let_in)
    }};
}

#[tokio::test]
async fn each_method_lets_in_whom_it_is_for() {
    let world = World::with_acme().await;
    let [open, admin, deployment, ..] = scopes();
    let operators = [
        let_in!(world, create_tenant, CreateTenantRequest),
        let_in!(world, list_tenants, ListTenantsRequest),
        let_in!(world, update_tenant, UpdateTenantRequest),
        let_in!(world, create_api_key, CreateApiKeyRequest),
        let_in!(world, revoke_api_key, RevokeApiKeyRequest),
        let_in!(world, create_budget, CreateBudgetRequest),
        let_in!(world, update_budget, UpdateBudgetRequest),
        let_in!(world, top_up_budget, TopUpBudgetRequest),
        let_in!(world, override_budget, OverrideBudgetRequest),
        let_in!(world, reconcile_ledger, ReconcileLedgerRequest),
    ];
    for (method, let_in) in operators {
        assert_eq!(let_in, [open.clone(), admin.clone(), deployment.clone()], "{method}");
    }
    let readers = [
        let_in!(world, get_tenant, GetTenantRequest),
        let_in!(world, list_api_keys, ListApiKeysRequest),
        let_in!(world, get_budget, GetBudgetRequest),
        let_in!(world, list_budgets, ListBudgetsRequest),
        let_in!(world, forecast_budget, ForecastBudgetRequest),
        let_in!(world, list_ledger_entries, ListLedgerEntriesRequest),
        let_in!(world, list_audit_entries, ListAuditEntriesRequest),
    ];
    for (method, let_in) in readers {
        assert_eq!(let_in, scopes(), "{method}");
    }
    let roles = [
        let_in!(world, resolve_api_key, ResolveApiKeyRequest),
        let_in!(world, watch_admission, WatchAdmissionRequest),
        let_in!(world, acquire_leases, AcquireLeasesRequest),
        let_in!(world, renew_leases, RenewLeasesRequest),
        let_in!(world, return_leases, ReturnLeasesRequest),
        let_in!(world, end_replica, EndReplicaRequest),
        let_in!(world, reserve, ReserveRequest),
        let_in!(world, settle, SettleRequest),
    ];
    for (method, let_in) in roles {
        assert_eq!(let_in, [open.clone(), deployment.clone()], "{method}");
    }
}

#[tokio::test]
async fn a_tenants_key_reads_its_own_and_nobody_elses() {
    let world = World::with_acme().await;
    world.tenant(Tenant { tenant_id: "other".to_owned(), ..Tenant::default() }).await;
    for scope in [Scope::Tenant("acme".to_owned()), Scope::ReadOnly("acme".to_owned())] {
        let get = |tenant_id: &str| {
            let request = v1::GetTenantRequest { tenant_id: tenant_id.to_owned() };
            world.service.get_tenant(by(&scope, request))
        };
        assert_eq!(get("").await.unwrap().into_inner().tenant.unwrap().tenant_id, "acme");
        assert_eq!(refused(get("other").await).reason, ErrorReason::PermissionDenied);
        let audits = v1::ListAuditEntriesRequest::default();
        let audits = world.service.list_audit_entries(by(&scope, audits)).await.unwrap().into_inner();
        assert!(audits.entries.iter().all(|entry| entry.tenant_id == "acme"), "not those of all tenants");
        assert_eq!(audits.entries.len(), 1);
    }
}

#[tokio::test]
async fn a_call_from_inside_the_process_is_trusted() {
    let world = World::new().await;
    let request = v1::EndReplicaRequest { replica_id: "r1".to_owned() };
    assert!(world.service.end_replica(Request::new(request)).await.is_ok());
}
