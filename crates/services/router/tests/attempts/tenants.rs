//! Who asks, and what the tenant store says of them.

use crate::{
    bank::Bank,
    world::{World, alias},
};
use signalbox_api::{
    status::from_status,
    v1::{self, RateLimit, ScenePolicy, ScoreWeights, Tenant},
};
use signalbox_ports::{Identity, Scope};
use signalbox_types::ErrorReason;

async fn served_by(tenant: Tenant, request: v1::GenerateRequest) -> Result<String, (ErrorReason, String)> {
    let answer = World::admitting(Bank::of(tenant)).ask(request).await;
    answer.map(|told| told.route.vendor).map_err(|status| {
        let failure = from_status(&status);
        (failure.reason, failure.message)
    })
}

#[tokio::test(start_paused = true)]
async fn a_key_stands_for_its_tenant_and_is_in_the_account() {
    let bank = Bank::with(1_000_000_000);
    let world = World::admitting(bank.clone());
    let key = |scope| Identity { key_id: "k1".to_owned(), scope };
    let own = key(Scope::Tenant("acme".to_owned()));
    world.client_of(own.clone()).generate(alias("pair")).await.unwrap();
    let event = world.book.last();
    assert_eq!((&*event.tenant_id, &*event.key_id, &*bank.told()[0]), ("acme", "k1", "standing acme/k1/"));
    world
        .client_of(own.clone())
        .embed(v1::EmbedRequest { inputs: vec!["a".into()], ..Default::default() })
        .await
        .unwrap();
    let event = world.book.last();
    assert_eq!((&*event.tenant_id, &*event.key_id), ("acme", "k1"));

    let others = v1::GenerateRequest { tenant_id: "other".to_owned(), ..alias("pair") };
    let status = world.client_of(own).generate(others.clone()).await.unwrap_err();
    assert_eq!(from_status(&status).reason, ErrorReason::PermissionDenied);
    world.client_of(key(Scope::Admin)).generate(others.clone()).await.unwrap();
    assert_eq!(world.book.last().tenant_id, "other");

    let mut reader = world.client_of(key(Scope::ReadOnly("acme".to_owned())));
    let status = reader.generate(alias("pair")).await.unwrap_err();
    assert_eq!(from_status(&status).reason, ErrorReason::PermissionDenied);
    reader.estimate_cost(v1::EstimateCostRequest { request: Some(alias("pair")) }).await.unwrap();
    let status = reader.estimate_cost(v1::EstimateCostRequest { request: Some(others) }).await.unwrap_err();
    assert_eq!(from_status(&status).reason, ErrorReason::PermissionDenied);
    bank.check();
}

#[tokio::test(start_paused = true)]
async fn a_tenant_is_served_by_models_tiers_and_vendors_that_it_may_use() {
    let allowed = |names: &[&str]| Tenant {
        allowed_models: names.iter().map(ToString::to_string).collect(),
        ..Tenant::default()
    };
    let served = async |tenant| served_by(tenant, alias("all")).await;
    assert_eq!(served(allowed(&["anthropic/*"])).await.unwrap(), "anthropic");
    assert_eq!(
        served(allowed(&["own", "gemini/gemini-3.5-flash-lite"])).await.unwrap(),
        "openai",
        "by an alias"
    );
    let (reason, message) = served(allowed(&["xai/*"])).await.unwrap_err();
    assert_eq!(reason, ErrorReason::PermissionDenied, "{message}");

    let economy = Tenant { allowed_tiers: vec![v1::Tier::Economy.into()], ..Tenant::default() };
    assert_eq!(served_by(economy.clone(), alias("mixed")).await.unwrap(), "openai");
    let (reason, message) = served_by(economy, alias("dear")).await.unwrap_err();
    assert_eq!(reason, ErrorReason::PermissionDenied);
    assert!(message.contains("the tenant may not use premium models"), "{message}");

    let labels = Tenant { required_vendor_labels: vec!["moon".to_owned()], ..Tenant::default() };
    let (reason, message) = served(labels.clone()).await.unwrap_err();
    assert_eq!(reason, ErrorReason::PermissionDenied);
    assert!(message.contains("not marked `moon`"), "{message}");
    let world = World::admitting(Bank::of(labels));
    let vectors = v1::EmbedRequest { inputs: vec!["a".into()], ..Default::default() };
    let status = world.client().embed(vectors).await.unwrap_err();
    assert!(from_status(&status).message.contains("not marked `moon`"));
}

#[tokio::test(start_paused = true)]
async fn a_tenants_defaults_fill_what_a_request_leaves_open() {
    let tenant = Tenant { default_max_output_tokens: 321, locale: "it".to_owned(), ..Tenant::default() };
    let world = World::admitting(Bank::of(tenant));
    world.ask(alias("pair")).await.unwrap();
    assert_eq!(world.book.last().locale, "it");
    let own = v1::GenerateRequest { max_output_tokens: Some(7), locale: "de".to_owned(), ..alias("pair") };
    world.ask(own).await.unwrap();
    assert_eq!((world.adapter.limits(), &*world.book.last().locale), (vec![Some(321), Some(7)], "de"));
}

#[tokio::test(start_paused = true)]
async fn a_tenants_weights_stand_in_for_the_catalogues() {
    let weights = |factors: &[(&str, f64)]| ScoreWeights {
        factors: factors.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect(),
    };
    let tenant = Tenant {
        weights: [
            (String::new(), weights(&[("cost", 1.0)])),
            ("interactive".to_owned(), weights(&[("latency", 3.0), ("quality", 1.0)])),
        ]
        .into(),
        ..Tenant::default()
    };
    let world = World::admitting(Bank::of(tenant));
    let decision = world.ask(alias("all")).await.unwrap().route.decision.unwrap();
    assert_eq!((decision.weights["cost"], decision.weights["latency"]), (1.0, 0.0));
    assert!(decision.candidates[0].score > 0.0);
    let listed = World::new().ask(alias("all")).await.unwrap().route.decision.unwrap();
    assert!(listed.weights.is_empty(), "the catalogue's own order");
}

#[tokio::test(start_paused = true)]
async fn no_request_without_a_limit_takes_more_than_half_of_a_minutes_tokens() {
    let limit = |tokens_per_minute| Some(RateLimit { tokens_per_minute, ..RateLimit::default() });
    let scene = ScenePolicy { scene: "small".to_owned(), rate_limit: limit(4_000), ..ScenePolicy::default() };
    let tenant = Tenant { rate_limit: limit(20_000), scenes: vec![scene], ..Tenant::default() };
    let world = World::admitting(Bank::of(tenant));
    world.ask(alias("pair")).await.unwrap();
    world.ask(v1::GenerateRequest { scene: "small".to_owned(), ..alias("pair") }).await.unwrap();
    let [Some(whole), Some(small)] = world.adapter.limits()[..] else {
        panic!("{:?}", world.adapter.limits())
    };
    assert!((9_900..10_000).contains(&whole) && (1_900..2_000).contains(&small), "{whole} {small}");
}
