use super::*;
use crate::access::tests::ask;
use rustls::HandshakeKind;
use signalbox_certificates::Terms;
use signalbox_types::ErrorReason;
use tokio::{io::AsyncReadExt, net::TcpStream};
use tokio_rustls::TlsConnector;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

#[tokio::test]
async fn a_role_is_known_by_its_certificate_and_whatever_key_it_sends_is_not_looked_at() {
    let authority = Authority::new();
    let server = Server::of(&process(&authority, &["adapter"]));
    let hop = server.hop(&process(&authority, &["cache", "router"]), "adapter");
    let seen = ask(hop, Some("Bearer anything")).await.unwrap();
    assert_eq!(seen, ("Deployment".to_owned(), "None".to_owned()));
}

#[tokio::test]
async fn a_role_is_held_to_its_arrows_but_may_ask_whether_another_is_well() {
    let authority = Authority::new();
    let server = Server::of(&process(&authority, &["adapter"]));
    let hop = server.hop(&process(&authority, &["budget", "cache"]), "adapter");
    let failure = ask(hop.clone(), None).await.unwrap_err();
    assert_eq!(failure.reason, ErrorReason::PermissionDenied);
    for part in ["/signalbox.v1.AdminService/GetConfigStatus", "budget, cache"] {
        assert!(failure.message.contains(part), "{}", failure.message);
    }
    HealthClient::new(hop).check(HealthCheckRequest::default()).await.unwrap();
}

#[tokio::test]
async fn a_server_of_another_role_gets_no_call_and_is_told_of() {
    let authority = Authority::new();
    let server = Server::of(&process(&authority, &["adapter"]));
    let hop = server.hop(&process(&authority, &["router"]), "cache");
    let cause = estranged(hop).await;
    let told = "as cache: its certificate is that of adapter in the trust domain signalbox, and cache is expected there";
    assert!(cause.ends_with(told), "{cause}");
}

/// Processes that are no part of the deployment, each with a word of what is wrong.
fn strangers(authority: &Authority, role: &'static str) -> Vec<(&'static str, Arc<Mtls>)> {
    let roles = &[role];
    let terms = Terms { roles, ..Terms::default() };
    let with = |pair: Pair| Files::of(&pair, &authority.ca_pem());
    let elsewhere = with(authority.issue_on(&Terms { trust_domain: "elsewhere", ..terms.clone() }));
    vec![
        ("of another authority", with(Authority::new().issue(roles)).mtls()),
        ("expired", with(authority.issue_on(&terms.clone().expired())).mtls()),
        ("not yet valid", with(authority.issue_on(&terms.clone().not_yet_valid())).mtls()),
        ("of another trust domain", Mtls::load(&elsewhere.config("elsewhere"), &[]).unwrap()),
    ]
}

#[tokio::test]
async fn strangers_are_refused_before_their_call_is_under_way() {
    let authority = Authority::new();
    let server = Server::of(&process(&authority, &["adapter"]));
    for (wrong, client) in strangers(&authority, "router") {
        let cause = estranged(server.hop(&client, "adapter")).await;
        assert!(cause.starts_with("a peer cannot be reached: "), "{wrong}: {cause}");
    }
    assert_eq!(metric("signalbox_tls_handshake_failures_total{reason=\"certificate\",use=\"mtls\"}"), 3);
}

#[tokio::test]
async fn strangers_get_no_calls() {
    let authority = Authority::new();
    let router = process(&authority, &["router"]);
    for (wrong, server) in strangers(&authority, "adapter") {
        let cause = estranged(Server::of(&server).hop(&router, "adapter")).await;
        assert!(cause.contains("as adapter: "), "{wrong}: {cause}");
    }
}

#[tokio::test]
async fn who_shows_no_certificate_is_refused() {
    let authority = Authority::new();
    let terms = Terms { roles: &["adapter"], hosts: &["localhost"], ..Terms::default() };
    let files = Files::of(&authority.issue_on(&terms), &authority.ca_pem());
    let server = Server::of(&files.mtls());
    let mut stream = clients::connect(clients::trusting(&authority), server.address).await.unwrap();
    let refused = stream.read_u8().await.unwrap_err();
    assert!(refused.to_string().contains("CertificateRequired"), "{refused}");
}

#[tokio::test]
async fn a_server_believes_no_role_of_another_trust_domain_although_the_authority_is_the_same() {
    let authority = Authority::new();
    let server = Server::of(&process(&authority, &["adapter"]));
    let terms = Terms { roles: &["router"], trust_domain: "elsewhere", ..Terms::default() };
    let files = Files::of(&authority.issue_on(&terms), &authority.ca_pem());
    let elsewhere = Mtls::load(&files.config("elsewhere"), &[]).unwrap();
    let mut client = process(&authority, &["router"]).client("adapter").unwrap();
    client.client_auth_cert_resolver = elsewhere.client("adapter").unwrap().client_auth_cert_resolver;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let connector = TlsConnector::from(Arc::new(client));
    let mut stream = connector.connect(server.address.ip().into(), stream).await.unwrap();
    let refused = stream.read_u8().await.unwrap_err();
    assert!(refused.to_string().contains("CertificateUnknown"), "{refused}");
}

#[tokio::test]
async fn an_authority_may_have_others_issue_for_it() {
    let authority = Authority::new();
    let believing_the_first = |pair| Files::of(&pair, &authority.ca_pem()).mtls();
    let server = Server::of(&believing_the_first(authority.subordinate().issue(&["adapter"])));
    let router = believing_the_first(authority.subordinate().issue(&["router"]));
    ask(server.hop(&router, "adapter"), None).await.unwrap();
}

#[tokio::test]
async fn no_session_is_resumed_so_that_an_authority_that_is_gone_is_gone() {
    let authority = Authority::new();
    let server = Server::of(&process(&authority, &["adapter"]));
    let mut client = process(&authority, &["router"]).client("adapter").unwrap();
    client.resumption = rustls::client::Resumption::in_memory_sessions(8);
    let connector = TlsConnector::from(Arc::new(client));
    for _ in 0..3 {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let mut stream = connector.connect(server.address.ip().into(), stream).await.unwrap();
        stream.read_u8().await.unwrap();
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Full));
    }
}

#[tokio::test]
async fn addresses_say_whether_peers_are_reached_over_tls() {
    let mtls = process(&Authority::new(), &["router"]);
    let clear = hop::remote(&["https://cache:50052".to_owned()]).unwrap_err().to_string();
    assert!(clear.contains("is reached over TLS, for which there is no `mtls`"), "{clear}");
    let secured = hop::secured(&["http://cache:50052".to_owned()], &mtls, "cache").unwrap_err().to_string();
    assert!(secured.contains("is not reached over TLS; write http://host:port, or https://"), "{secured}");
}
