//! A server that is spoken to by TLS, with a certificate of an authority that the system does not know.

use crate::engine::{assert_holds, batch, clock, options};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use signalbox_certificates::{Authority, Pair};
use signalbox_clickhouse::{ClickHouseStore, Options};
use signalbox_contracts::events;
use signalbox_ports::usage_store::{StoreFailure, UsageStore};
use signalbox_testkit::ClickHouseEngine;
use std::{path::PathBuf, sync::Arc};
use tempfile::TempDir;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// Takes TLS off what comes for an engine, as a front in its place would. Gives the address to call.
async fn front(engine: &ClickHouseEngine, pair: &Pair) -> String {
    let certificates = CertificateDer::pem_slice_iter(pair.certificate_pem.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(pair.key_pem.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let chain = certificates.collect::<Result<Vec<_>, _>>().unwrap();
    let config = builder.with_no_client_auth().with_single_cert(chain, key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let behind = engine.url().trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                let mut connection = acceptor.accept(connection).await.ok()?;
                let mut server = TcpStream::connect(behind).await.ok()?;
                copy_bidirectional(&mut connection, &mut server).await.ok()
            });
        }
    });
    url
}

fn file_of(authority: &Authority) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.ca_pem()).unwrap();
    (folder, file)
}

#[tokio::test]
async fn a_server_of_an_authority_of_ones_own_is_believed_where_that_is_named_and_nowhere_else() {
    let (engine, authority) = (ClickHouseEngine::start().await, Authority::new());
    let url = front(&engine, &authority.issue_for_hosts(&["localhost"])).await;
    let (_folder, file) = file_of(&authority);
    let (_other_folder, other) = file_of(&Authority::new());
    for ca_file in [None, Some(other)] {
        let options = Options { url: url.clone(), ca_file, ..options(&engine) };
        match ClickHouseStore::new(options, clock()).unwrap().migrate().await.unwrap_err() {
            StoreFailure::Away(text) => assert!(text.contains("certificate"), "{text}"),
            StoreFailure::Refused(text) => panic!("refused: {text}"),
        }
    }
    let store =
        ClickHouseStore::new(Options { url, ca_file: Some(file), ..options(&engine) }, clock()).unwrap();
    store.migrate().await.unwrap();
    let events: Vec<_> = events(1, 10).collect();
    store.insert(&batch("1-10", &events, &[])).await.unwrap();
    assert_holds(&engine, &events).await;
}
