//! The way to a replica over TLS, on which both sides show who they are.

use super::balance::CONNECT_TIMEOUT;
use crate::{
    serve::Joining,
    tls::{self, Mtls},
};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{io::AsyncBufReadExt, net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// With what to show oneself, and whom to find.
#[derive(Debug, Clone)]
pub(super) struct Secure {
    pub(super) mtls: Arc<Mtls>,
    pub(super) role: &'static str,
}

/// A connection on which nothing has been said yet.
type Wire = TokioIo<Joining<TlsStream<TcpStream>>>;

/// TLS is not spoken with a replica, because of who one of the two is.
#[derive(Debug, thiserror::Error)]
#[error("as {role}: {problem}")]
struct Stranger {
    role: &'static str,
    problem: String,
}

/// What is wrong with replicas, so that the log tells it once for all shards, and again when it is something else.
static STRANGERS: Mutex<BTreeMap<SocketAddr, String>> = Mutex::new(BTreeMap::new());

impl Secure {
    /// A new connection to a replica, with the certificate and the authorities of now. It has its time limit here: the
    /// endpoint's own would not be told from the loss of a call.
    pub(super) async fn connect(self, address: SocketAddr) -> io::Result<Wire> {
        timeout(CONNECT_TIMEOUT, self.begin(address)).await?
    }

    async fn begin(self, address: SocketAddr) -> io::Result<Wire> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let config = self.mtls.client(self.role).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::new(config));
        let stream = async {
            let mut stream = connector.connect(ServerName::from(address.ip()), stream).await?;
            // It is only by its first word that a server tells that it believes the client. A call sent before might
            // have been at work when it came to nothing, for all one knows.
            if stream.fill_buf().await?.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(stream)
        };
        match stream.await {
            Ok(stream) => {
                note(address, self.role, None);
                Ok(TokioIo::new(Joining::patient(stream, ())))
            }
            Err(error) => {
                let Some(problem) = tls::told(&error) else { return Err(error) };
                note(address, self.role, Some(&problem));
                Err(io::Error::other(Stranger { role: self.role, problem }))
            }
        }
    }
}

/// Tells what is wrong with a replica, where that has changed.
fn note(peer: SocketAddr, role: &'static str, problem: Option<&str>) {
    let mut all = STRANGERS.lock().unwrap_or_else(PoisonError::into_inner);
    if all.get(&peer).map(String::as_str) == problem {
        return;
    }
    match problem {
        Some(problem) => {
            tracing::warn!(%peer, role, "a peer cannot be spoken with: {problem}");
            all.insert(peer, problem.to_owned());
        }
        None => {
            tracing::info!(%peer, role, "a peer can be spoken with again");
            all.remove(&peer);
        }
    }
}
