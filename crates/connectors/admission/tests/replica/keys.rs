//! Who calls.

use crate::{Running, acme, fake::FakeBudgets, pass};
use sha2::{Digest, Sha256};
use signalbox_admission::Settings;
use signalbox_api::v1::{self, api_key, watch_admission_response::Change};
use signalbox_kit::config::Secret;
use signalbox_ports::{Authenticator, Scope};
use signalbox_types::ErrorReason;
use std::{
    net::IpAddr,
    time::{Duration, UNIX_EPOCH},
};
use tokio::time::Instant;

const KEY: &str = "sbx_k7f2_5up3rS3cret";

fn with_key() -> FakeBudgets {
    let fake = FakeBudgets::new();
    let key = v1::ApiKey {
        key_id: "k7f2".into(),
        tenant_id: "acme".into(),
        scope: api_key::Scope::Tenant.into(),
        ..Default::default()
    };
    let mut world = fake.world();
    world.tenants.insert("acme".into(), acme());
    world.keys.insert("k7f2".into(), (key, Sha256::digest(KEY).to_vec()));
    world.authentication_required = true;
    drop(world);
    fake
}

fn revoke(fake: &FakeBudgets) -> v1::ApiKey {
    let mut world = fake.world();
    let key = &mut world.keys.get_mut("k7f2").unwrap().0;
    key.revoke_time = Some(Default::default());
    key.clone()
}

fn peer() -> Option<IpAddr> {
    Some([10, 0, 0, 7].into())
}

#[tokio::test(start_paused = true)]
async fn a_key_is_looked_up_once() {
    let fake = with_key();
    fake.world().latency = Duration::from_millis(3);
    let router = Running::new(&fake, "r1").await;
    let first: Vec<_> = (0..100)
        .map(|_| {
            let replica = router.replica.clone();
            tokio::spawn(async move { replica.authenticate(Some(KEY), peer()).await.unwrap() })
        })
        .collect();
    for call in first {
        let identity = call.await.unwrap();
        assert_eq!((identity.key_id.as_str(), &identity.scope), ("k7f2", &Scope::Tenant("acme".into())));
    }
    router.replica.authenticate(Some(KEY), peer()).await.unwrap();
    assert_eq!(fake.calls("ResolveApiKey"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_is_looked_up_at_another_replica_of_the_service_when_one_has_just_gone() {
    let fake = with_key();
    let router = Running::new(&fake, "r1").await;
    fake.world().lost = 1;
    router.replica.authenticate(Some(KEY), peer()).await.expect("another one knows it");
    assert_eq!(fake.calls("ResolveApiKey"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_revoked_key_is_refused_as_soon_as_that_is_heard() {
    let fake = with_key();
    let router = Running::new(&fake, "r1").await;
    router.replica.authenticate(Some(KEY), peer()).await.unwrap();
    let key = revoke(&fake);
    fake.tell("", Change::ApiKey(key));
    pass(Duration::from_millis(1)).await;
    let failure = router.replica.authenticate(Some(KEY), peer()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Unauthenticated);
}

#[tokio::test(start_paused = true)]
async fn a_revoked_key_is_refused_within_two_seconds_where_nothing_is_heard() {
    let fake = with_key();
    let router = Running::new(&fake, "r1").await;
    router.replica.authenticate(Some(KEY), peer()).await.unwrap();
    fake.world().silent = true;
    revoke(&fake);
    pass(Duration::from_secs(2)).await;
    assert!(router.replica.authenticate(Some(KEY), peer()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_known_key_goes_on_while_nobody_can_be_asked_but_not_for_long() {
    let fake = with_key();
    let router = Running::new(&fake, "r1").await;
    router.replica.authenticate(Some(KEY), peer()).await.unwrap();
    fake.kill();
    pass(Duration::from_secs(30)).await;
    router.replica.authenticate(Some(KEY), peer()).await.expect("it was in order half a minute ago");
    pass(Duration::from_secs(31)).await;
    let failure = router.replica.authenticate(Some(KEY), peer()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Unavailable, "it may still be in order");
    fake.start();
    pass(Duration::from_secs(2)).await;
    router.replica.authenticate(Some(KEY), peer()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_expired_key_is_refused_without_asking() {
    let fake = with_key();
    let end = UNIX_EPOCH + Duration::from_secs(1_794_999_999);
    fake.world().keys.get_mut("k7f2").unwrap().0.expire_time = Some(end.into());
    let router = Running::new(&fake, "r1").await;
    let failure = router.replica.authenticate(Some(KEY), peer()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Unauthenticated);
}

#[tokio::test(start_paused = true)]
async fn without_any_key_everybody_may_and_with_the_first_nobody_without() {
    let fake = FakeBudgets::new();
    let router = Running::new(&fake, "r1").await;
    let identity = router.replica.authenticate(None, peer()).await.unwrap();
    assert_eq!(identity.scope, Scope::Open);
    router.replica.authenticate(Some("sk-any"), peer()).await.expect("clients that insist may send anything");
    fake.world().authentication_required = true;
    pass(Duration::from_millis(1_100)).await;
    let failure = router.replica.authenticate(None, peer()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Unauthenticated);
    assert!(failure.message.contains("authorization: Bearer sbx_"), "{}", failure.message);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_let_in_before_it_is_known_whether_they_need_a_key() {
    let fake = FakeBudgets::new();
    fake.kill();
    let router = Running::new(&fake, "r1").await;
    let failure = router.replica.authenticate(None, peer()).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::Unavailable);
}

#[tokio::test(start_paused = true)]
async fn the_key_of_the_deployment_opens_everything_and_makes_keys_required() {
    let fake = FakeBudgets::new();
    let settings = Settings { deployment_key: Some(Secret::new("of-all-roles")), ..Settings::default() };
    assert!(!format!("{settings:?}").contains("of-all-roles"));
    let router = Running::with(&fake, "r1", settings).await;
    let identity = router.replica.authenticate(Some("of-all-roles"), peer()).await.unwrap();
    assert_eq!(identity.scope, Scope::Deployment);
    assert!(router.replica.authenticate(None, peer()).await.is_err());
    assert!(router.replica.authenticate(Some("of-all-rolez"), peer()).await.is_err());
    assert!(!format!("{:?}", router.replica).contains("of-all-roles"));
}

#[tokio::test(start_paused = true)]
async fn who_guesses_is_slowed_down_and_others_are_not() {
    let fake = with_key();
    let router = Running::new(&fake, "r1").await;
    let started = Instant::now();
    for guess in 0..10 {
        let key = format!("sbx_k7f2_guess{guess}");
        router.replica.authenticate(Some(&key), peer()).await.unwrap_err();
    }
    assert!(started.elapsed() > Duration::from_secs(20), "{:?}", started.elapsed());
    let started = Instant::now();
    router.replica.authenticate(Some(KEY), Some([10, 0, 0, 8].into())).await.unwrap();
    router.replica.authenticate(Some(KEY), peer()).await.expect("a known key does not wait");
    assert!(started.elapsed() < Duration::from_millis(100));
    let at_once: Vec<_> = (0..100)
        .map(|guess| {
            let replica = router.replica.clone();
            let key = format!("sbx_k7f2_more{guess}");
            tokio::spawn(async move { replica.authenticate(Some(&key), peer()).await.unwrap_err().reason })
        })
        .collect();
    let mut looked_at = 0;
    for guess in at_once {
        looked_at += usize::from(guess.await.unwrap() == ErrorReason::Unauthenticated);
    }
    assert!(looked_at <= 2, "{looked_at} of a hundred guesses at once were looked at");
}

#[tokio::test(start_paused = true)]
async fn keys_are_not_shown_by_what_remembers_them() {
    let fake = with_key();
    let router = Running::new(&fake, "r1").await;
    router.replica.authenticate(Some(KEY), peer()).await.unwrap();
    router.replica.authenticate(Some("sbx_k7f2_0therS3cret"), peer()).await.unwrap_err();
    let shown = format!("{:?}", router.replica);
    let digest: String = Sha256::digest(KEY).iter().map(|byte| format!("{byte:02x}")).collect();
    for secret in ["5up3rS3cret", "0therS3cret", &digest] {
        assert!(!shown.contains(secret));
    }
    assert!(shown.contains("k7f2"), "the public id is no secret");
}
