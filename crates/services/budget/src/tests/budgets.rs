use super::world::{EUR, World, monthly, refused, slices, told};
use prost_types::FieldMask;
use signalbox_api::v1::{
    self, Budget, Tier,
    budget::{Action, Enforcement, Period, Threshold},
    budget_service_server::BudgetService,
    ledger_entry::Kind,
};
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;
use tonic::{Request, Response};

impl World {
    /// Sets fields of a budget.
    pub(super) async fn update(&self, budget: Budget, paths: &[&str]) -> Result<Budget, Failure> {
        let update_mask = Some(FieldMask { paths: paths.iter().map(ToString::to_string).collect() });
        let request = v1::UpdateBudgetRequest { budget: Some(budget), update_mask };
        let answer = self.service.update_budget(Request::new(request)).await;
        let answer = answer.map_err(|status| signalbox_api::status::from_status(&status));
        answer.map(Response::into_inner).map(|answer| answer.budget.unwrap())
    }
}

#[tokio::test]
async fn a_new_budget_stands_at_nothing_of_its_limit() {
    let world = World::with_acme().await;
    let made = world.budget(monthly("m", 10 * EUR)).await;
    let status = made.status.clone().unwrap();
    assert_eq!((status.period_id.as_str(), status.free_nano_eur), ("2026-11", 10 * EUR));
    assert_eq!(status.period_end_time.unwrap().to_string(), "2026-12-01T00:00:00Z");
    let request = v1::CreateBudgetRequest { budget: Some(made) };
    let again = refused(world.service.create_budget(Request::new(request)).await);
    assert_eq!(again.reason, ErrorReason::AlreadyExists);
    let homeless = Budget { tenant_id: "nobody".into(), ..monthly("m", 1) };
    let request = v1::CreateBudgetRequest { budget: Some(homeless) };
    assert_eq!(
        refused(world.service.create_budget(Request::new(request)).await).reason,
        ErrorReason::NotFound
    );
}

#[tokio::test]
async fn budgets_are_listed_page_by_page_with_where_they_stand() {
    let world = World::with_acme().await;
    for id in ["b", "c", "a"] {
        world.budget(monthly(id, EUR)).await;
    }
    let ask = |page_token: String| {
        let request = v1::ListBudgetsRequest { tenant_id: "acme".into(), page_size: 2, page_token };
        world.service.list_budgets(Request::new(request))
    };
    let first = told(ask(String::new()).await);
    let last = told(ask(first.next_page_token.clone()).await);
    assert_eq!(last.next_page_token, "");
    let all: Vec<Budget> = [first.budgets, last.budgets].concat();
    assert_eq!(all.iter().map(|budget| budget.budget_id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(all.iter().all(|budget| budget.status.as_ref().unwrap().free_nano_eur == EUR));
}

#[tokio::test]
async fn a_new_limit_counts_for_the_running_period_too() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    world.update(monthly("m", 4 * EUR), &["limit_nano_eur"]).await.unwrap();
    assert_eq!(world.status("m").await.limit_nano_eur, 4 * EUR);
    world.clock.set("2026-12-05T00:00:00Z");
    assert_eq!(world.status("m").await.limit_nano_eur, 4 * EUR);
}

#[tokio::test]
async fn a_limit_below_what_is_spent_is_refused_and_told_how_much_that_is() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = world.acquire("r1", "g1", 3 * EUR).await.unwrap();
    world.settle("q1", &slices(&granted)[0], 3 * EUR).await;
    let failure = world.update(monthly("m", 2 * EUR), &["limit_nano_eur"]).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::InvalidRequest);
    assert_eq!(failure.violations[0].field, "budget.limit_nano_eur");
    assert!(failure.message.contains("€3.00 (3000000000 nano-EUR)"), "{}", failure.message);
    assert_eq!(world.status("m").await.limit_nano_eur, 10 * EUR, "nothing was changed");
    world.update(monthly("m", 3 * EUR), &["limit_nano_eur"]).await.unwrap();
    assert_eq!(world.status("m").await.free_nano_eur, 0);
}

#[tokio::test]
async fn of_two_who_read_the_same_budget_the_second_to_write_is_told() {
    let world = World::with_acme().await;
    let read = world.budget(monthly("m", 10 * EUR)).await;
    let soft = Budget { enforcement: Enforcement::Soft as i32, ..read.clone() };
    world.update(soft, &["enforcement"]).await.unwrap();
    let raised = Budget { limit_nano_eur: 20 * EUR, ..read };
    let failure = world.update(raised, &["limit_nano_eur"]).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Conflict);
    assert_eq!(world.status("m").await.limit_nano_eur, 10 * EUR);
}

#[tokio::test]
async fn scope_and_period_of_a_budget_cannot_be_changed() {
    let world = World::with_acme().await;
    world.budget(monthly("m", EUR)).await;
    let failure = world.update(monthly("m", EUR), &["scene", "period"]).await.unwrap_err();
    let fields: Vec<_> = failure.violations.iter().map(|one| one.field.as_str()).collect();
    assert_eq!(fields, ["update_mask.paths[0]", "update_mask.paths[1]"]);
}

#[tokio::test]
async fn thresholds_tell_what_they_do_as_money_is_spent() {
    let world = World::with_acme().await;
    let limit_tier = Threshold {
        used_share: 0.9,
        action: Action::LimitTier as i32,
        tier: Tier::Economy as i32,
        ..Threshold::default()
    };
    world.budget(Budget { thresholds: vec![limit_tier], ..monthly("monthly", 10 * EUR) }).await;
    assert_eq!(world.status("monthly").await.threshold, "");
    let granted = world.acquire("r1", "g1", 9 * EUR).await.unwrap();
    assert_eq!(world.status("monthly").await.threshold, "", "what a replica holds is not spent");
    world.settle("q1", &slices(&granted)[0], 9 * EUR).await;
    let status = world.status("monthly").await;
    assert_eq!(status.threshold, "monthly 90%");
    assert_eq!((status.action(), status.tier()), (Action::LimitTier, Tier::Economy));
}

#[tokio::test]
async fn the_ledger_tells_what_moved_the_money_newest_first() {
    let world = World::with_acme().await;
    world.budget(monthly("m", 10 * EUR)).await;
    let granted = world.acquire("r1", "g1", 3 * EUR).await.unwrap();
    world.settle("q1", &slices(&granted)[0], 2 * EUR).await;
    let ask = |request: v1::ListLedgerEntriesRequest| {
        let request = v1::ListLedgerEntriesRequest { tenant_id: "acme".into(), ..request };
        world.service.list_ledger_entries(Request::new(request))
    };
    let all = told(ask(v1::ListLedgerEntriesRequest::default()).await).entries;
    let moves: Vec<_> = all.iter().map(|entry| (entry.kind(), entry.amount_nano_eur)).collect();
    assert_eq!(moves, [(Kind::Settle, 2 * EUR), (Kind::Grant, 3 * EUR), (Kind::Limit, 10 * EUR)]);
    let of_request = v1::ListLedgerEntriesRequest { request_id: "q1".into(), ..Default::default() };
    assert_eq!(told(ask(of_request).await).entries.len(), 1);
    let mut page = v1::ListLedgerEntriesRequest { page_size: 2, ..Default::default() };
    let first = told(ask(page.clone()).await);
    page.page_token = first.next_page_token;
    let last = told(ask(page).await);
    assert_eq!([first.entries, last.entries].concat(), all);
}

#[tokio::test]
async fn a_forecast_goes_on_at_the_rate_of_the_past_week() {
    let world = World::with_acme().await;
    world.clock.set("2026-11-10T00:00:00Z");
    world.budget(monthly("m", 100 * EUR)).await;
    let granted = world.acquire("r1", "g1", 30 * EUR).await.unwrap();
    for day in 0..3 {
        world.clock.forward(Duration::from_secs(24 * 60 * 60));
        world.settle(&format!("q{day}"), &slices(&granted)[0], 10 * EUR).await;
    }
    let request = v1::ForecastBudgetRequest { tenant_id: "acme".into(), budget_id: "m".into() };
    let told = told(world.service.forecast_budget(Request::new(request)).await);
    assert_eq!(told.daily_nano_eur, 10 * EUR);
    assert_eq!(told.exhaust_time.unwrap().to_string(), "2026-11-20T00:00:00Z");
    assert_eq!(told.period_end_nano_eur, (30 + 180) * EUR);
    assert_eq!(told.basis.unwrap().seconds, 3 * 24 * 60 * 60);
}

#[tokio::test]
async fn a_prepaid_budget_has_one_period_for_good() {
    let world = World::with_acme().await;
    world.budget(Budget { period: Period::Prepaid as i32, ..monthly("p", EUR) }).await;
    world.clock.set("2027-11-10T00:00:00Z");
    let status = world.status("p").await;
    assert_eq!((status.period_id.as_str(), status.period_end_time), ("prepaid", None));
}
