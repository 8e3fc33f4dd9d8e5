//! How much at a time.

use super::bank::{Bank, LUNA, acme, short, tenant};
use serde_json::json;
use signalbox_api::{
    status::from_status,
    v1::{self, ApiKey, GenerateRequest, RateLimit, ScenePolicy, Tenant, api_key::Scope},
};
use signalbox_testkit::{
    Fleet, FleetSize, Topology, both_topologies, eventually, eventually_some, refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use std::time::Duration;
use tonic::{Code, Status, metadata::MetadataMap};

fn requests(requests_per_minute: u32) -> Option<RateLimit> {
    Some(RateLimit { requests_per_minute, ..RateLimit::default() })
}

fn number(metadata: &MetadataMap, name: &str) -> Option<u64> {
    metadata.get(name)?.to_str().ok()?.parse().ok()
}

fn is_limited(status: &Status) {
    let failure = from_status(status);
    assert_eq!(
        (status.code(), failure.reason.name()),
        (Code::ResourceExhausted, "RATE_LIMITED"),
        "{failure:?}"
    );
}

async fn a_minutes_requests_are_counted_down_and_then_wait(topology: Topology) {
    let bank = Bank::open(topology, json!({})).await;
    bank.limit(Tenant { rate_limit: requests(30), ..tenant(&acme()) }).await;
    let mut told = Vec::new();
    let refused = eventually_some("the rate is used up", || async {
        bank.ask_at(0, Fleet::ADMIN_KEY, short(LUNA)).await.err()
    });
    for _ in 0..20 {
        let answer = bank.ask_at(0, Fleet::ADMIN_KEY, short(LUNA)).await.unwrap();
        assert_eq!(number(answer.metadata(), "x-ratelimit-limit-requests"), Some(30));
        told.push(number(answer.metadata(), "x-ratelimit-remaining-requests").unwrap());
    }
    assert!(told.windows(2).all(|pair| pair[1] <= pair[0]), "{told:?}");
    assert!(told[0] >= 28 && told[19] <= 15, "{told:?}");
    let refused = refused.await;
    is_limited(&refused);
    let failure = from_status(&refused);
    let wait = failure.retry_after.unwrap();
    assert!(wait > Duration::ZERO && wait <= Duration::from_secs(60), "{wait:?}");
    let quota = failure.quota.unwrap();
    let subject = format!("tenant/{}/rate/requests_per_minute", acme());
    assert_eq!((&quota.violations[0].subject, &*quota.left["remaining_requests"]), (&subject, "0"));
    assert!(!quota.left.contains_key("remaining_tokens"), "{quota:?}");
    assert!(bank.calls(Vendor::Openai).len() <= 32, "{}", bank.calls(Vendor::Openai).len());
}

async fn tokens_are_counted_at_what_was_used(topology: Topology) {
    let bank = Bank::open(topology, json!({})).await;
    let limit = RateLimit { tokens_per_minute: 1000, ..RateLimit::default() };
    bank.limit(Tenant { rate_limit: Some(limit), ..tenant(&acme()) }).await;
    let too_large = GenerateRequest { max_output_tokens: Some(2000), ..short(LUNA) };
    let refusal = Refusal::from(bank.ask(too_large).await.unwrap_err());
    assert_eq!(refusal.reason, "RATE_LIMITED");
    assert!(refusal.message.contains("max_output_tokens"), "{refusal:?}");
    let answer = bank.ask_at(0, Fleet::ADMIN_KEY, short(LUNA)).await.unwrap();
    assert_eq!(number(answer.metadata(), "x-ratelimit-limit-tokens"), Some(1000));
    let refused = eventually_some("the tokens are used up", || async { bank.ask(short(LUNA)).await.err() });
    is_limited(&refused.await);
}

async fn requests_at_once_are_limited(topology: Topology) {
    let bank = Bank::open(topology, json!({})).await;
    let limit = RateLimit { concurrent_requests: 2, ..RateLimit::default() };
    bank.limit(Tenant { rate_limit: Some(limit), ..tenant(&acme()) }).await;
    bank.ask(short(LUNA)).await.unwrap();
    bank.fault(Vendor::Openai, "first-byte=1500");
    let (one, two, three) =
        tokio::join!(bank.ask(short(LUNA)), bank.ask(short(LUNA)), bank.ask(short(LUNA)),);
    let refused: Vec<_> = [one, two, three].into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    is_limited(&refused[0]);
    assert!(refused[0].message().contains("2 requests at once"), "{refused:?}");
    bank.vendors.clear_faults();
    eventually("there is room again", || async { bank.ask(short(LUNA)).await.is_ok() }).await;
}

async fn keys_and_scenes_have_rates_of_their_own(topology: Topology) {
    let bank = Bank::open(topology, json!({})).await;
    let scenes = vec![ScenePolicy { scene: "search".into(), rate_limit: requests(2), priority: 0 }];
    bank.limit(Tenant { rate_limit: requests(1000), scenes, ..tenant(&acme()) }).await;
    let search = || GenerateRequest { scene: "search".into(), ..short(LUNA) };
    let refused = eventually_some("the scene's is used up", || async { bank.ask(search()).await.err() });
    assert!(Refusal::from(refused.await).message.contains("search"));
    bank.ask(short(LUNA)).await.unwrap();

    let api_key = ApiKey {
        tenant_id: acme(),
        scope: Scope::Tenant.into(),
        rate_limit: requests(2),
        ..ApiKey::default()
    };
    let made = bank.budgets().create_api_key(v1::CreateApiKeyRequest { api_key: Some(api_key) }).await;
    let made = made.unwrap().into_inner();
    let refused = eventually_some("the key's is used up", || async {
        bank.ask_at(0, &made.secret, short(LUNA)).await.err()
    });
    assert!(Refusal::from(refused.await).message.contains(&made.api_key.unwrap().key_id));
    bank.ask(short(LUNA)).await.unwrap();
}

both_topologies!(
    a_minutes_requests_are_counted_down_and_then_wait,
    tokens_are_counted_at_what_was_used,
    requests_at_once_are_limited,
    keys_and_scenes_have_rates_of_their_own,
);

#[tokio::test]
async fn all_routers_share_a_rate() {
    let bank = Bank::fleet(FleetSize { routers: 3, budgets: 2 }, json!({})).await;
    bank.limit(Tenant { rate_limit: requests(60), ..tenant(&acme()) }).await;
    let began = std::time::Instant::now();
    let mut served = 0;
    for call in 0..300 {
        served += u64::from(bank.ask_at(call % 3, Fleet::ADMIN_KEY, short(LUNA)).await.is_ok());
    }
    let refilled = began.elapsed().as_secs() + 1;
    assert!((40..=60 + refilled).contains(&served), "{served} within {refilled} s");
}

#[tokio::test]
async fn without_redis_a_tenant_waits_or_goes_on_as_it_wants() {
    let mut bank = Bank::fleet(FleetSize { routers: 1, budgets: 1 }, json!({})).await;
    let open = Tenant {
        rate_limit: requests(600),
        failure_mode: v1::tenant::FailureMode::Open.into(),
        ..tenant("open")
    };
    let closed = Tenant { rate_limit: requests(600), ..tenant("closed") };
    for tenant in [open, closed] {
        bank.books().add_tenant(Fleet::ADMIN_KEY, tenant).await;
    }
    let ask = |tenant: &str| GenerateRequest { tenant_id: tenant.into(), ..short(LUNA) };
    bank.ask(ask("open")).await.unwrap();
    bank.ask(ask("closed")).await.unwrap();
    bank.parts().redis.kill().await;
    let bank = &bank;
    let refused = eventually_some("the closed one is refused", || async {
        bank.ask(ask("open")).await.unwrap();
        bank.ask(ask("closed")).await.err()
    })
    .await;
    assert_eq!(refused.code(), Code::Unavailable, "{refused:?}");
    for _ in 0..20 {
        bank.ask(ask("open")).await.unwrap();
    }
}
