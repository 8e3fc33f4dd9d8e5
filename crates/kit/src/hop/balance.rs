//! Client-side balancing over the replicas of a role.

use super::{
    call::Call,
    loss::{cut, is_unsent, unreachable},
    reach::Reach,
    secure::Secure,
};
use arc_swap::ArcSwap;
use http::{Request, Response, Uri};
use signalbox_api::status::to_status;
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::HashMap,
    error::Error,
    future::Future,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::sync::Notify;
use tonic::{
    ConnectError, Status, TimeoutExpired,
    body::Body,
    transport::{Channel, Endpoint},
};
use tower::{Service, ServiceExt, service_fn};

/// How often host names are looked up again.
const RESOLVE_EVERY: Duration = Duration::from_secs(5);
/// And while nobody is known, as when all roles of a deployment start together.
const RESOLVE_SOON: Duration = Duration::from_millis(500);
/// How long a connection may take: a lost packet's time to be sent again, and less than callers are patient, so that there
/// is time left to ask another replica. A machine that has gone refuses nothing, it keeps silent.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_millis(1_500);
/// How long a connection may be silent before the peer is asked for a sign of life.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(1);
/// How long that sign may take. A peer that stands still holds its calls no longer than both together.
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(2);

/// A peer's address cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "peer address `{address}`: {problem}; write http://host:port, or https://host:port where there is `mtls`"
)]
pub struct ParsePeerError {
    address: String,
    problem: &'static str,
}

impl ParsePeerError {
    /// What is wrong with it.
    pub(crate) fn problem(&self) -> &'static str {
        self.problem
    }
}

/// A service that spreads calls over the replicas behind a list of addresses.
#[derive(Debug, Clone)]
pub(super) struct Balanced {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    peers: Vec<Peer>,
    /// None where they are spoken with in the clear.
    secure: Option<Secure>,
    replicas: ArcSwap<Vec<Arc<Replica>>>,
}

#[derive(Debug, Clone)]
pub(super) struct Peer {
    secure: bool,
    host: String,
    port: u16,
}

#[derive(Debug)]
pub(super) struct Replica {
    address: SocketAddr,
    channel: Channel,
    pub(super) in_flight: AtomicUsize,
    pub(super) reach: Reach,
    /// Told when a connection could not be made. Calls that wait for one would try again one after the other.
    unconnected: Notify,
}

impl Balanced {
    pub(super) fn new(addresses: &[String], secure: Option<Secure>) -> Result<Self, ParsePeerError> {
        let parse = |address: &String| parse_for(address, secure.is_some());
        let peers = addresses.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let shared = Arc::new(Shared { peers, secure, replicas: ArcSwap::default() });
        shared.adopt(shared.peers.iter().filter_map(Peer::literal).collect());
        tokio::spawn(keep_resolved(Arc::downgrade(&shared)));
        Ok(Self { shared })
    }
}

pub(super) fn parse(address: &str) -> Result<Peer, ParsePeerError> {
    let fail = |problem| ParsePeerError { address: address.to_owned(), problem };
    let uri: Uri = address.parse().map_err(|_| fail("is not a URL"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(fail("does not start with http:// or https://"));
    }
    let host = uri.host().ok_or_else(|| fail("has no host"))?;
    let port = uri.port_u16().filter(|port| *port > 0);
    let port = port.ok_or_else(|| fail("has no port from 1 to 65535"))?;
    let secure = uri.scheme_str() == Some("https");
    Ok(Peer { secure, host: host.trim_matches(['[', ']']).to_owned(), port })
}

/// The same, for one that is spoken with over TLS or in the clear: as it says, so that nobody believes in encryption
/// that is not there.
fn parse_for(address: &str, secure: bool) -> Result<Peer, ParsePeerError> {
    let peer = parse(address)?;
    if peer.secure == secure {
        return Ok(peer);
    }
    let problem =
        if secure { "is not reached over TLS" } else { "is reached over TLS, for which there is no `mtls`" };
    Err(ParsePeerError { address: address.to_owned(), problem })
}

impl Peer {
    /// The address, where it needs no look-up.
    fn literal(&self) -> Option<SocketAddr> {
        Some(SocketAddr::new(self.host.parse().ok()?, self.port))
    }
}

/// The addresses that can be found of all peers now.
pub(super) async fn look_up(peers: &[Peer]) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    for peer in peers {
        match tokio::net::lookup_host((peer.host.as_str(), peer.port)).await {
            Ok(addresses) => found.extend(addresses),
            Err(error) => tracing::warn!(peer = peer.host, %error, "cannot look up a peer"),
        }
    }
    found
}

/// Looks host names up again and again until the last hop is dropped.
async fn keep_resolved(shared: std::sync::Weak<Shared>) {
    loop {
        let Some(strong) = shared.upgrade() else { return };
        let found = look_up(&strong.peers).await;
        if !found.is_empty() {
            strong.adopt(found);
        }
        let nobody = strong.replicas.load().is_empty();
        drop(strong);
        tokio::time::sleep(if nobody { RESOLVE_SOON } else { RESOLVE_EVERY }).await;
    }
}

impl Shared {
    /// Makes `addresses` the replicas, keeping the channels of those that stay.
    fn adopt(&self, mut addresses: Vec<SocketAddr>) {
        addresses.sort_unstable();
        addresses.dedup();
        let old = self.replicas.load();
        if old.iter().map(|replica| replica.address).eq(addresses.iter().copied()) {
            return;
        }
        let mut known: HashMap<SocketAddr, Arc<Replica>> =
            old.iter().map(|replica| (replica.address, replica.clone())).collect();
        let replicas = addresses
            .into_iter()
            .filter_map(|address| {
                known.remove(&address).or_else(|| Replica::connect(address, self.secure.clone()))
            })
            .collect();
        self.replicas.store(Arc::new(replicas));
    }

    /// The less loaded of two replicas drawn among those in reach; among all, when none is.
    fn pick(&self) -> Option<Arc<Replica>> {
        let replicas = self.replicas.load();
        let in_reach: Vec<&Arc<Replica>> =
            replicas.iter().filter(|replica| !replica.reach.is_away()).collect();
        let pool = if in_reach.is_empty() { replicas.iter().collect() } else { in_reach };
        let drawn = rand::random_range(0..pool.len().max(1));
        let first = *pool.get(drawn)?;
        // Another one, where there is one.
        let other = drawn + rand::random_range(1..pool.len().max(2));
        let second = *pool.get(other % pool.len())?;
        let load = |replica: &Arc<Replica>| replica.in_flight.load(Ordering::Relaxed);
        Some(if load(second) < load(first) { second.clone() } else { first.clone() })
    }
}

impl Replica {
    fn connect(address: SocketAddr, secure: Option<Secure>) -> Option<Arc<Self>> {
        let scheme = if secure.is_some() { "https" } else { "http" };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{address}")).ok()?;
        let endpoint = endpoint
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEP_ALIVE_EVERY)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .keep_alive_while_idle(true);
        let channel = match secure {
            None => endpoint.connect_timeout(CONNECT_TIMEOUT).connect_lazy(),
            Some(secure) => endpoint
                .connect_with_connector_lazy(service_fn(move |_: Uri| secure.clone().connect(address))),
        };
        let reach = Reach::of(address, channel.clone());
        let (in_flight, unconnected) = (AtomicUsize::new(0), Notify::new());
        Some(Arc::new(Self { address, channel, in_flight, reach, unconnected }))
    }
}

impl Service<Request<Body>> for Balanced {
    type Response = Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let shared = self.shared.clone();
        Box::pin(async move {
            let Some(replica) = shared.pick() else {
                return Err(unreachable("no address is known yet"));
            };
            let mut call = Call::start(replica.clone());
            let unconnected = replica.unconnected.notified();
            let mut channel = replica.channel.clone();
            let answer = async { channel.ready().await?.call(request).await };
            tokio::select! {
                biased;
                answer = answer => match answer {
                    Ok(answer) => Ok(answer.map(|body| call.answered_with(body))),
                    Err(error) => Err(told(&mut call, &error)),
                },
                // Without a connection it cannot have been sent.
                () = unconnected => {
                    let why = "no connection could be made";
                    call.lost(why);
                    Err(unreachable(why))
                }
            }
        })
    }
}

/// A transport error, told as the taxonomy tells it, with its consequences for the replica.
fn told(call: &mut Call, error: &tonic::transport::Error) -> Status {
    let mut source: Option<&(dyn Error + 'static)> = Some(error);
    let (mut deepest, mut connected, mut sent) = (String::new(), true, true);
    while let Some(cause) = source {
        if cause.is::<TimeoutExpired>() {
            // The replica may have been at work; the call raises doubts when it is dropped.
            return to_status(&Failure::new(ErrorReason::DeadlineExceeded, "the call's deadline passed"));
        }
        connected &= !cause.is::<ConnectError>();
        sent &= !is_unsent(cause);
        deepest = cause.to_string();
        source = cause.source();
    }
    call.lost(&deepest);
    if connected {
        return if sent { cut(&deepest) } else { unreachable(&deepest) };
    }
    call.replica().unconnected.notify_waiters();
    unreachable(&deepest)
}
