//! Whatever the end of a request, what it spent is settled once, and the rest is free again.

use super::bank::{BUDGET, Bank, EUR, LUNA, acme, budget, charge, cost, named, short};
use serde_json::json;
use signalbox_api::v1::{
    self, Budget, GenerateRequest, UsageEvent, router_service_client::RouterServiceClient,
    usage_event::Outcome,
};
use signalbox_testkit::{Fleet, FleetSize, Topology, both_topologies, eventually, eventually_some};
use signalbox_vendorsim::Vendor;
use std::time::Duration;

/// The account of a request, once the ledger has settled it: the same, and once.
async fn settled(bank: &Bank, id: &str) -> UsageEvent {
    let event = bank.account(id).await;
    let entries = eventually_some("the request is settled", || async {
        Some(bank.settlements(id).await).filter(|entries| !entries.is_empty())
    })
    .await;
    let amounts: Vec<_> = entries.iter().map(|entry| entry.amount_nano_eur).collect();
    assert_eq!(amounts, [cost(&event)], "{event:?}");
    assert_eq!(entries[0].source_id, event.event_id);
    assert!(cost(&event) <= charge(&event).reserved_nano_eur, "{event:?}");
    event
}

/// All that is not settled is free, or idle in the router's hands.
async fn nothing_is_held(bank: &Bank) {
    eventually("nothing is held", || async {
        let status = bank.status(BUDGET).await;
        status.reserved_nano_eur == 0 && status.leased_nano_eur <= EUR / 50
    })
    .await;
}

async fn a_stream_that_breaks_is_settled_at_what_it_used(topology: Topology) {
    let bank = Bank::with_limit(topology, EUR).await;
    bank.fault(Vendor::Openai, "cut=5");
    let mut stream = bank.stream(named("broken", short(LUNA))).await.unwrap();
    while let Ok(Some(_)) = stream.message().await {}
    let event = settled(&bank, "broken").await;
    assert_eq!(event.outcome(), Outcome::Failed);
    assert!(cost(&event) > 0);
    nothing_is_held(&bank).await;
    bank.agrees(1).await;
}

async fn a_client_that_goes_pays_what_was_used_until_then(topology: Topology) {
    let bank = Bank::with_limit(topology, EUR).await;
    bank.fault(Vendor::Openai, "trickle=50");
    let long = GenerateRequest { max_output_tokens: Some(4000), ..named("gone", short(LUNA)) };
    let mut stream = bank.stream(long).await.unwrap();
    assert!(stream.message().await.unwrap().is_some());
    drop(stream);
    let event = settled(&bank, "gone").await;
    assert_eq!(event.outcome(), Outcome::Cancelled);
    assert!(cost(&event) > 0 && cost(&event) < charge(&event).reserved_nano_eur, "{event:?}");

    bank.fault(Vendor::Openai, "hang");
    let mut client = RouterServiceClient::new(bank.routers()[0].keyed(Fleet::ADMIN_KEY));
    let whole = named("gone too", short(LUNA));
    let call = tokio::spawn(async move { client.generate(whole).await });
    eventually("the vendor is called", || async { bank.calls(Vendor::Openai).len() == 2 }).await;
    call.abort();
    assert_eq!(settled(&bank, "gone too").await.outcome(), Outcome::Cancelled);
    nothing_is_held(&bank).await;
    bank.agrees(2).await;
}

async fn retries_and_fallbacks_are_paid_too(topology: Topology) {
    let pair = json!({"aliases": {"pair": {"targets": [LUNA, "anthropic/claude-haiku-5-5"]}}});
    let bank = Bank::open(topology, pair).await;
    bank.add(budget(EUR)).await;
    bank.fault(Vendor::Openai, "malformed");
    bank.ask(named("three", short("pair"))).await.unwrap();
    let event = settled(&bank, "three").await;
    assert_eq!((event.attempts.len(), event.outcome()), (3, Outcome::Succeeded));
    nothing_is_held(&bank).await;
}

async fn vectors_are_paid_for(topology: Topology) {
    let bank = Bank::with_limit(topology, EUR).await;
    let asked = v1::EmbedRequest {
        tenant_id: acme(),
        inputs: vec!["blue".into()],
        request_id: "vectors".into(),
        ..Default::default()
    };
    let mut client = RouterServiceClient::new(bank.routers()[0].keyed(Fleet::ADMIN_KEY));
    client.embed(asked).await.unwrap();
    assert!(cost(&settled(&bank, "vectors").await) > 0);
}

async fn a_router_that_is_killed_settles_what_was_under_way_when_it_comes_back(topology: Topology) {
    let mut bank = Bank::with_limit(topology, EUR).await;
    bank.ask(named("before", short(LUNA))).await.unwrap();
    bank.fault(Vendor::Openai, "trickle=50");
    let long = GenerateRequest { max_output_tokens: Some(4000), ..named("under way", short(LUNA)) };
    let mut stream = bank.stream(long).await.unwrap();
    assert!(stream.message().await.unwrap().is_some());
    bank.router_mut().kill().await;
    assert!(
        async {
            while stream.message().await?.is_some() {}
            Ok::<_, tonic::Status>(())
        }
        .await
        .is_err()
    );
    bank.router_mut().restart().await;

    let event = settled(&bank, "under way").await;
    assert_eq!((event.outcome(), &*event.error_reason), (Outcome::Failed, "UNAVAILABLE"));
    assert!(cost(&event) > 0);
    settled(&bank, "before").await;
    // The run that was killed has ended: nothing of its lease is left.
    eventually("its lease is free again", || async {
        let status = bank.status(BUDGET).await;
        status.leased_nano_eur == 0 && status.reserved_nano_eur == 0
    })
    .await;
    bank.vendors.clear_faults();
    eventually("it serves again", || async { bank.ask(short(LUNA)).await.is_ok() }).await;
    bank.agrees(3).await;
}

async fn a_router_that_stops_gives_back_what_it_held(topology: Topology) {
    let mut bank = Bank::with_limit(topology, EUR).await;
    bank.ask(named("last", short(LUNA))).await.unwrap();
    let paid = cost(&bank.account("last").await);
    bank.router_mut().terminate();
    assert!(bank.router_mut().ended().await.success());
    if topology == Topology::AllInOne {
        bank.router_mut().restart().await;
    }
    let status = bank.status(BUDGET).await;
    assert_eq!(
        (status.settled_nano_eur, status.leased_nano_eur, status.reserved_nano_eur),
        (paid, 0, 0),
        "{status:?}"
    );
}

async fn heartbeats_are_paid_from_the_budget_of_signalbox_itself(topology: Topology) {
    let heartbeat = json!({"heartbeat": {"enabled": true, "interval": "1s", "timeout": "1s"}});
    let bank = Bank::open(topology, heartbeat).await;
    bank.books().add_tenant(Fleet::ADMIN_KEY, super::bank::tenant("signalbox")).await;
    bank.add(Budget { tenant_id: "signalbox".into(), ..budget(EUR) }).await;
    let status = || async {
        let request = v1::GetBudgetRequest { tenant_id: "signalbox".into(), budget_id: BUDGET.into() };
        bank.budgets().get_budget(request).await.unwrap().into_inner().budget.unwrap().status.unwrap()
    };
    eventually("a heartbeat is settled", || async { status().await.settled_nano_eur > 0 }).await;
    let request = v1::OverrideBudgetRequest {
        tenant_id: "signalbox".into(),
        budget_id: BUDGET.into(),
        limit_nano_eur: 0,
        reason: "no more of that".into(),
    };
    bank.budgets().override_budget(request).await.unwrap();
    // Those that are under way, and those that are paid from what is leased, are the last ones.
    eventually("there are no more", || async {
        let calls = bank.calls(Vendor::Openai).len();
        tokio::time::sleep(Duration::from_millis(2500)).await;
        bank.calls(Vendor::Openai).len() == calls
    })
    .await;
}

both_topologies!(
    a_stream_that_breaks_is_settled_at_what_it_used,
    a_client_that_goes_pays_what_was_used_until_then,
    retries_and_fallbacks_are_paid_too,
    vectors_are_paid_for,
    a_router_that_is_killed_settles_what_was_under_way_when_it_comes_back,
    a_router_that_stops_gives_back_what_it_held,
    heartbeats_are_paid_from_the_budget_of_signalbox_itself,
);

#[tokio::test]
async fn while_the_budget_service_is_away_a_router_spends_what_it_holds_and_settles_later() {
    let mut bank = Bank::fleet(FleetSize { routers: 1, budgets: 1 }, json!({})).await;
    // A slice is enough for some forty requests.
    bank.add(budget(EUR / 10)).await;
    bank.ask(named("warm", short(LUNA))).await.unwrap();
    bank.parts().budgets[0].kill().await;
    for number in 0..5 {
        bank.ask(named(&format!("alone-{number}"), short(LUNA))).await.unwrap();
    }
    let refused = eventually_some("the lease is spent", || async { bank.ask(short(LUNA)).await.err() }).await;
    assert_eq!(refused.code(), tonic::Code::Unavailable, "{refused:?}");
    bank.parts().budgets[0].restart().await;
    for number in 0..5 {
        settled(&bank, &format!("alone-{number}")).await;
    }
    eventually("it is served again", || async { bank.ask(short(LUNA)).await.is_ok() }).await;
}

/// Waits until the budget service says so to operators: 1 while its store is away.
async fn told_of_the_store(bank: &mut Bank, value: &str) {
    let line = format!("signalbox_budget_store_away {value}");
    let service = &bank.parts().budgets[0];
    eventually(&line, || async { service.metrics().await.text().lines().any(|told| told == line) }).await;
}

#[tokio::test]
async fn while_postgresql_is_away_a_router_spends_what_it_holds_and_settles_later() {
    let mut bank = Bank::fleet(FleetSize { routers: 1, budgets: 1 }, json!({})).await;
    bank.add(budget(EUR)).await;
    bank.ask(named("warm", short(LUNA))).await.unwrap();
    bank.parts().postgres.kill().await;
    bank.ask(named("alone", short(LUNA))).await.unwrap();
    told_of_the_store(&mut bank, "1").await;
    bank.parts().postgres.restart().await;
    settled(&bank, "alone").await;
    told_of_the_store(&mut bank, "0").await;
}
