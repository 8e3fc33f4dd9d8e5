//! Over a real Redis, which answers when it can and may lose what it was told.

use super::world::{Hands, World, effect, met, request};
use crate::HashedNgrams;
use signalbox_api::v1::{cache_effect::Outcome, invalidate_request::Scope};
use signalbox_caching::Secret;
use signalbox_redis::{Purpose, Redis, RedisCache, RedisOptions};
use signalbox_testkit::{Proxy, RedisServer, eventually};
use std::{sync::Arc, time::Duration};

/// Generous: a busy machine is no failure.
const PATIENCE: Duration = Duration::from_secs(10);

/// Answers in the Redis at a port.
pub(super) fn store(port: u16) -> Arc<RedisCache> {
    let url = format!("redis://127.0.0.1:{port}");
    let options = RedisOptions { patience: PATIENCE, purpose: Purpose::Cache, ..RedisOptions::new(url) };
    Arc::new(RedisCache::new(Redis::connect(&options).unwrap()))
}

fn world(port: u16) -> World {
    patient(World::over(store(port), Arc::new(Hands::new()), Arc::new(HashedNgrams), None))
}

/// One that waits for a busy machine.
pub(super) fn patient(world: World) -> World {
    world.with_options(|options| {
        (options.exact_budget, options.semantic_budget) = (PATIENCE, PATIENCE);
    })
}

/// One of a process with a secret.
fn under(server: &RedisServer, secret: &str) -> World {
    let secret = Secret::new(secret.as_bytes());
    let options =
        RedisOptions { patience: PATIENCE, purpose: Purpose::Cache, ..RedisOptions::new(server.url()) };
    let store = RedisCache::new(Redis::connect(&options).unwrap()).under_secret(secret.fingerprint());
    let mut world = World::over(Arc::new(store), Arc::new(Hands::new()), Arc::new(HashedNgrams), None);
    world.dependencies.secret = secret;
    patient(world)
}

#[tokio::test]
async fn an_erasure_under_another_secret_destroys_what_was_there_and_the_old_secret_brings_nothing_back() {
    const ENTRIES: &str = "EVAL \"return #redis.call('KEYS','sb:v1:x:*')\" 0";
    let server = RedisServer::start().await;
    let asked = request("Name the topic", "Rain in Rome.");
    let old = under(&server, "the old secret");
    old.go(&asked, "an old answer").await;
    assert_eq!(met(&old.ask(&asked).await).0, Outcome::ExactHit);
    assert_ne!(server.say(ENTRIES).await, ":0");

    let told = under(&server, "the new secret").invalidate(Scope::Everything(true), true, true).await;
    assert!(told.erasure.unwrap().verified_at.is_some());
    assert_eq!(server.say(ENTRIES).await, ":0");
    assert_eq!(met(&under(&server, "the old secret").ask(&asked).await).2, None);
}

#[tokio::test]
async fn what_another_secret_invalidated_does_not_come_back_with_the_old_one() {
    let server = RedisServer::start().await;
    let asked = request("Name the topic", "Rain in Rome.");
    under(&server, "the old secret").go(&asked, "an old answer").await;
    under(&server, "the new secret").invalidate(Scope::TaskType("classify".into()), false, false).await;
    let again = under(&server, "the old secret");
    assert_eq!(met(&again.ask(&asked).await), (Outcome::Miss, "", None));
    again.go(&asked, "a new answer").await;
    assert_eq!(met(&again.ask(&asked).await).2, Some("a new answer".into()));
}

/// A server, and another that follows it.
async fn pair() -> (RedisServer, RedisServer) {
    let primary = RedisServer::with(&["--repl-diskless-sync-delay", "0"]).await;
    let replica = RedisServer::with(&["--replicaof", "127.0.0.1", &primary.port().to_string()]).await;
    (primary, replica)
}

async fn followed(primary: &RedisServer, replica: &RedisServer) {
    primary.say("SET sb:sign here").await;
    eventually("the replica has it all", || async { replica.say("STRLEN sb:sign").await == ":4" }).await;
}

#[tokio::test]
async fn what_was_invalidated_is_not_served_by_a_replica_that_missed_it_and_was_promoted() {
    let (mut primary, replica) = pair().await;
    let way = Proxy::to(primary.port()).await;
    let world = world(way.port());
    let asked = request("Name the topic", "Rain in Rome.");
    world.go(&asked, "an old answer").await;
    assert_eq!(met(&world.ask(&asked).await).0, Outcome::ExactHit);
    followed(&primary, &replica).await;

    // Nothing more reaches the replica.
    replica.freeze();
    primary.say("CLIENT KILL TYPE replica").await;
    let told = world.invalidate(Scope::Everything(true), true, false).await;
    assert!(told.effective_at.is_some());
    primary.kill().await;
    replica.thaw();
    replica.say("REPLICAOF NO ONE").await;
    way.lead_to(replica.port());

    let (other, newcomer) = (world.replica(), self::world(way.port()));
    for world in [&world, &other, &newcomer] {
        eventually("the store answers", || async {
            let looked = world.ask(&asked).await;
            assert_eq!(met(&looked).2, None, "it was invalidated");
            effect(&looked).reason.is_empty()
        })
        .await;
    }
    world.go(&asked, "a new answer").await;
    for world in [world, other, newcomer] {
        assert_eq!(met(&world.ask(&asked).await).2, Some("a new answer".into()));
    }
}
