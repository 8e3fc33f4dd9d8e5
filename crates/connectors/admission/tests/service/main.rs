//! Replicas against the real budget service over SQLite.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

mod rollover;
mod world;

use signalbox_admission::Replica;
use signalbox_api::v1::{self, api_key};
use signalbox_ports::{Admission as _, Authenticator as _, Scope, Short, Worst};
use signalbox_testkit::eventually;
use signalbox_types::{ErrorReason, Money};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use world::{CENT, EUR, World, payer};

fn worst(amount: i64) -> Worst {
    Worst { cost: Money::from_nano_eur(amount), tokens: 100 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_first_calls_of_a_new_tenant_spend_what_there_is_and_no_more() {
    let world = World::start().await;
    world.acme(EUR).await;
    let replica = world.replica("r1");
    let mut calls = JoinSet::new();
    for _ in 0..1_000 {
        let replica = replica.clone();
        calls.spawn(async move {
            replica.standing(&payer()).await.unwrap();
            replica.reserve(&payer(), worst(CENT)).await
        });
    }
    let outcomes = calls.join_all().await;
    let exhausted = |one: &&Result<_, Short>| matches!(one, Err(short) if short.failure.reason == ErrorReason::BudgetExhausted);
    assert_eq!(outcomes.iter().filter(|one| one.is_ok()).count(), 100);
    assert_eq!(outcomes.iter().filter(exhausted).count(), 900);
}

/// Until nothing is to be had; how often there was.
async fn hammer(replica: &Replica, name: String, each: i64) -> Vec<(String, Vec<v1::UsageCharge>)> {
    let mut served = Vec::new();
    let mut refused = 0;
    while refused < 3 {
        match replica.reserve(&payer(), worst(each)).await {
            Ok(reservation) => {
                served.push((format!("{name}-{}", served.len()), reservation.charges().to_vec()));
                tokio::task::yield_now().await;
                reservation.settle(Some(Money::from_nano_eur(each / 2)), 10);
                refused = 0;
            }
            Err(_) => refused += 1,
        }
    }
    served
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_replicas_together_spend_nearly_all_of_it_and_no_more() {
    let world = World::start().await;
    world.acme(EUR).await;
    let mut tasks = JoinSet::new();
    for replica in 0..3 {
        let shared = world.replica(&format!("r{replica}"));
        for client in 0..8 {
            let shared = shared.clone();
            tasks.spawn(async move { hammer(&shared, format!("{replica}-{client}"), CENT).await });
        }
    }
    let served: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    let spent = i64::try_from(served.len()).unwrap() * (CENT / 2);
    assert!(spent <= EUR, "{spent} is spent");
    assert!(spent >= EUR - 3 * CENT, "{spent} is spent, and so much was left");
    for (request_id, charges) in &served {
        world.settle(request_id, charges, CENT / 2).await;
    }
    let status = world.status().await;
    assert_eq!(status.settled_nano_eur, spent);
    let sum =
        status.free_nano_eur + status.leased_nano_eur + status.reserved_nano_eur + status.settled_nano_eur;
    assert_eq!(sum, EUR);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_lies_idle_in_one_replica_serves_another() {
    let world = World::start().await;
    world.acme(EUR).await;
    let (one, two) = (world.replica("r1"), world.replica("r2"));
    eventually("both hear of changes", async || one.is_in_touch() && two.is_in_touch()).await;
    one.reserve(&payer(), worst(EUR * 9 / 10)).await.unwrap().settle(Some(Money::ZERO), 0);
    let reservation = two.reserve(&payer(), worst(EUR / 2)).await.unwrap();
    assert_eq!(reservation.charges()[0].reserved_nano_eur, EUR / 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_opens_its_tenant_until_it_is_revoked() {
    let world = World::start().await;
    world.acme(EUR).await;
    let (one, two) = (world.replica("r1"), world.replica("r2"));
    assert_eq!(one.authenticate(None, None).await.unwrap().scope, Scope::Open);
    let api_key = Some(v1::ApiKey {
        tenant_id: "acme".into(),
        scope: api_key::Scope::Tenant.into(),
        ..v1::ApiKey::default()
    });
    let made = world.client().create_api_key(v1::CreateApiKeyRequest { api_key }).await.unwrap().into_inner();
    for replica in [&one, &two] {
        let identity = replica.authenticate(Some(&made.secret), None).await.unwrap();
        assert_eq!(identity.scope, Scope::Tenant("acme".into()));
        eventually("a key is required", async || replica.authenticate(None, None).await.is_err()).await;
    }
    let request = v1::RevokeApiKeyRequest {
        tenant_id: "acme".into(),
        key_id: made.api_key.unwrap().key_id,
        reason: "it leaked".into(),
    };
    world.client().revoke_api_key(request).await.unwrap();
    let revoked = Instant::now();
    for replica in [&one, &two] {
        eventually("it is refused", async || replica.authenticate(Some(&made.secret), None).await.is_err())
            .await;
    }
    assert!(revoked.elapsed() < Duration::from_secs(2), "{:?}", revoked.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_killed_and_comes_back_finds_everything_as_it_was() {
    let world = World::start().await;
    world.acme(10 * EUR).await;
    let replica = world.replica("r1");
    let first = replica.reserve(&payer(), worst(CENT)).await.unwrap();
    let lease_id = first.charges()[0].lease_id.clone();
    eventually("changes are heard of", async || replica.is_in_touch()).await;
    world.kill();
    eventually("the loss is noticed", async || !replica.is_in_touch()).await;
    let second = replica.reserve(&payer(), worst(CENT)).await.expect("out of the lease");
    let short = replica.reserve(&payer(), worst(EUR)).await.unwrap_err();
    assert_eq!(short.failure.reason, ErrorReason::Unavailable);
    world.begin();
    eventually("it is in touch again", async || replica.is_in_touch()).await;
    let third = replica.reserve(&payer(), worst(EUR)).await.unwrap();
    assert_eq!(third.charges()[0].lease_id, lease_id, "the same lease, only larger");
    for (number, reservation) in [first, second, third].into_iter().enumerate() {
        world.settle(&number.to_string(), reservation.charges(), CENT).await;
        reservation.settle(Some(Money::from_nano_eur(CENT)), 10);
    }
    assert_eq!(world.status().await.settled_nano_eur, 3 * CENT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_replica_gave_back_is_known_within_a_second_of_asking() {
    let world = World::start().await;
    world.acme(EUR).await;
    let (one, two) = (world.replica("r1"), world.replica("r2"));
    eventually("both hear of changes", async || one.is_in_touch() && two.is_in_touch()).await;
    two.reserve(&payer(), worst(CENT)).await.unwrap().settle(Some(Money::ZERO), 0);
    let dear = one.reserve(&payer(), worst(EUR * 9 / 10)).await.unwrap();
    // It hears how little is left, a few slices all the same.
    two.reserve(&payer(), worst(EUR / 2)).await.unwrap_err();
    let allowance = async || two.standing(&payer()).await.unwrap().allowance.unwrap().nano_eur();
    assert!(allowance().await <= EUR / 10);
    dear.settle(Some(Money::ZERO), 0);
    let settled = Instant::now();
    eventually("all is free again", async || allowance().await > EUR * 9 / 10).await;
    assert!(settled.elapsed() < Duration::from_secs(5), "{:?}", settled.elapsed());
}
