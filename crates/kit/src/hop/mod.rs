//! How one role reaches another.

mod balance;
mod call;
mod loss;
mod reach;
mod secure;

use crate::{access::AdminKey, boundary::Boundary, tls::Mtls};
use balance::Balanced;
use http::{Request, Response, header::AUTHORIZATION};
use secure::Secure;
use std::{convert::Infallible, net::SocketAddr, sync::Arc};
use tonic::{Status, body::Body};
use tower::{Service, ServiceExt, util::BoxCloneSyncService};

pub use balance::ParsePeerError;
pub use loss::{cause, was_never_sent, was_under_way};

/// A role within reach: the peer's own server in this process, or a network channel. A generated client takes
/// either. The error is `Status`: with a boxed `dyn Error`, spawning a client call does not compile.
pub type Hop = BoxCloneSyncService<Request<Body>, Response<Body>, Status>;

/// A hop to a generated server in this process.
pub fn local<S>(server: S) -> Hop
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
{
    Hop::new(Boundary::new(server).map_err(|never| match never {}))
}

/// Whether `address` can be one of [`remote`]'s or [`secured`]'s.
pub(crate) fn check_peer_address(address: &str) -> Result<(), ParsePeerError> {
    balance::parse(address).map(|_| ())
}

/// The addresses of all replicas behind `addresses`, as far as they can be found now.
pub async fn look_up(addresses: &[String]) -> Vec<SocketAddr> {
    let peers: Vec<_> = addresses.iter().filter_map(|address| balance::parse(address).ok()).collect();
    balance::look_up(&peers).await
}

/// A hop over the network to `addresses`, each `http://host:port`. Calls go to the less loaded of two addresses
/// drawn at random; one that cannot be reached is left alone until it says that it is well. A host name stands for
/// all its addresses and is looked up again from time to time. Must be called inside a runtime.
pub fn remote(addresses: &[String]) -> Result<Hop, ParsePeerError> {
    Ok(Hop::new(Balanced::new(addresses, None)?))
}

/// As [`remote`], over TLS to `addresses`, each `https://host:port`. This process shows its certificate there, and what
/// is found there must show one for `role`.
pub fn secured(addresses: &[String], mtls: &Arc<Mtls>, role: &'static str) -> Result<Hop, ParsePeerError> {
    let secure = Secure { mtls: mtls.clone(), role };
    Ok(Hop::new(Balanced::new(addresses, Some(secure))?))
}

/// The same way, on which this process makes itself known to the other roles of its deployment.
pub fn with_key(hop: Hop, key: Option<&AdminKey>) -> Hop {
    let Some(header) = key.map(AdminKey::header) else { return hop };
    Hop::new(hop.map_request(move |mut request: Request<Body>| {
        request.headers_mut().insert(AUTHORIZATION, header.clone());
        request
    }))
}
