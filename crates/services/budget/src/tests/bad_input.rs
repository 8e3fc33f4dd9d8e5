//! Whatever is wrong, its field is named, and all of them at once.

use super::world::{World, fields, monthly};
use signalbox_api::v1::{
    self, ApiKey, Budget, ScenePolicy, ScoreWeights, Tenant, Tier,
    budget::{Action, Threshold},
    budget_service_server::BudgetService,
};
use tonic::Request;

fn threshold(used_share: f64, action: Action) -> Threshold {
    Threshold { used_share, action: action as i32, ..Threshold::default() }
}

#[tokio::test]
async fn a_tenant() {
    let world = World::new().await;
    let weights = ScoreWeights { factors: [("colour".to_owned(), -1.0)].into() };
    let tenant = Tenant {
        tenant_id: "Acme!".into(),
        plan: "huge".into(),
        state: 9,
        time_zone: "Europe/Roma".into(),
        locale: "it_IT".into(),
        allowed_tiers: vec![0, 7],
        allowed_models: vec!["openai/gpt-*-x".into(), String::new()],
        required_vendor_labels: vec![String::new()],
        weights: [("news".to_owned(), weights)].into(),
        default_max_output_tokens: -5,
        scenes: vec![ScenePolicy::default(), ScenePolicy { priority: 1_000, ..ScenePolicy::default() }],
        ..Tenant::default()
    };
    let request = v1::CreateTenantRequest { tenant: Some(tenant) };
    let expected = [
        "tenant.tenant_id",
        "tenant.plan",
        "tenant.state",
        "tenant.time_zone",
        "tenant.locale",
        "tenant.allowed_tiers[0]",
        "tenant.allowed_tiers[1]",
        "tenant.allowed_models[0]",
        "tenant.allowed_models[1]",
        "tenant.required_vendor_labels[0]",
        "tenant.weights[news].factors[colour]",
        "tenant.weights[news].factors[colour]",
        "tenant.weights[news].factors",
        "tenant.default_max_output_tokens",
        "tenant.scenes[0].scene",
        "tenant.scenes[1].scene",
        "tenant.scenes[1].scene",
        "tenant.scenes[1].priority",
    ];
    assert_eq!(fields(world.service.create_tenant(Request::new(request)).await), expected);
    let nothing = v1::CreateTenantRequest::default();
    assert_eq!(fields(world.service.create_tenant(Request::new(nothing)).await), ["tenant"]);
}

#[tokio::test]
async fn an_api_key() {
    let world = World::with_acme().await;
    let past = Some(prost_types::Timestamp { seconds: 1, nanos: 0 });
    let key = ApiKey { tenant_id: String::new(), expire_time: past, ..ApiKey::default() };
    let request = v1::CreateApiKeyRequest { api_key: Some(key) };
    let expected = ["api_key.tenant_id", "api_key.scope", "api_key.expire_time"];
    assert_eq!(fields(world.service.create_api_key(Request::new(request)).await), expected);
    let request = v1::RevokeApiKeyRequest { reason: "x".repeat(2_000), ..Default::default() };
    let expected = ["tenant_id", "key_id", "reason"];
    assert_eq!(fields(world.service.revoke_api_key(Request::new(request)).await), expected);
}

#[tokio::test]
async fn a_budget() {
    let world = World::with_acme().await;
    let create = |budget: Budget| {
        world.service.create_budget(Request::new(v1::CreateBudgetRequest { budget: Some(budget) }))
    };
    let empty = Budget { key_id: "k".into(), scene: "s".into(), limit_nano_eur: -1, ..Budget::default() };
    let expected = [
        "budget.budget_id",
        "budget.tenant_id",
        "budget.scene",
        "budget.period",
        "budget.limit_nano_eur",
        "budget.enforcement",
    ];
    assert_eq!(fields(create(empty).await), expected);
    let foreign = Budget { key_id: "nobodys".into(), ..monthly("b", 1) };
    assert_eq!(fields(create(foreign).await), ["budget.key_id"]);
    let too_much = Budget { limit_nano_eur: i64::MAX, ..monthly("b", 1) };
    assert_eq!(fields(create(too_much).await), ["budget.limit_nano_eur"]);
}

#[tokio::test]
async fn thresholds() {
    let world = World::with_acme().await;
    let create = |thresholds: Vec<Threshold>| {
        let budget = Budget { thresholds, ..monthly("b", 1) };
        world.service.create_budget(Request::new(v1::CreateBudgetRequest { budget: Some(budget) }))
    };
    let named = |index: usize, field: &str| vec![format!("budget.thresholds[{index}].{field}")];
    let notify = |share| threshold(share, Action::Notify);
    assert_eq!(fields(create(vec![notify(0.5), notify(0.5)]).await), named(1, "used_share"), "overlapping");
    assert_eq!(fields(create(vec![notify(0.9), notify(0.5)]).await), named(1, "used_share"), "falling");
    for share in [0.0, -0.1, 1.1, f64::NAN] {
        assert_eq!(fields(create(vec![notify(share)]).await), named(0, "used_share"), "{share}");
    }
    let tierless = threshold(0.9, Action::LimitTier);
    assert_eq!(fields(create(vec![tierless]).await), named(0, "tier"));
    let tiered = Threshold { tier: Tier::Economy as i32, ..notify(0.9) };
    assert_eq!(fields(create(vec![tiered]).await), named(0, "tier"));
    assert_eq!(fields(create(vec![threshold(0.9, Action::Unspecified)]).await), named(0, "action"));
    let early = Threshold { before_elapsed_share: Some(1.5), ..notify(0.9) };
    assert_eq!(fields(create(vec![early]).await), named(0, "before_elapsed_share"));
}

#[tokio::test]
async fn what_operators_ask_of_budgets() {
    let world = World::with_acme().await;
    world.budget(monthly("b", 1)).await;
    let top_up = v1::TopUpBudgetRequest { amount_nano_eur: -1, ..Default::default() };
    let expected = ["tenant_id", "budget_id", "top_up_id", "amount_nano_eur"];
    assert_eq!(fields(world.service.top_up_budget(Request::new(top_up)).await), expected);
    let limit = v1::OverrideBudgetRequest { limit_nano_eur: -1, ..Default::default() };
    let expected = ["tenant_id", "budget_id", "limit_nano_eur", "reason"];
    assert_eq!(fields(world.service.override_budget(Request::new(limit)).await), expected);
    let entries = v1::ListLedgerEntriesRequest { kinds: vec![0, 99], page_size: -1, ..Default::default() };
    let expected = ["tenant_id", "kinds[0]", "kinds[1]", "page_size"];
    assert_eq!(fields(world.service.list_ledger_entries(Request::new(entries)).await), expected);
    let nothing = v1::ReconcileLedgerRequest { tenant_id: "!".into(), ..Default::default() };
    let expected = ["tenant_id", "start_time"];
    assert_eq!(fields(world.service.reconcile_ledger(Request::new(nothing)).await), expected);
}

#[tokio::test]
async fn what_roles_ask() {
    let world = World::with_acme().await;
    let resolve = v1::ResolveApiKeyRequest { key_id: String::new(), digest: vec![1; 31].into() };
    assert_eq!(fields(world.service.resolve_api_key(Request::new(resolve)).await), ["key_id", "digest"]);
    let acquire = v1::AcquireLeasesRequest { needed_nano_eur: -1, ..Default::default() };
    let expected = ["replica_id", "grant_id", "needed_nano_eur"];
    assert_eq!(fields(world.service.acquire_leases(Request::new(acquire)).await), expected);
    let returns = vec![v1::LeaseReturn { amount_nano_eur: -1, ..Default::default() }];
    let give_back = v1::ReturnLeasesRequest { returns, ..Default::default() };
    let expected = ["replica_id", "return_id", "returns[0].lease_id", "returns[0].amount_nano_eur"];
    assert_eq!(fields(world.service.return_leases(Request::new(give_back)).await), expected);
    let reserve = v1::ReserveRequest { amount_nano_eur: -1, ..Default::default() };
    let expected = ["reservation_id", "tenant_id", "amount_nano_eur", "ttl"];
    assert_eq!(fields(world.service.reserve(Request::new(reserve)).await), expected);
    let settle = v1::SettleRequest { settlements: vec![v1::Settlement::default()] };
    assert_eq!(fields(world.service.settle(Request::new(settle)).await), ["settlements[0].settlement_id"]);
}
