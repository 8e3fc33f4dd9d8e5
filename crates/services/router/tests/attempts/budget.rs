//! What budgets do to a request, and what a request does to budgets.

mod ends;

use crate::{
    adapter::{Deed, End, answers_after, fails_after},
    bank::Bank,
    world::{World, alias, task, tried},
};
use signalbox_api::{
    status::from_status,
    v1::{self, budget_effect::Outcome},
};
use signalbox_ports::SpendLimit;
use signalbox_types::{ErrorReason, Money, Tier};
use std::time::Duration;

/// Of at most 100 tokens.
fn short(model: &str) -> v1::GenerateRequest {
    v1::GenerateRequest { max_output_tokens: Some(100), ..alias(model) }
}

/// What a first call of an alias is reserved at.
async fn worst(model: &str) -> i64 {
    let bank = Bank::with(i64::MAX);
    World::admitting(bank.clone()).ask(short(model)).await.unwrap();
    amount(&bank.told()[1])
}

fn amount(told: &str) -> i64 {
    told.split_once(' ').unwrap().1.parse().unwrap()
}

/// The verbs of what the bank was told.
fn verbs(bank: &Bank) -> Vec<String> {
    bank.told().iter().map(|told| told.split_once(' ').unwrap().0.to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_request_is_reserved_at_its_worst_and_settled_at_its_cost() {
    let bank = Bank::with(1_000_000_000);
    let world = World::admitting(bank.clone());
    let asked =
        v1::GenerateRequest { scene: "editor".to_owned(), tenant_id: "acme".to_owned(), ..short("pair") };
    let answer = world.ask(asked).await.unwrap();
    let told = bank.told();
    assert_eq!((&*told[0], &*told[2], told.len()), ("standing acme//editor", "settle 1000", 3));
    assert_eq!(bank.left(), 1_000_000_000 - 1000);
    let event = world.book.last();
    assert_eq!(
        (&*event.charges[0].budget_id, event.charges[0].reserved_nano_eur),
        ("monthly", amount(&told[1]))
    );
    assert_eq!(event.budget, answer.route.budget);
    assert_eq!(event.budget.unwrap().outcome(), Outcome::Admitted);
}

#[tokio::test(start_paused = true)]
async fn who_pays_is_in_the_draft_so_that_a_process_that_dies_leaves_it_behind() {
    let bank = Bank::with(1_000_000_000);
    let world = World::admitting(bank.clone());
    world.adapter.tell("openai", [fails_after(0, ErrorReason::VendorTimeout)]);
    world.adapter.tell("anthropic", [answers_after(60_000, "late")]);
    let asked = tokio::time::timeout(Duration::from_secs(1), world.ask(short("pair")));
    let seen = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        world.book.drafts()
    };
    let (_cut, drafts) = tokio::join!(asked, seen);
    let reserved = drafts.iter().map(|draft| draft.charges[0].reserved_nano_eur);
    let told = bank.told();
    assert_eq!(reserved.collect::<Vec<_>>(), [amount(&told[1]), amount(&told[2])], "{told:?}");
    assert!(drafts.iter().all(|draft| draft.budget.as_ref().unwrap().outcome() == Outcome::Admitted));
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn cheaper_models_serve_what_dearer_ones_cannot_be_paid_for() {
    let (dear, cheap) = (worst("dear").await, worst("pair").await);
    let world = World::admitting(Bank::with(3 * cheap));
    let route = world.ask(short("mixed")).await.unwrap().route;
    assert_eq!((&*route.vendor, route.budget.unwrap().outcome()), ("openai", Outcome::Downgraded));
    let notes = route.decision.unwrap().notes;
    assert_eq!(notes, ["left out for the budget's sake: 1 of the models asked for"]);

    // None of those asked for can be paid: a cheaper tier serves.
    let route = world.ask(short("dear")).await.unwrap().route;
    let decision = route.decision.unwrap();
    assert_eq!((&*route.vendor, route.budget.unwrap().outcome()), ("openai", Outcome::Downgraded));
    assert!(decision.notes[0].starts_with("the budget leaves none of the models asked for"), "{decision:?}");

    let exact = world.ask(short("anthropic/claude-opus-5-5")).await.unwrap_err();
    assert_eq!(from_status(&exact).reason, ErrorReason::BudgetExhausted);
    assert!(dear > 10 * cheap, "{dear} {cheap}");
}

#[tokio::test(start_paused = true)]
async fn when_others_were_quicker_the_request_is_planned_anew_with_what_is_left() {
    let (dear, cheap) = (worst("dear").await, worst("pair").await);
    let bank = Bank::with(dear);
    bank.change(|vault| vault.left = Some(cheap));
    let world = World::admitting(bank.clone());
    let answer = world.ask(short("mixed")).await.unwrap();
    assert_eq!(
        (&*answer.route.vendor, answer.route.budget.unwrap().outcome()),
        ("openai", Outcome::Downgraded)
    );
    assert_eq!(verbs(&bank), ["standing", "short", "reserve", "settle"]);

    bank.change(|vault| (vault.left, vault.standing.allowance) = (Some(1), Some(Money::MAX)));
    let free = world.ask(short("mixed")).await.unwrap().route;
    assert_eq!(&*free.vendor, "ollama", "the tier economy has one that costs nothing");
    bank.change(|vault| vault.left = Some(1));
    let failure = from_status(&world.ask(short("openai/gpt-6-luna")).await.unwrap_err());
    assert_eq!((failure.reason, &*failure.message), (ErrorReason::BudgetExhausted, "the bank has 1"));
    let event = world.book.last();
    assert_eq!((&*event.error_reason, event.attempts.len(), event.charges.len()), ("BUDGET_EXHAUSTED", 0, 0));
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn whoever_always_comes_too_late_is_served_by_a_model_that_costs_nothing() {
    let bank = Bank::with(1_000_000_000);
    bank.change(|vault| vault.mirage = Some(1_000_000_000));
    let world = World::admitting(bank.clone());
    let answer = world.ask(short("mixed")).await.unwrap();
    assert_eq!(&*answer.route.vendor, "ollama");
    assert_eq!(answer.route.budget.unwrap().outcome(), Outcome::Downgraded);
    assert_eq!(verbs(&bank), ["standing", "gone", "gone", "gone", "reserve", "settle"]);

    let failure = from_status(&world.ask(short("openai/gpt-6-luna")).await.unwrap_err());
    assert_eq!((failure.reason, &*failure.message), (ErrorReason::BudgetExhausted, "others were quicker"));
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn a_rate_is_told_at_once_for_no_other_model_would_help() {
    let bank = Bank::with(1_000_000_000);
    bank.change(|vault| vault.rate_limited = true);
    let world = World::admitting(bank.clone());
    let failure = from_status(&world.ask(short("mixed")).await.unwrap_err());
    assert_eq!(failure.reason, ErrorReason::RateLimited);
    assert_eq!((verbs(&bank), world.adapter.calls()), (vec!["standing".to_owned()], vec![]));
}

#[tokio::test(start_paused = true)]
async fn thresholds_leave_tiers_free_models_or_nothing_and_the_answer_says_which() {
    let bank = Bank::with(1_000_000_000);
    let world = World::admitting(bank.clone());
    let at = |threshold: &str, limit, tiers: &[Tier]| {
        bank.change(|vault| {
            vault.standing.limit = limit;
            vault.standing.tiers = tiers.to_vec();
            threshold.clone_into(&mut vault.standing.effect.threshold);
        });
    };
    at("monthly 90%", SpendLimit::None, &[Tier::Economy]);
    let route = world.ask(short("mixed")).await.unwrap().route;
    let effect = route.budget.unwrap();
    assert_eq!(
        (effect.outcome(), &*effect.threshold, &*route.vendor),
        (Outcome::Downgraded, "monthly 90%", "openai")
    );
    let note = "left out for the budget's sake (`monthly 90%`): 1 of the models asked for";
    assert_eq!(route.decision.unwrap().notes, [note]);

    let effect = world.ask(short("pair")).await.unwrap().route.budget.unwrap();
    assert_eq!(
        (effect.outcome(), &*effect.threshold),
        (Outcome::Admitted, "monthly 90%"),
        "they are of that tier"
    );

    at("monthly 95%", SpendLimit::FreeOnly, &[]);
    let route = world.ask(short("own")).await.unwrap().route;
    assert_eq!((&*route.vendor, route.budget.unwrap().outcome()), ("ollama", Outcome::FreeOnly));
    let route = world.ask(short("mixed")).await.unwrap().route;
    assert_eq!(&*route.vendor, "ollama", "the tier economy has a free one");

    for (limit, told) in
        [(SpendLimit::CacheOrBatchOnly, "there is no such answer"), (SpendLimit::Refuse, "nothing more")]
    {
        at("monthly 100%", limit, &[]);
        let failure = from_status(&world.ask(short("own")).await.unwrap_err());
        assert_eq!(failure.reason, ErrorReason::BudgetExhausted);
        assert!(failure.message.contains("`monthly 100%`") && failure.message.contains(told), "{failure:?}");
        let event = world.book.last();
        assert_eq!(
            (&*event.error_reason, &*event.budget.unwrap().threshold),
            ("BUDGET_EXHAUSTED", "monthly 100%")
        );
    }
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn free_models_stay_reachable_when_nothing_is_left() {
    let bank = Bank::with(0);
    let world = World::admitting(bank.clone());
    let route = world.ask(short("own")).await.unwrap().route;
    assert_eq!(&*route.vendor, "ollama");
    assert_eq!(bank.told()[1], "reserve 0");
}

#[tokio::test(start_paused = true)]
async fn a_call_after_one_that_cost_something_is_paid_for_before_it_is_made() {
    let bank = Bank::with(1_000_000_000);
    let world = World::admitting(bank.clone());
    world.adapter.tell("openai", [fails_after(0, ErrorReason::VendorTimeout)]);
    world.ask(short("pair")).await.unwrap();
    assert_eq!(verbs(&bank), ["standing", "reserve", "raise", "settle"]);
    let event = world.book.last();
    let wasted = event.attempts[0].attempt.clone().unwrap().cost.unwrap().nano_eur;
    let [reserved, raised] = [1, 2].map(|at| amount(&bank.told()[at]));
    assert_eq!((raised - reserved, event.charges[0].reserved_nano_eur), (wasted, raised));

    // A failure that cost nothing needs no more.
    let free = Bank::with(1_000_000_000);
    let world = World::admitting(free.clone());
    world.adapter.tell("openai", [fails_after(0, ErrorReason::VendorAuth)]);
    world.ask(short("pair")).await.unwrap();
    assert_eq!(verbs(&free), ["standing", "reserve", "settle"]);
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_cannot_be_paid_any_more_is_passed_over() {
    let bank = Bank::with(worst("rising").await);
    let world = World::admitting(bank.clone());
    world.adapter.tell("openai", [fails_after(0, ErrorReason::VendorTimeout)]);
    world.ask(short("rising")).await.unwrap();
    assert_eq!(world.adapter.calls(), ["openai/gpt-6-luna", "anthropic/claude-haiku-5-5"]);
    assert_eq!(verbs(&bank), ["standing", "reserve", "short", "settle"]);
    bank.check();

    let bank = Bank::with(worst("pair").await);
    let world = World::admitting(bank.clone());
    world.adapter.tell("openai", [fails_after(0, ErrorReason::VendorTimeout)]);
    let status = world.ask(short("pair")).await.unwrap_err();
    let failure = from_status(&status);
    assert_eq!((failure.reason, tried(&status).len()), (ErrorReason::VendorTimeout, 1));
    assert!(failure.message.ends_with("the budget pays for no further attempt"), "{}", failure.message);
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn another_try_after_an_invalid_answer_is_paid_for() {
    let format = v1::response_format::Format::JsonObject(v1::JsonObjectFormat {});
    let asked = || v1::GenerateRequest {
        response_format: Some(v1::ResponseFormat { format: Some(format.clone()) }),
        ..short("pair")
    };
    let bank = Bank::with(1_000_000_000);
    let world = World::admitting(bank.clone());
    world.adapter.tell("openai", [answers_after(0, "no JSON")]);
    world.adapter.tell("anthropic", [answers_after(0, "{}")]);
    world.ask(asked()).await.unwrap();
    let told = bank.told();
    assert_eq!(amount(&told[2]) - amount(&told[1]), 1000);
    assert_eq!(told[3], "settle 2000");

    bank.change(|vault| vault.left = Some(amount(&told[1])));
    let failure = from_status(&world.ask(asked()).await.unwrap_err());
    assert_eq!(failure.reason, ErrorReason::OutputInvalid);
    assert!(failure.message.ends_with("the budget pays for no further attempt"), "{}", failure.message);
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn a_hedge_is_made_where_both_calls_can_be_paid_and_the_first_is_not_held_up() {
    let bank = Bank::with(1_000_000_000_000);
    let world = World::admitting(bank.clone()).after_many_requests("hedged_pair").await;
    let hedged = || v1::GenerateRequest { max_output_tokens: Some(100), ..task("hedged_pair") };
    world.adapter.tell("openai", [answers_after(5_000, "from luna")]);
    world.adapter.tell("anthropic", [answers_after(1, "from haiku")]);
    assert_eq!(world.stream(hedged()).await.unwrap().text, "from haiku");
    let told = bank.told();
    let [reserved, raised] = [3, 2].map(|back| told[told.len() - back].clone());
    assert!(reserved.starts_with("reserve") && raised.starts_with("raise"), "{told:?}");
    assert!(amount(&raised) > amount(&reserved) && amount(&raised) <= 2 * amount(&reserved));

    bank.change(|vault| vault.left = Some(amount(&reserved)));
    assert_eq!(world.stream(hedged()).await.unwrap().text, "from luna");

    // The bank is slow to say whether it pays: who is ready first serves.
    bank.change(|vault| (vault.left, vault.slow_to_raise) = (Some(1_000_000_000_000), 60_000));
    let started = tokio::time::Instant::now();
    assert_eq!(world.stream(hedged()).await.unwrap().text, "from luna");
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn whoever_leaves_pays_what_had_come() {
    let bank = Bank::with(1_000_000_000);
    let world = World::admitting(bank.clone());
    world.adapter.tell("openai", [Deed { after: Duration::ZERO, end: End::Stalls("four words and more") }]);
    let request = v1::StreamGenerateRequest { request: Some(short("pair")) };
    let mut events = world.client().stream_generate(request).await.unwrap().into_inner();
    events.message().await.unwrap().unwrap();
    drop(events);
    let cost = world.book.last().cost.unwrap().nano_eur;
    assert!(cost > 0);
    assert_eq!(bank.told().last().unwrap(), &format!("settle {cost}"));
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_limit_gets_one_that_half_of_what_is_left_pays() {
    let bank = Bank::with(i64::MAX);
    let world = World::admitting(bank.clone());
    world.ask(alias("pair")).await.unwrap();
    let whole = amount(&bank.told()[1]);
    bank.change(|vault| vault.standing.allowance = Some(Money::from_nano_eur(whole / 4)));
    world.ask(alias("pair")).await.unwrap();
    bank.change(|vault| vault.standing.allowance = Some(Money::from_nano_eur(100_000)));
    let refused = world.ask(alias("anthropic/claude-opus-5-5")).await.unwrap_err();
    assert_eq!(from_status(&refused).reason, ErrorReason::BudgetExhausted, "256 tokens of it cost more");
    let [none, Some(limit)] = world.adapter.limits()[..] else { panic!("{:?}", world.adapter.limits()) };
    assert_eq!(none, None, "the model's own limit holds by itself");
    assert!((256..128_000).contains(&limit), "{limit}");
    let second = amount(&bank.told()[4]);
    assert!(second <= whole / 8 && second > whole / 20, "{second} of {whole}");
    world.ask(v1::GenerateRequest { max_output_tokens: Some(70), ..alias("pair") }).await.unwrap();
    assert_eq!(world.adapter.limits().last().unwrap(), &Some(70));
}

#[tokio::test(start_paused = true)]
async fn vectors_are_paid_for_too() {
    let bank = Bank::with(1_000_000_000);
    let world = World::admitting(bank.clone());
    let asked = v1::EmbedRequest {
        inputs: vec!["blue ".repeat(100)],
        scene: "search".to_owned(),
        ..Default::default()
    };
    let answer = world.client().embed(asked.clone()).await.unwrap();
    assert_eq!(answer.metadata().get("x-ratelimit-remaining-requests").unwrap(), "41");
    let told = bank.told();
    assert_eq!((&*told[0], &*told[2]), ("standing //search", "settle 1000"));
    assert!(amount(&told[1]) > 0);
    let event = world.book.last();
    assert_eq!((event.charges.len(), event.budget.unwrap().outcome()), (1, Outcome::Admitted));

    bank.change(|vault| vault.left = Some(1));
    let failure = from_status(&world.client().embed(asked.clone()).await.unwrap_err());
    assert_eq!((failure.reason, &*failure.message), (ErrorReason::BudgetExhausted, "the bank has 1"));
    bank.change(|vault| vault.standing.limit = SpendLimit::FreeOnly);
    let failure = from_status(&world.client().embed(asked.clone()).await.unwrap_err());
    assert!(failure.message.starts_with("openai/text-embedding-3-small could cost"), "{}", failure.message);
    bank.change(|vault| (vault.left, vault.standing.limit) = (None, SpendLimit::CacheOrBatchOnly));
    let failure = from_status(&world.client().embed(asked).await.unwrap_err());
    assert_eq!(failure.reason, ErrorReason::BudgetExhausted, "vectors are not cached");
    assert_eq!(world.adapter.calls().len(), 1);
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn estimates_and_explanations_know_the_budget_and_take_nothing() {
    let cheap = worst("pair").await;
    let bank = Bank::with(cheap);
    let world = World::admitting(bank.clone());
    let request = Some(short("mixed"));
    let told =
        world.client().estimate_cost(v1::EstimateCostRequest { request: request.clone() }).await.unwrap();
    let told = told.into_inner();
    assert_eq!((told.candidates.len(), &*told.candidates[0].vendor), (1, "openai"));
    let explained = v1::ExplainRouteRequest { request, stream: true };
    let told = world.client().explain_route(explained).await.unwrap().into_inner();
    let left_out = &told.decision.unwrap().candidates[1];
    assert!(left_out.excluded_reason.starts_with("could cost"), "{left_out:?}");
    assert_eq!(verbs(&bank), ["standing", "standing"]);
    bank.change(|vault| vault.standing.limit = SpendLimit::Refuse);
    let request = Some(short("pair"));
    let status = world.client().estimate_cost(v1::EstimateCostRequest { request }).await.unwrap_err();
    assert_eq!(from_status(&status).reason, ErrorReason::BudgetExhausted);
}

#[tokio::test(start_paused = true)]
async fn an_answer_tells_what_rates_have_left() {
    let world = World::admitting(Bank::with(1_000_000_000));
    let request = v1::StreamGenerateRequest { request: Some(short("pair")) };
    let whole = world.client().generate(short("pair")).await.unwrap();
    let stream = world.client().stream_generate(request).await.unwrap();
    for metadata in [whole.metadata(), stream.metadata()] {
        let told = ["limit-requests", "remaining-requests", "limit-tokens", "remaining-tokens"]
            .map(|name| metadata.get(format!("x-ratelimit-{name}")).unwrap().to_str().unwrap());
        assert_eq!(told, ["60", "41", "9000", "8000"]);
    }
    let free = World::new().client().generate(short("pair")).await.unwrap();
    assert!(free.metadata().get("x-ratelimit-limit-requests").is_none());
}

#[tokio::test(start_paused = true)]
async fn where_nothing_is_counted_for_a_tenant_nothing_is_reserved_and_nothing_changes() {
    let bank = Bank::default();
    let (counted, free) = (World::admitting(bank.clone()), World::new());
    let [told, free_told] = [counted.ask(alias("all")).await.unwrap(), free.ask(alias("all")).await.unwrap()];
    assert_eq!(bank.told(), ["standing //"]);
    assert_eq!((told.route.budget, told.route.decision), (None, free_told.route.decision));
    assert_eq!((counted.adapter.limits(), counted.book.last().charges), (vec![None], vec![]));
}

/// Subject and description of the one limit that a failure names.
fn limit(status: &tonic::Status) -> (String, String) {
    let failure = from_status(status);
    assert!(failure.message.ends_with("; the budget is `monthly`"), "{failure:?}");
    let [violation] = failure.quota.unwrap().violations.try_into().unwrap();
    (violation.subject, violation.description)
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_for_whose_sake_it_is_also_where_no_call_was_planned() {
    let bank = Bank::with(1_000);
    bank.change(|vault| vault.standing.tightest = Some("monthly".into()));
    let world = World::admitting(bank.clone());
    let asked = || v1::GenerateRequest { tenant_id: "acme".to_owned(), ..short("openai/gpt-6-luna") };
    let monthly = || "tenant/acme/budget/monthly".to_owned();
    let told = limit(&world.ask(asked()).await.unwrap_err());
    assert_eq!(told, (monthly(), "€0.000001 is left".to_owned()));

    bank.change(|vault| vault.standing.held = Money::from_nano_eur(1_000_000_000));
    let refused = world.ask(asked()).await.unwrap_err();
    assert_eq!(limit(&refused).1, "€0.000001 is left, €1.00 is held for requests under way");
    assert!(from_status(&refused).retry_after.is_some(), "what is held would pay for it");

    bank.change(|vault| {
        vault.standing.acting = Some("monthly".into());
        vault.standing.effect.threshold = "monthly 90%".to_owned();
    });
    for limit_to in [SpendLimit::FreeOnly, SpendLimit::Refuse] {
        bank.change(|vault| vault.standing.limit = limit_to);
        let told = limit(&world.ask(asked()).await.unwrap_err());
        assert_eq!(told, (monthly(), "the threshold monthly 90% is reached".to_owned()));
    }
    bank.check();
}
