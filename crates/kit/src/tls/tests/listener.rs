use super::*;
use crate::{
    access::{AdminKey, LoneAuthenticator, tests::ask},
    config::{Environment, ServerTlsConfig},
    tls::ServerTls,
};
use signalbox_types::ErrorReason;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const KEY: &str = "a-key-of-thirty-two-characters-or-more";

/// TLS towards clients, who need the key.
fn public(files: &Files) -> (Arc<ServerTls>, Server) {
    let MtlsConfig { certificate_file, key_file, .. } = files.config(TRUST_DOMAIN);
    let tls = ServerTls::load(&ServerTlsConfig { certificate_file, key_file }).unwrap();
    let key = AdminKey::from_environment(&Environment::new([(AdminKey::VARIABLE, KEY)])).unwrap();
    let authenticator = Arc::new(LoneAuthenticator::new(key, true));
    let server = Server::start(Entrance::Tls(tls.clone(), authenticator));
    (tls, server)
}

fn at_localhost(authority: &Authority) -> Files {
    Files::of(&authority.issue_for_hosts(&["localhost"]), &authority.ca_pem())
}

#[tokio::test]
async fn an_ordinary_client_that_trusts_the_authority_is_served_over_tls_by_its_key() {
    let authority = Authority::new();
    let (_, server) = public(&at_localhost(&authority));
    let hop = clients::grpc(clients::trusting(&authority), server.address).await.unwrap();
    let key = format!("Bearer {KEY}");
    assert_eq!(ask(hop.clone(), Some(&key)).await.unwrap(), ("Deployment".to_owned(), "None".to_owned()));
    assert_eq!(ask(hop, None).await.unwrap_err().reason, ErrorReason::Unauthenticated);
    clients::grpc(clients::trusting(&Authority::new()), server.address).await.unwrap_err();
}

#[tokio::test]
async fn clients_are_shown_a_new_certificate_without_a_restart() {
    let (old, new) = (Authority::new(), Authority::new());
    let files = at_localhost(&old);
    let (tls, server) = public(&files);
    clients::connect(clients::trusting(&new), server.address).await.unwrap_err();
    files.write(&new.issue_for_hosts(&["localhost"]), "");
    tls.look().await;
    clients::connect(clients::trusting(&new), server.address).await.unwrap();
}

#[tokio::test]
async fn who_says_nothing_keeps_nobody_waiting() {
    let authority = Authority::new();
    let server = Server::of(&process(&authority, &["adapter"]));
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(TcpStream::connect(server.address).await.unwrap());
    }
    let hop = server.hop(&process(&authority, &["router"]), "adapter");
    tokio::time::timeout(Duration::from_secs(2), ask(hop, None)).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_is_left_after_five_seconds() {
    let (_, server) = public(&at_localhost(&Authority::new()));
    let start = tokio::time::Instant::now();
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    assert_eq!(silent.read(&mut [0; 1]).await.unwrap(), 0);
    assert_eq!(start.elapsed().as_secs(), 5);
    assert_eq!(metric("signalbox_tls_handshake_failures_total{reason=\"timeout\",use=\"server\"}"), 1);
}

#[tokio::test]
async fn who_speaks_in_the_clear_is_told_apart_at_the_first_word() {
    let authority = Authority::new();
    let (_, server) = public(&at_localhost(&authority));
    let mut clear = TcpStream::connect(server.address).await.unwrap();
    clear.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    clear.read_to_end(&mut answer).await.unwrap();
    // An alert, which is not HTTP.
    assert_eq!(answer.first(), Some(&21), "{answer:?}");
    assert_eq!(metric("signalbox_tls_handshake_failures_total{reason=\"clear\",use=\"server\"}"), 1);

    let hop = hop::remote(&[format!("http://{}", server.address)]).unwrap();
    assert_eq!(ask(hop, None).await.unwrap_err().reason, ErrorReason::Unavailable);
    clients::connect(clients::trusting(&authority), server.address).await.unwrap();
}

#[tokio::test]
async fn a_server_in_the_clear_is_told_apart_where_tls_is_expected() {
    let authority = Authority::new();
    let server = Server::start(Entrance::Clear(Arc::new(LoneAuthenticator::new(None, false))));
    let cause = estranged(server.hop(&process(&authority, &["router"]), "adapter")).await;
    assert!(cause.ends_with("as adapter: it does not speak TLS"), "{cause}");
}
