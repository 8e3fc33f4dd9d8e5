//! What a limit means.

use super::bank::{
    BUDGET, Bank, EUR, LUNA, acme, budget, charge, cost, is_exhausted, measured, named, short, unbounded,
};
use futures_util::future::join_all;
use serde_json::json;
use signalbox_api::v1::{self, Budget, api_key::Scope, budget::Period, budget_effect::Outcome};
use signalbox_testkit::{Fleet, FleetSize, Topology, both_topologies, eventually, refusal::Refusal};
use signalbox_vendorsim::Vendor;
use std::time::{Duration, Instant};
use tonic::Code;

const OPUS: &str = "anthropic/claude-opus-5-5";
/// Longer than it takes until a replica has heard of money that came back.
const NEWS: Duration = Duration::from_millis(2500);

async fn a_hard_budget_is_never_passed_and_then_says_which_it_was(topology: Topology) {
    let (worst, cost) = measured(short(LUNA)).await;
    let limit = 10 * worst;
    let bank = Bank::with_limit(topology, limit).await;
    let mut served = 0;
    let refused = loop {
        let wave = join_all((0..8).map(|_| bank.ask(short(LUNA)))).await;
        served += wave.iter().filter(|answer| answer.is_ok()).count() as i64;
        if let Some(refused) = wave.into_iter().find_map(Result::err) {
            break refused;
        }
        assert!(served <= limit / cost, "{served}");
    };
    is_exhausted(&refused, BUDGET);
    bank.settled(BUDGET, served * cost).await;

    // What those did not spend serves others, until not even one fits.
    let mut last = Instant::now();
    while last.elapsed() < NEWS {
        match bank.ask(short(LUNA)).await {
            Ok(answer) => {
                (served, last) = (served + 1, Instant::now());
                let effect = answer.route.unwrap().budget.unwrap();
                assert_eq!(effect.outcome(), Outcome::Admitted);
                assert!(effect.remaining.unwrap().nano_eur <= limit - served * cost);
            }
            Err(refused) => is_exhausted(&refused, BUDGET),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    bank.settled(BUDGET, served * cost).await;
    assert!(
        served * cost <= limit && served * cost > limit - 2 * worst,
        "{served} of {}: {:?}",
        limit / cost,
        bank.status(BUDGET).await
    );
    assert_eq!(bank.calls(Vendor::Openai).len() as i64, served, "nobody is called in vain");
    bank.agrees(served as u64).await;
}

async fn who_does_not_say_how_much_it_may_write_does_not_reserve_all(topology: Topology) {
    let bank = Bank::with_limit(topology, EUR / 100).await;
    bank.fault(Vendor::Openai, "first-byte=1000");
    let ask = async |id| bank.ask(named(id, unbounded(LUNA))).await.unwrap();
    tokio::join!(ask("one"), ask("other"));
    for id in ["one", "other"] {
        let event = bank.account(id).await;
        assert!(charge(&event).reserved_nano_eur <= EUR / 200 + EUR / 1000, "{event:?}");
    }
    for call in bank.calls(Vendor::Openai) {
        let body: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
        assert!(body["max_completion_tokens"].as_u64().unwrap() >= 256, "the vendor is told: {body}");
    }
}

async fn prepaid_money_lasts_until_it_is_used_up_and_each_payment_counts_once(topology: Topology) {
    let (worst, cost) = measured(short(LUNA)).await;
    let bank = Bank::open(topology, json!({})).await;
    let prepaid = Budget { period: Period::Prepaid.into(), limit_nano_eur: worst, ..budget(0) };
    assert_eq!(bank.add(prepaid).await.status.unwrap().period_id, "prepaid");
    bank.ask(short(LUNA)).await.unwrap();
    bank.settled(BUDGET, cost).await;
    is_exhausted(&bank.ask(short(LUNA)).await.unwrap_err(), BUDGET);
    let top_up = v1::TopUpBudgetRequest {
        tenant_id: acme(),
        budget_id: BUDGET.into(),
        top_up_id: "invoice-7".into(),
        amount_nano_eur: worst,
        reason: "paid".into(),
    };
    for _ in 0..2 {
        bank.budgets().top_up_budget(top_up.clone()).await.unwrap();
    }
    assert_eq!(bank.status(BUDGET).await.limit_nano_eur, 2 * worst);
    eventually("it is served again", || async { bank.ask(short(LUNA)).await.is_ok() }).await;
}

async fn a_limit_may_be_set_below_what_is_spent_for_this_period_only(topology: Topology) {
    let bank = Bank::with_limit(topology, EUR).await;
    let answer = bank.ask(short(LUNA)).await.unwrap();
    let cost = answer.cost.unwrap().nano_eur;
    bank.settled(BUDGET, cost).await;
    let lower = Budget { limit_nano_eur: cost - 1, ..budget(0) };
    let update = v1::UpdateBudgetRequest { budget: Some(lower), update_mask: None };
    let refusal = Refusal::from(bank.budgets().update_budget(update).await.unwrap_err());
    assert_eq!(refusal.fields, ["budget.limit_nano_eur"], "{refusal:?}");
    let override_to = |limit_nano_eur| v1::OverrideBudgetRequest {
        tenant_id: acme(),
        budget_id: BUDGET.into(),
        limit_nano_eur,
        reason: "a freeze".into(),
    };
    bank.budgets().override_budget(override_to(cost - 1)).await.unwrap();
    eventually("nothing more is served", || async { bank.ask(short(LUNA)).await.is_err() }).await;
    is_exhausted(&bank.ask(short(LUNA)).await.unwrap_err(), BUDGET);
    let status = bank.status(BUDGET).await;
    assert!(status.free_nano_eur < 0 && status.settled_nano_eur >= cost, "{status:?}");
    bank.budgets().override_budget(override_to(EUR)).await.unwrap();
    eventually("it is served again", || async { bank.ask(short(LUNA)).await.is_ok() }).await;
}

async fn keys_and_scenes_have_budgets_of_their_own_within_the_tenants(topology: Topology) {
    let (worst, _) = measured(short(LUNA)).await;
    let bank = Bank::with_limit(topology, EUR).await;
    let (key_id, key) = bank.books().make_key(Fleet::ADMIN_KEY, &acme(), Scope::Tenant).await;
    bank.add(Budget { budget_id: "intern".into(), key_id, ..budget(worst) }).await;
    bank.add(Budget { budget_id: "search".into(), scene: "search".into(), ..budget(worst) }).await;
    let search = || v1::GenerateRequest { scene: "search".into(), ..short(LUNA) };

    bank.ask_at(0, &key, named("by-key", short(LUNA))).await.unwrap();
    is_exhausted(&bank.ask_at(0, &key, short(LUNA)).await.unwrap_err(), "intern");
    bank.ask(named("by-scene", search())).await.unwrap();
    is_exhausted(&bank.ask(search()).await.unwrap_err(), "search");
    bank.ask(named("by-nobody", short(LUNA))).await.unwrap();

    for (id, budgets) in
        [("by-key", &["intern", BUDGET][..]), ("by-scene", &[BUDGET, "search"]), ("by-nobody", &[BUDGET])]
    {
        let event = bank.account(id).await;
        let paid: Vec<_> = event.charges.iter().map(|charge| charge.budget_id.as_str()).collect();
        assert_eq!(paid, budgets);
        for budget_id in budgets.iter().filter(|id| **id != BUDGET) {
            bank.settled(budget_id, cost(&event)).await;
        }
    }
}

async fn a_model_without_a_price_is_left_out_of_a_hard_budget(topology: Topology) {
    let config = json!({
        "models": {"xai/new": {"capabilities": ["text"], "context_window": 8192}},
        "aliases": {"either": {"targets": ["xai/new", LUNA]}},
    });
    let bank = Bank::open(topology, config).await;
    bank.ask(short("either")).await.unwrap();
    assert_eq!(bank.calls(Vendor::Xai).len(), 1, "without a budget any is tried");
    bank.add(budget(EUR)).await;
    eventually("the budget is known", || async {
        let calls = bank.calls(Vendor::Xai).len();
        bank.ask(short("either")).await.unwrap();
        bank.calls(Vendor::Xai).len() == calls
    })
    .await;
    let refused = Refusal::from(bank.ask(short("xai/new")).await.unwrap_err());
    assert_eq!((refused.code, refused.reason), (Code::ResourceExhausted, "BUDGET_EXHAUSTED"));
    assert!(refused.message.contains("price"), "{refused:?}");
}

async fn an_answer_from_a_warm_lease_asks_nobody(topology: Topology) {
    let bank = Bank::with_limit(topology, 1000 * EUR).await;
    let calls = || async {
        let metrics = bank.routers()[0].metrics().await;
        let asked = ["AcquireLeases", "ResolveApiKey"]
            .map(|method| metrics.sum("signalbox_budget_calls_total", &[("method", method)]));
        (asked, metrics.sum("signalbox_budget_admissions_total", &[("outcome", "held")]))
    };
    // That the tenant and its budget are new is still told for a moment.
    eventually("the lease is warm", || async {
        bank.ask(short(LUNA)).await.unwrap();
        let before = calls().await.0;
        tokio::time::sleep(Duration::from_millis(500)).await;
        bank.ask(short(LUNA)).await.unwrap();
        calls().await.0 == before
    })
    .await;
    let (asked, held) = calls().await;
    for _ in 0..50 {
        bank.ask(short(LUNA)).await.unwrap();
    }
    assert_eq!(calls().await, (asked, held + 50.0));
}

async fn ledger_and_usage_store_agree_as_operators_are_told(topology: Topology) {
    let bank = Bank::with_limit(topology, EUR).await;
    for number in 0..5 {
        bank.ask(named(&format!("request-{number}"), short(LUNA))).await.unwrap();
    }
    bank.agrees(5).await;
    let (well, said) = bank.command(&["reconcile", "--last", "1h"]).await;
    assert!(well && said.contains("no difference"), "{said}");
}

both_topologies!(
    a_hard_budget_is_never_passed_and_then_says_which_it_was,
    who_does_not_say_how_much_it_may_write_does_not_reserve_all,
    prepaid_money_lasts_until_it_is_used_up_and_each_payment_counts_once,
    a_limit_may_be_set_below_what_is_spent_for_this_period_only,
    keys_and_scenes_have_budgets_of_their_own_within_the_tenants,
    a_model_without_a_price_is_left_out_of_a_hard_budget,
    an_answer_from_a_warm_lease_asks_nobody,
    ledger_and_usage_store_agree_as_operators_are_told,
);

#[tokio::test]
async fn a_thousand_first_calls_at_three_routers_never_pass_a_euro() {
    let asked = || v1::GenerateRequest { max_output_tokens: Some(4000), ..short(OPUS) };
    let (worst, cost) = measured(asked()).await;
    assert!(1000 * cost > 2 * EUR, "a thousand would cost much more: {cost}");
    let bank = Bank::fleet(FleetSize { routers: 3, budgets: 2 }, json!({})).await;
    bank.add(budget(EUR)).await;
    let answers = join_all((0..1000).map(|call| bank.ask_at(call % 3, Fleet::ADMIN_KEY, asked()))).await;
    let served = answers.iter().filter(|answer| answer.is_ok()).count();
    for refused in answers.into_iter().filter_map(Result::err) {
        is_exhausted(&refused, BUDGET);
    }
    bank.settled(BUDGET, cost * served as i64).await;
    let status = bank.status(BUDGET).await;
    assert!(status.settled_nano_eur <= EUR, "{status:?}");
    assert!(served as i64 >= EUR / worst - 3, "{served} were served: {status:?}");
    assert_eq!(bank.calls(Vendor::Anthropic).len(), served, "nobody is called in vain");
    bank.agrees(served as u64).await;
}
