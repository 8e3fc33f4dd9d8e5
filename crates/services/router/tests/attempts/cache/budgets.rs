//! What budgets, rates and tenants have to say of answers from the cache.

use super::{asked, cost, outcome};
use crate::{bank::Bank, shelf::Shelf, world::World};
use signalbox_api::{
    status::from_status,
    v1::{self, Tenant, budget_effect, cache_effect::Outcome},
};
use signalbox_ports::SpendLimit;
use signalbox_types::{ErrorReason, Money};

/// A world whose cache has the answer of `pair`.
async fn with_an_answer(bank: &Bank, shelf: &Shelf) -> World {
    let world = World::keeping(bank.clone(), shelf);
    world.ask(asked("pair")).await.unwrap();
    shelf.settled().await;
    world
}

fn refusal<T: std::fmt::Debug>(refused: Result<T, tonic::Status>) -> ErrorReason {
    from_status(&refused.unwrap_err()).reason
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_the_cache_takes_nothing_of_a_budget_and_counts_as_a_request() {
    let (bank, shelf) = (Bank::with(1_000_000_000), Shelf::default());
    let world = with_an_answer(&bank, &shelf).await;
    let left = bank.left();
    let answer = world.ask(asked("pair")).await.unwrap();
    assert_eq!(outcome(&answer.route).0, Outcome::ExactHit);
    let told = bank.told();
    assert_eq!(told[told.len() - 3..], ["standing acme//", "reserve 0", "settle 0"]);
    assert_eq!((bank.left(), world.book.last().charges.len()), (left, 0));

    bank.change(|vault| vault.rate_limited = true);
    assert_eq!(refusal(world.ask(asked("pair")).await), ErrorReason::RateLimited);
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_pays_for_cached_answers_only_gives_these_and_nothing_else() {
    let (bank, shelf) = (Bank::with(1_000_000_000), Shelf::default());
    let world = with_an_answer(&bank, &shelf).await;
    bank.change(|vault| vault.standing.limit = SpendLimit::CacheOrBatchOnly);
    let answer = world.ask(asked("pair")).await.unwrap();
    let effect = answer.route.budget.as_ref().unwrap();
    assert_eq!(
        (outcome(&answer.route).0, effect.outcome()),
        (Outcome::ExactHit, budget_effect::Outcome::CacheOrBatchOnly)
    );
    assert_eq!(refusal(world.ask(asked("all")).await), ErrorReason::BudgetExhausted);
    shelf.settled().await;
    // Nothing may be spent on looking either.
    assert_eq!(shelf.told().last().map(String::as_str), Some("release"), "{:?}", shelf.told());
    assert!(shelf.told_of("lookup")[1..].iter().all(|told| told.ends_with("exactly")));

    bank.change(|vault| vault.standing.limit = SpendLimit::Refuse);
    let before = shelf.told().len();
    assert_eq!(refusal(world.ask(asked("pair")).await), ErrorReason::BudgetExhausted);
    assert_eq!((shelf.told().len(), world.adapter.calls().len()), (before, 1));
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn what_the_cache_asks_of_models_is_accounted_for_and_paid() {
    let (bank, shelf) = (Bank::with(1_000_000_000), Shelf::default());
    shelf.change(|shelf| shelf.embedding = Some(70));
    let world = with_an_answer(&bank, &shelf).await;
    let event = world.book.last();
    let kinds: Vec<_> = event.attempts.iter().map(v1::UsageAttempt::kind).collect();
    assert_eq!(kinds, [v1::usage_attempt::Kind::CacheEmbedding, v1::usage_attempt::Kind::Answer]);
    assert_eq!((cost(event.cost.as_ref()), event.charges.len()), (1070, 1));
    let answer = world.ask(asked("pair")).await.unwrap();
    assert_eq!((cost(answer.route.total_cost.as_ref()), answer.route.attempts.len()), (70, 0));
    let event = world.book.last();
    assert_eq!((event.attempts.len(), event.charges.len()), (1, 1));
    assert_eq!(bank.left(), 1_000_000_000 - 1070 - 70);

    // What keeping an answer took is told by the tenant's next account.
    shelf.change(|shelf| (shelf.embedding, shelf.verdict) = (None, Some(9)));
    world.ask(asked("all")).await.unwrap();
    shelf.settled().await;
    let answer = world.ask(asked("all")).await.unwrap();
    assert_eq!((outcome(&answer.route).0, cost(answer.route.total_cost.as_ref())), (Outcome::ExactHit, 9));
    assert_eq!(bank.left(), 1_000_000_000 - 1070 - 70 - 1000 - 9);
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_a_model_that_the_tenant_may_not_use_any_more_is_not_given() {
    let (bank, shelf) = (Bank::of(Tenant::default()), Shelf::default());
    let world = with_an_answer(&bank, &shelf).await;
    let stricter = Tenant { allowed_models: vec!["anthropic/*".to_owned()], ..Tenant::default() };
    bank.change(|vault| vault.standing.tenant = Some(std::sync::Arc::new(stricter)));
    let answer = world.ask(asked("pair")).await.unwrap();
    assert_eq!((&*answer.route.vendor, outcome(&answer.route)), ("anthropic", (Outcome::Miss, "")));
    shelf.settled().await;
    // Nor is what others answered meanwhile, once it may be used again.
    bank.change(|vault| vault.standing.tenant = Some(std::sync::Arc::new(Tenant::default())));
    let answer = world.ask(asked("pair")).await.unwrap();
    assert_eq!((&*answer.route.vendor, outcome(&answer.route)), ("openai", (Outcome::ExactHit, "")));
}

#[tokio::test(start_paused = true)]
async fn what_a_short_budget_made_do_with_is_not_kept_for_better_days() {
    let (bank, shelf) = (Bank::with(1_000_000_000), Shelf::default());
    let world = World::keeping(bank.clone(), &shelf);
    let short = || v1::GenerateRequest { max_output_tokens: Some(100), ..asked("mixed") };
    bank.change(|vault| vault.standing.tiers = vec![signalbox_types::Tier::Economy]);
    let answer = world.ask(short()).await.unwrap();
    assert_eq!(answer.route.vendor, "openai");
    shelf.settled().await;
    assert_eq!(shelf.told_of("store"), ["store model:openai/gpt-6-luna"]);
    bank.change(|vault| {
        vault.standing.tiers = Vec::new();
        vault.standing.allowance = Some(Money::MAX);
    });
    assert_eq!(world.ask(short()).await.unwrap().route.vendor, "anthropic");
}
