//! Clients as others write them.

use super::*;
use crate::tls::PROVIDER;
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use std::io;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};
use tonic::{
    Status,
    transport::{Channel, Endpoint},
};
use tower::{ServiceExt, service_fn};

/// One that trusts an authority, holds servers to their host names, and shows no certificate.
pub(super) fn trusting(authority: &Authority) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.ca_pem().as_bytes()).unwrap()).unwrap();
    let client = ClientConfig::builder_with_provider(PROVIDER.clone());
    let client = client.with_safe_default_protocol_versions().unwrap();
    let mut client = client.with_root_certificates(roots).with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec()];
    client
}

/// Connects to what is known as `localhost`.
pub(super) async fn connect(client: ClientConfig, address: SocketAddr) -> io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(client)).connect(name, stream).await
}

/// gRPC over such a connection.
pub(super) async fn grpc(client: ClientConfig, address: SocketAddr) -> Result<Hop, tonic::transport::Error> {
    let connector = service_fn(move |_| {
        let client = client.clone();
        async move { io::Result::Ok(TokioIo::new(connect(client, address).await?)) }
    });
    let channel: Channel =
        Endpoint::from_static("https://localhost").connect_with_connector(connector).await?;
    Ok(Hop::new(channel.map_err(|error| Status::from_error(Box::new(error)))))
}
