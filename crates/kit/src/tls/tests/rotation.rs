use super::*;
use crate::access::tests::ask;
use signalbox_certificates::Terms;
use signalbox_types::ErrorReason;
use std::time::SystemTime;
use tonic_health::{
    ServingStatus,
    pb::{HealthCheckRequest, health_client::HealthClient},
};

pub(super) const OK: &str = "signalbox_tls_reloads_total{result=\"ok\",use=\"mtls\"}";
pub(super) const FAILED: &str = "signalbox_tls_reloads_total{result=\"failed\",use=\"mtls\"}";
const GOOD: &str = "signalbox_tls_last_reload_success{use=\"mtls\"}";
const EXPIRY: &str = "signalbox_tls_certificate_expiry_timestamp_seconds{use=\"mtls\"}";

#[tokio::test]
async fn new_connections_use_new_files_while_calls_over_old_ones_go_on() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = Files::of(&old.issue(&["adapter"]), &old.ca_pem());
    let mtls = files.mtls();
    let server = Server::of(&mtls);
    let old_router = process(&old, &["router"]);
    let hop = server.hop(&old_router, "adapter");
    let question = HealthCheckRequest::default();
    let mut watching = HealthClient::new(hop.clone()).watch(question).await.unwrap().into_inner();
    let first = watching.message().await.unwrap().unwrap();

    files.write(&new.issue(&["adapter"]), &new.ca_pem());
    mtls.look().await;

    server.health.set_service_status("", ServingStatus::NotServing).await;
    assert_ne!(watching.message().await.unwrap().unwrap(), first);
    ask(hop, None).await.unwrap();
    ask(server.hop(&process(&new, &["router"]), "adapter"), None).await.unwrap();
    let refused = ask(server.hop(&old_router, "adapter"), None).await.unwrap_err();
    assert_eq!(refused.reason, ErrorReason::Unavailable);
}

#[tokio::test]
async fn a_caller_shows_and_believes_what_is_in_its_files_now() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = Files::of(&old.issue(&["router"]), &old.ca_pem());
    let mtls = files.mtls();
    let server = Server::of(&process(&new, &["adapter"]));
    ask(server.hop(&mtls, "adapter"), None).await.unwrap_err();
    files.write(&new.issue(&["router"]), &new.ca_pem());
    mtls.look().await;
    ask(server.hop(&mtls, "adapter"), None).await.unwrap();
}

#[tokio::test]
async fn files_that_are_half_written_leave_the_old_ones_in_use_and_are_told_of_once() {
    let authority = Authority::new();
    let old = authority.issue(&["adapter"]);
    let files = Files::of(&old, &authority.ca_pem());
    let mtls = files.mtls();
    let server = Server::of(&mtls);
    let router = process(&authority, &["router"]);
    let new = authority.issue(&["adapter", "cache"]);

    files.write_one("tls.crt", &new.certificate_pem);
    for _ in 0..3 {
        mtls.look().await;
    }
    assert_eq!((metric(OK), metric(FAILED)), (0, 1));
    assert_eq!(mtls.roles().names(), ["adapter"]);
    ask(server.hop(&router, "adapter"), None).await.unwrap();

    files.write_one("tls.key", &new.key_pem);
    mtls.look().await;
    assert_eq!((metric(OK), metric(FAILED)), (1, 1));
    assert_eq!(mtls.roles().names(), ["adapter", "cache"]);
    ask(server.hop(&router, "cache"), None).await.unwrap();
}

#[tokio::test]
async fn files_that_are_refused_are_told_of_until_they_are_good_again() {
    let authority = Authority::new();
    let (old, new) = (authority.issue(&["adapter"]), authority.issue(&["adapter"]));
    let files = Files::of(&old, &authority.ca_pem());
    let mtls = files.mtls();
    assert_eq!(metric(GOOD), 1);
    for mended in [&old, &new] {
        files.write_one("tls.crt", "half");
        for _ in 0..3 {
            mtls.look().await;
            assert_eq!(metric(GOOD), 0);
        }
        files.write(mended, &authority.ca_pem());
        mtls.look().await;
        assert_eq!(metric(GOOD), 1);
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_would_believe_does_not_replace_a_good_one() {
    let authority = Authority::new();
    let files = Files::of(&authority.issue(&["adapter"]), &authority.ca_pem());
    let mtls = files.mtls();
    let terms = Terms { roles: &["cache"], ..Terms::default() };
    for bad in [terms.clone().expired(), terms.not_yet_valid()] {
        files.write(&authority.issue_on(&bad), &authority.ca_pem());
        mtls.look().await;
        assert_eq!(mtls.roles().names(), ["adapter"]);
    }
    assert_eq!((metric(OK), metric(FAILED)), (0, 2));
}

#[tokio::test]
async fn it_is_known_when_the_certificate_in_use_expires() {
    let authority = Authority::new();
    let at = |seconds: u64| Terms {
        roles: &["adapter"],
        valid_until: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds),
        ..Terms::default()
    };
    let files = Files::of(&authority.issue_on(&at(4_000_000_000)), &authority.ca_pem());
    let mtls = files.mtls();
    assert_eq!(metric(EXPIRY), 4_000_000_000);
    files.write(&authority.issue_on(&at(4_100_000_000)), &authority.ca_pem());
    mtls.look().await;
    assert_eq!(metric(EXPIRY), 4_100_000_000);
}

#[tokio::test(start_paused = true)]
async fn files_are_looked_at_every_two_seconds() {
    let authority = Authority::new();
    let files = Files::of(&authority.issue(&["adapter"]), &authority.ca_pem());
    let mtls = files.mtls();
    let watching = tokio::spawn(mtls.clone().watch());
    tokio::time::sleep(Duration::from_secs(1)).await;
    files.write(&authority.issue(&["cache"]), &authority.ca_pem());
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(mtls.roles().names(), ["cache"]);
    watching.abort();
}
