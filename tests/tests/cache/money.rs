//! What budgets have to do with answers from the cache.

use super::{met, on};
use crate::budgets::bank::{BUDGET, Bank, EUR, LUNA, at, budget, cost, measured, named, short};
use signalbox_api::v1::{
    Budget, GenerateRequest, GenerateResponse, Tier, budget::Action, budget_effect, cache_effect::Outcome,
};
use signalbox_testkit::{Topology, ask::request, eventually, eventually_some, refusal::Refusal};

/// A process with budgets and a cache.
async fn bank() -> Bank {
    Bank::open(Topology::AllInOne, on()).await
}

async fn hit(bank: &Bank, request: GenerateRequest) -> GenerateResponse {
    eventually_some("the answer comes from the cache", || async {
        let answer = bank.ask(request.clone()).await.unwrap();
        (met(answer.route.as_ref().unwrap()).0 == Outcome::ExactHit).then_some(answer)
    })
    .await
}

#[tokio::test]
async fn an_answer_from_the_cache_takes_nothing_of_a_budget() {
    let bank = bank().await;
    bank.add(budget(EUR)).await;
    bank.ask(named("made", short(LUNA))).await.unwrap();
    let spent = cost(&bank.account("made").await);
    bank.settled(BUDGET, spent).await;
    for id in ["one", "two", "three"] {
        hit(&bank, named(id, short(LUNA))).await;
        let event = bank.account(id).await;
        assert_eq!((cost(&event), event.charges.len(), event.attempts.len()), (0, 0, 0));
        assert_eq!(event.cache.unwrap().saved.unwrap().nano_eur, spent);
        assert!(bank.settlements(id).await.is_empty());
    }
    assert_eq!(bank.status(BUDGET).await.settled_nano_eur, spent);
    bank.agrees(1).await;
}

#[tokio::test]
async fn a_budget_that_leaves_cached_answers_gives_these_and_refuses_the_rest() {
    let (worst, spent) = measured(short(LUNA)).await;
    let bank = bank().await;
    #[expect(clippy::cast_precision_loss, reason = "a share of small amounts")]
    let share = spent as f64 / worst as f64 / 2.0;
    let thresholds = vec![at(share, Action::CacheOrBatchOnly, Tier::Unspecified)];
    bank.add(Budget { thresholds, ..budget(worst) }).await;
    bank.ask(short(LUNA)).await.unwrap();
    let other =
        || GenerateRequest { tenant_id: short(LUNA).tenant_id, ..request(LUNA, "Why is grass green?") };
    eventually("the threshold acts", || async {
        let refused = bank.ask(GenerateRequest { max_output_tokens: Some(1), ..other() }).await;
        refused.is_err_and(|status| Refusal::from(status).message.contains("answers that were given before"))
    })
    .await;
    let route = hit(&bank, short(LUNA)).await.route.unwrap();
    assert_eq!(route.budget.unwrap().outcome(), budget_effect::Outcome::CacheOrBatchOnly);
}
