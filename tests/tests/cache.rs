//! The cache, as applications and operators meet it.

mod commands;
mod differs;
mod hall;
mod invalidation;
mod kept;
mod meaning;
mod money;
mod stores;

use serde_json::{Value, json};
use signalbox_api::v1::{GenerateRequest, Route, cache_effect::Outcome};
use signalbox_testkit::{
    World,
    ask::{Answer, Mode, ask, request},
    eventually_some, merge, own,
};
use signalbox_vendorsim::Vendor;

const LUNA: &str = "openai/gpt-6-luna";
const HAIKU: &str = "anthropic/claude-haiku-5-5";

/// A cache with more patience than in production, for machines that have much else to do.
fn on() -> Value {
    json!({"cache": {"enabled": true, "exact_timeout": "5s", "semantic_timeout": "5s"}})
}

/// The same, with something laid over it.
fn on_with(change: Value) -> Value {
    let mut config = on();
    merge(&mut config, change);
    config
}

/// A tenant's request.
fn of(tenant: &str, text: &str) -> GenerateRequest {
    GenerateRequest { tenant_id: own(tenant), ..request(LUNA, text) }
}

/// How a request met the cache, and why.
fn met(route: &Route) -> (Outcome, String) {
    let effect = route.cache.clone().unwrap_or_default();
    (effect.outcome(), effect.reason)
}

async fn answer(world: &World, mode: Mode, request: GenerateRequest) -> Answer {
    ask(&mut world.operator(), mode, request).await.unwrap()
}

async fn outcome(world: &World, request: GenerateRequest) -> Outcome {
    met(&answer(world, Mode::Unary, request).await.route).0
}

/// Asks until the answer comes from the cache: answers are kept in the background.
async fn hit(world: &World, mode: Mode, request: GenerateRequest) -> Answer {
    eventually_some("the answer comes from the cache", || async {
        let found = answer(world, mode, request.clone()).await;
        (met(&found.route).0 == Outcome::ExactHit).then_some(found)
    })
    .await
}

fn calls(world: &World) -> usize {
    [Vendor::Openai, Vendor::Anthropic].into_iter().map(|vendor| world.calls(vendor).len()).sum()
}
