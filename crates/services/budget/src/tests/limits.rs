//! Other limits for the running period.

use super::world::{EUR, World, monthly, slices, told};
use crate::Keeper;
use signalbox_api::v1::{self, Budget, budget_service_server::BudgetService};
use tonic::Request;

impl World {
    /// Pays into the budget `m`.
    pub(super) async fn top_up(&self, top_up_id: &str, amount_nano_eur: i64) -> Budget {
        let request = v1::TopUpBudgetRequest {
            tenant_id: "acme".into(),
            budget_id: "m".into(),
            top_up_id: top_up_id.to_owned(),
            amount_nano_eur,
            reason: "paid".into(),
        };
        told(self.service.top_up_budget(Request::new(request)).await).budget.unwrap()
    }

    pub(super) async fn override_limit(&self, limit_nano_eur: i64) -> Budget {
        let request = v1::OverrideBudgetRequest {
            tenant_id: "acme".into(),
            budget_id: "m".into(),
            limit_nano_eur,
            reason: "election night".into(),
        };
        told(self.service.override_budget(Request::new(request)).await).budget.unwrap()
    }
}

fn limit(budget: &Budget) -> i64 {
    budget.status.as_ref().unwrap().limit_nano_eur
}

#[tokio::test]
async fn a_payment_counts_once_even_when_it_is_told_again_next_month() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    assert_eq!(limit(&world.top_up("pay-1", 5 * EUR).await), 15 * EUR);
    assert_eq!(limit(&world.top_up("pay-1", 5 * EUR).await), 15 * EUR);
    assert_eq!(limit(&world.top_up("pay-2", EUR).await), 16 * EUR);
    world.clock.set("2026-12-05T00:00:00Z");
    assert_eq!(limit(&world.top_up("pay-1", 5 * EUR).await), 10 * EUR);
    let top_ups = world.audits().await.into_iter().filter(|entry| entry.method == "TopUpBudget");
    assert_eq!(top_ups.count(), 2);
}

#[tokio::test]
async fn an_override_lasts_for_the_period_and_stays_in_the_history() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    world.top_up("pay-1", 5 * EUR).await;
    assert_eq!(limit(&world.override_limit(40 * EUR).await), 40 * EUR, "in place of limit and top-ups");
    let audits = world.audits().await;
    assert_eq!((audits[0].method.as_str(), audits[0].reason.as_str()), ("OverrideBudget", "election night"));
    assert!(audits[0].before_json.contains("15000000000"), "{}", audits[0].before_json);
    assert!(audits[0].after_json.contains("40000000000"), "{}", audits[0].after_json);
    world.clock.set("2026-12-05T00:00:00Z");
    assert_eq!(world.status("m").await.limit_nano_eur, 10 * EUR);
}

#[tokio::test]
async fn an_override_below_what_is_spent_stops_all_spending() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = world.acquire("r1", "g1", 3 * EUR).await.unwrap();
    world.settle("q1", &slices(&granted)[0], 3 * EUR).await;
    world.override_limit(EUR).await;
    assert_eq!(world.status("m").await.free_nano_eur, -2 * EUR);
    assert!(world.acquire("r1", "g2", 1).await.is_err());
}

#[tokio::test]
async fn an_update_leaves_top_ups_as_they_are() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    world.top_up("pay-1", 5 * EUR).await;
    let updated = world.update(monthly("m", 8 * EUR), &["limit_nano_eur"]).await.unwrap();
    assert_eq!(limit(&updated), 13 * EUR);
}

#[tokio::test]
async fn an_override_stands_until_its_period_ends_whatever_the_limit_becomes() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    world.override_limit(0).await;
    for wanted in [12 * EUR, 5 * EUR] {
        let updated = world.update(monthly("m", wanted), &["limit_nano_eur"]).await.unwrap();
        assert_eq!((updated.limit_nano_eur, limit(&updated)), (wanted, 0), "a frozen budget stays frozen");
    }
    world.clock.set("2026-12-05T00:00:00Z");
    assert_eq!(world.status("m").await.limit_nano_eur, 5 * EUR);
    let updated = world.update(monthly("m", 6 * EUR), &["limit_nano_eur"]).await.unwrap();
    assert_eq!(limit(&updated), 6 * EUR);
}

#[tokio::test]
async fn a_payments_id_with_another_amount_is_a_conflict_and_another_budgets_id_is_its_own() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    world.budget(monthly("other", 10 * EUR)).await;
    world.top_up("pay-1", 5 * EUR).await;
    let mut request = v1::TopUpBudgetRequest {
        tenant_id: "acme".into(),
        budget_id: "m".into(),
        top_up_id: "pay-1".into(),
        amount_nano_eur: 7 * EUR,
        reason: String::new(),
    };
    let refused = world.service.top_up_budget(Request::new(request.clone())).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::Aborted, "{refused:?}");
    assert!(refused.message().contains("pay-1") && refused.message().contains("5000000000"), "{refused:?}");
    request.budget_id = "other".into();
    let other = told(world.service.top_up_budget(Request::new(request)).await).budget.unwrap();
    assert_eq!(limit(&other), 17 * EUR);
}

/// Whether Prometheus is told that the budget `m` of `acme` is nearly used up.
fn is_told() -> bool {
    let series = "signalbox_budget_used_share{budget=\"m\",tenant=\"acme\"}";
    signalbox_kit::telemetry::metrics::text().lines().any(|line| line.starts_with(series))
}

#[tokio::test]
async fn operators_are_told_of_a_budget_that_is_nearly_used_up() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let mut keeper = Keeper::new(world.dependencies.clone());
    let granted = world.acquire("r1", "g1", 9 * EUR).await.unwrap();
    keeper.keep().await;
    assert!(!is_told(), "what a router holds is not spent");
    world.settle("q1", &slices(&granted)[0], 9 * EUR).await;
    keeper.keep().await;
    assert!(is_told());
    world.top_up("pay-1", 20 * EUR).await;
    keeper.keep().await;
    assert!(!is_told());
}
