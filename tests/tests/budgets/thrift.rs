//! What happens on the way to a limit.

use super::bank::{BUDGET, Bank, EUR, LUNA, acme, at, budget, is_exhausted, measured, short, unbounded};
use futures_util::future::join_all;
use serde_json::{Value, json};
use signalbox_api::v1::{
    self, Budget, GenerateResponse, Tier,
    budget::{Action, Enforcement, Period},
    budget_effect::Outcome,
};
use signalbox_testkit::{Topology, both_topologies, eventually, eventually_some, refusal::Refusal};
use signalbox_vendorsim::Vendor;

const OPUS: &str = "anthropic/claude-opus-5-5";

/// A dear model before a cheap one.
fn mixed() -> Value {
    json!({"aliases": {"mixed": {"targets": [OPUS, LUNA]}, "dear": {"targets": [OPUS]}}})
}

/// Asks until the budget does something to it.
async fn until(bank: &Bank, outcome: Outcome, model: &str) -> v1::Route {
    eventually_some("the budget acts", || async {
        let GenerateResponse { route, .. } = bank.ask(short(model)).await.unwrap();
        route.filter(|route| route.budget.as_ref().unwrap().outcome() == outcome)
    })
    .await
}

async fn past_a_threshold_cheaper_models_serve_and_the_answer_says_why(topology: Topology) {
    let (worst, _) = measured(short(OPUS)).await;
    let bank = Bank::open(topology, mixed()).await;
    let thresholds = vec![at(0.05, Action::LimitTier, Tier::Economy)];
    bank.add(Budget { thresholds, ..budget(20 * worst) }).await;
    let route = bank.ask(short("mixed")).await.unwrap().route.unwrap();
    assert_eq!((&*route.vendor, route.budget.as_ref().unwrap().outcome()), ("anthropic", Outcome::Admitted));
    let route = until(&bank, Outcome::Downgraded, "mixed").await;
    assert_eq!((&*route.vendor, &*route.budget.unwrap().threshold), ("openai", "monthly 5%"));
    let note = "left out for the budget's sake (`monthly 5%`): 1 of the models asked for";
    assert_eq!(route.decision.unwrap().notes, [note]);
    // None of those asked for is left: another of the tier serves.
    let route = bank.ask(short("dear")).await.unwrap().route.unwrap();
    assert_eq!((&*route.vendor, route.budget.unwrap().outcome()), ("openai", Outcome::Downgraded));
    // One that is named is not replaced.
    let refusal = Refusal::from(bank.ask(short(OPUS)).await.unwrap_err());
    assert_eq!(refusal.reason, "BUDGET_EXHAUSTED", "{refusal:?}");
}

async fn what_a_dear_model_would_cost_too_much_for_a_cheap_one_does(topology: Topology) {
    let (dear, _) = measured(short(OPUS)).await;
    let bank = Bank::open(topology, mixed()).await;
    bank.add(budget(dear - 1)).await;
    let route = bank.ask(short("mixed")).await.unwrap().route.unwrap();
    assert_eq!((&*route.vendor, route.budget.unwrap().outcome()), ("openai", Outcome::Downgraded));
    assert!(bank.calls(Vendor::Anthropic).is_empty());
}

async fn models_that_cost_nothing_serve_when_nothing_else_may(topology: Topology) {
    let (worst, _) = measured(short(LUNA)).await;
    let bank =
        Bank::open(topology, json!({"aliases": {"any": {"targets": [LUNA, "ollama/llama3.2:3b"]}}})).await;
    let thresholds = vec![at(0.1, Action::FreeOnly, Tier::Unspecified)];
    bank.add(Budget { thresholds, ..budget(5 * worst) }).await;
    let route = bank.ask(short("any")).await.unwrap().route.unwrap();
    assert_eq!(&*route.vendor, "openai");
    let route = until(&bank, Outcome::FreeOnly, "any").await;
    assert_eq!((&*route.vendor, &*route.budget.unwrap().threshold), ("ollama", "monthly 10%"));
    let refusal = Refusal::from(bank.ask(short(LUNA)).await.unwrap_err());
    assert_eq!(refusal.reason, "BUDGET_EXHAUSTED", "{refusal:?}");
}

async fn a_crowd_that_wants_what_is_left_is_served_by_models_that_cost_nothing(topology: Topology) {
    let (worst, _) = measured(short(LUNA)).await;
    let bank =
        Bank::open(topology, json!({"aliases": {"any": {"targets": [LUNA, "ollama/llama3.2:3b"]}}})).await;
    bank.add(budget(10 * worst)).await;
    let client = async || {
        for _ in 0..8 {
            bank.ask(unbounded("any")).await.unwrap();
        }
    };
    join_all((0..16).map(|_| client())).await;
    let status = bank.status(BUDGET).await;
    assert!(status.free_nano_eur >= 0, "{status:?}");
}

async fn beyond_a_soft_limit_the_cheapest_models_serve(topology: Topology) {
    let (worst, _) = measured(short(OPUS)).await;
    let bank = Bank::open(topology, mixed()).await;
    let soft = Budget { enforcement: Enforcement::Soft.into(), ..budget(worst / 4) };
    bank.add(soft).await;
    let route = bank.ask(short("mixed")).await.unwrap().route.unwrap();
    assert_eq!(&*route.vendor, "anthropic", "what is not spent yet is no reason to refuse");
    let route = until(&bank, Outcome::Downgraded, "mixed").await;
    assert_eq!((&*route.vendor, &*route.budget.unwrap().threshold), ("openai", "monthly 100%"));
    for _ in 0..5 {
        bank.ask(short("mixed")).await.unwrap();
    }
    let status = bank.status(BUDGET).await;
    assert!(status.settled_nano_eur > status.limit_nano_eur && status.free_nano_eur < 0, "{status:?}");
}

async fn a_threshold_may_refuse_before_the_limit(topology: Topology) {
    let bank = Bank::open(topology, json!({})).await;
    let thresholds = vec![at(0.01, Action::Refuse, Tier::Unspecified)];
    bank.add(Budget { thresholds, ..budget(EUR / 1000) }).await;
    bank.ask(short(LUNA)).await.unwrap();
    let refused = eventually_some("it is refused", || async { bank.ask(short(LUNA)).await.err() }).await;
    is_exhausted_by_threshold(&refused);
    let forecast = v1::ForecastBudgetRequest { tenant_id: acme(), budget_id: BUDGET.into() };
    let forecast = bank.budgets().forecast_budget(forecast).await.unwrap().into_inner();
    assert!(forecast.daily_nano_eur > 0, "{forecast:?}");
}

fn is_exhausted_by_threshold(status: &tonic::Status) {
    let refusal = Refusal::from(status.clone());
    assert_eq!(refusal.reason, "BUDGET_EXHAUSTED");
    assert!(refusal.message.contains("monthly 1%"), "{refusal:?}");
}

async fn a_suspended_tenant_is_refused_until_it_is_served_again(topology: Topology) {
    let bank = Bank::open(topology, json!({})).await;
    bank.ask(short(LUNA)).await.unwrap();
    let (well, said) = bank.command(&["tenant", "suspend", &acme()]).await;
    assert!(well, "{said}");
    let refused = eventually_some("it is refused", || async { bank.ask(short(LUNA)).await.err() }).await;
    let refusal = Refusal::from(refused);
    assert_eq!((refusal.code, refusal.reason), (tonic::Code::PermissionDenied, "PERMISSION_DENIED"));
    assert!(refusal.message.contains("suspended"), "{refusal:?}");
    let (well, said) = bank.command(&["tenant", "resume", &acme()]).await;
    assert!(well, "{said}");
    eventually("it is served again", || async { bank.ask(short(LUNA)).await.is_ok() }).await;
}

async fn a_day_has_its_own_limit(topology: Topology) {
    let (worst, cost) = measured(short(LUNA)).await;
    let bank = Bank::with_limit(topology, EUR).await;
    let daily = Budget { budget_id: "daily".into(), period: Period::Daily.into(), ..budget(worst) };
    bank.add(daily).await;
    bank.ask(short(LUNA)).await.unwrap();
    is_exhausted(&bank.ask(short(LUNA)).await.unwrap_err(), "daily");
    bank.settled("daily", cost).await;
    bank.settled(BUDGET, cost).await;
}

both_topologies!(
    past_a_threshold_cheaper_models_serve_and_the_answer_says_why,
    what_a_dear_model_would_cost_too_much_for_a_cheap_one_does,
    models_that_cost_nothing_serve_when_nothing_else_may,
    a_crowd_that_wants_what_is_left_is_served_by_models_that_cost_nothing,
    beyond_a_soft_limit_the_cheapest_models_serve,
    a_threshold_may_refuse_before_the_limit,
    a_suspended_tenant_is_refused_until_it_is_served_again,
    a_day_has_its_own_limit,
);
