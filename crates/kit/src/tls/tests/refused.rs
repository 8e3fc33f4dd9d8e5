//! What is put in place of a good certificate and is not taken.

use super::*;
use crate::access::tests::ask;
use rotation::{FAILED, OK};
use signalbox_certificates::Terms;

fn issued(authority: &Authority, terms: Terms<'_>) -> Pair {
    authority.issue_on(&Terms { roles: &["adapter"], ..terms })
}

/// The same problem is told once, another one again.
async fn refused(mtls: &Mtls, times: u64) {
    mtls.look().await;
    mtls.look().await;
    assert_eq!((metric(OK), metric(FAILED)), (0, times));
}

#[tokio::test]
async fn a_certificate_without_a_role_of_its_process_does_not_replace_one_that_has_it() {
    let authority = Authority::new();
    let files = Files::of(&authority.issue(&["adapter", "cache"]), &authority.ca_pem());
    let lacks = Mtls::load(&files.config(TRUST_DOMAIN), &["adapter", "router"]).unwrap_err();
    let told = "speaks for adapter, cache, and not for router, which this process serves";
    assert!(lacks.starts_with("mtls.certificate_file: ") && lacks.ends_with(told), "{lacks}");

    let mtls = Mtls::load(&files.config(TRUST_DOMAIN), &["adapter", "cache"]).unwrap();
    let server = Server::of(&mtls);
    for (times, roles) in [(1, &["router"][..]), (2, &["adapter"])] {
        files.write(&authority.issue(roles), &authority.ca_pem());
        refused(&mtls, times).await;
    }
    let router = process(&authority, &["router"]);
    for role in ["adapter", "cache"] {
        ask(server.hop(&router, role), None).await.unwrap();
    }
    files.write(&authority.issue(&["adapter", "budget", "cache"]), &authority.ca_pem());
    mtls.look().await;
    assert_eq!(metric(OK), 1);
}

#[tokio::test]
async fn a_certificate_that_its_own_authorities_do_not_vouch_for_does_not_replace_a_good_one() {
    let (authority, other) = (Authority::new(), Authority::new());
    let good = issued(&authority, Terms::default());
    let files = Files::of(&good, &authority.ca_pem());
    let mtls = files.mtls();
    let server = Server::of(&mtls);
    let wrong = [
        (issued(&other, Terms::default()), authority.ca_pem()),
        (good, other.ca_pem()),
        (issued(&authority, Terms { for_callers_only: true, ..Terms::default() }), authority.ca_pem()),
    ];
    // The second is told in the words of the first, and so not again.
    for (times, (pair, ca_pem)) in [1, 1, 2].into_iter().zip(&wrong) {
        files.write(pair, ca_pem);
        refused(&mtls, times).await;
        ask(server.hop(&process(&authority, &["router"]), "adapter"), None).await.unwrap();
    }
}

#[tokio::test]
async fn an_authority_is_exchanged_one_file_at_a_time_and_never_before_its_certificates() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = Files::of(&old.issue(&["adapter"]), &old.ca_pem());
    let mtls = files.mtls();
    let takes = async |times: u64| {
        mtls.look().await;
        assert_eq!((metric(OK), metric(FAILED)), (times, times - 1));
    };
    let refuses = async |times: u64| {
        mtls.look().await;
        assert_eq!((metric(OK), metric(FAILED)), (times, times));
    };
    files.write_one("ca.crt", &(old.ca_pem() + &new.ca_pem()));
    takes(1).await;
    // It would be cut off: its certificate is still the old authority's.
    files.write_one("ca.crt", &new.ca_pem());
    refuses(1).await;
    files.write(&new.issue(&["adapter"]), &(old.ca_pem() + &new.ca_pem()));
    takes(2).await;
    files.write_one("ca.crt", &old.ca_pem());
    refuses(2).await;
    files.write_one("ca.crt", &new.ca_pem());
    takes(3).await;
    let server = Server::of(&mtls);
    ask(server.hop(&process(&new, &["router"]), "adapter"), None).await.unwrap();
    ask(server.hop(&process(&old, &["router"]), "adapter"), None).await.unwrap_err();
}
