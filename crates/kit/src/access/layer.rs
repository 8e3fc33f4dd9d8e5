//! The layer around all services of a listener.

use super::{Connection, INSIDE};
use crate::{telemetry::metrics, tls::PeerRoles};
use http::{HeaderValue, Request, Response, header::AUTHORIZATION};
use prometheus::IntCounterVec;
use signalbox_api::status::to_status;
use signalbox_ports::Authenticator;
use signalbox_types::{ErrorReason, Failure};
use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll},
};
use tonic::body::Body;
use tower::{Layer, Service};

/// Whether the process is well.
const HEALTH: &str = "/grpc.health.";

/// What needs no key: whether the process is well, and what the contract is. Who shuts reflection does not serve it.
const OPEN_TO_ALL: [&str; 2] = [HEALTH, "/grpc.reflection."];

static REFUSALS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_auth_refusals_total",
        "Calls that were refused because of who made them, by the error's reason.",
        &["reason"],
    )
});

pub(super) fn register_metrics() {
    LazyLock::force(&REFUSALS);
}

/// Whether a process that speaks for these roles may call a method, given by its path as in
/// `/signalbox.v1.CacheService/Lookup`.
pub type MayCall = fn(method: &str, caller: &PeerRoles) -> bool;

/// Wraps services in [`Access`].
#[derive(Debug, Clone)]
pub struct AccessLayer(Gate);

/// By what callers are known.
#[derive(Debug, Clone)]
enum Gate {
    Key(Arc<dyn Authenticator>),
    Certificate(MayCall),
}

impl AccessLayer {
    /// Asks `authenticator` who calls.
    pub fn new(authenticator: Arc<dyn Authenticator>) -> Self {
        Self(Gate::Key(authenticator))
    }

    /// Knows callers by their certificates: they are other roles of the deployment, and do what `may_call` lets them.
    pub fn by_certificate(may_call: MayCall) -> Self {
        Self(Gate::Certificate(may_call))
    }
}

impl<S> Layer<S> for AccessLayer {
    type Service = Access<S>;

    fn layer(&self, inner: S) -> Access<S> {
        Access { inner, gate: self.0.clone() }
    }
}

/// Services that only those reach who may.
#[derive(Debug, Clone)]
pub struct Access<S> {
    inner: S,
    gate: Gate,
}

impl<S> Service<Request<Body>> for Access<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        // The key goes no further than this.
        let authorization = request.headers_mut().remove(AUTHORIZATION);
        let connection = request.extensions().get::<Connection>().cloned().unwrap_or_default();
        match &self.gate {
            Gate::Key(_) if open_to_all(&request) => Box::pin(self.inner.call(request)),
            Gate::Key(authenticator) => {
                let authenticator = authenticator.clone();
                // The one that is ready goes with the call.
                let next = self.inner.clone();
                let mut inner = std::mem::replace(&mut self.inner, next);
                Box::pin(async move {
                    let peer = connection.peer_ip();
                    match authenticator.authenticate(authorization.as_ref().map(key), peer).await {
                        Ok(identity) => {
                            request.extensions_mut().insert(identity);
                            inner.call(request).await
                        }
                        Err(failure) => Ok(refusal(&failure, request.uri().path(), &connection)),
                    }
                })
            }
            Gate::Certificate(may_call) => match held(&request, &connection, *may_call) {
                Ok(()) => {
                    request.extensions_mut().insert(INSIDE.clone());
                    Box::pin(self.inner.call(request))
                }
                Err(failure) => {
                    let refusal = refusal(&failure, request.uri().path(), &connection);
                    Box::pin(std::future::ready(Ok(refusal)))
                }
            },
        }
    }
}

fn open_to_all(request: &Request<Body>) -> bool {
    OPEN_TO_ALL.iter().any(|prefix| request.uri().path().starts_with(prefix))
}

/// Holds a caller to what its roles may do. Everybody with a certificate may ask whether the process is well.
fn held(request: &Request<Body>, connection: &Connection, may_call: MayCall) -> Result<(), Failure> {
    let method = request.uri().path();
    let Some(roles) = connection.roles.as_ref().filter(|roles| !roles.is_empty()) else {
        return Err(Failure::new(ErrorReason::Unauthenticated, "a certificate of this deployment is needed"));
    };
    if method.starts_with(HEALTH) || may_call(method, roles) {
        return Ok(());
    }
    let message = format!("{method} may not be called by what the caller's certificate says it is: {roles}");
    Err(Failure::new(ErrorReason::PermissionDenied, message))
}

/// The key in a header; empty where it holds none, which is nobody's.
fn key(authorization: &HeaderValue) -> &str {
    let text = authorization.to_str().unwrap_or_default();
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => key.trim(),
        _ => "",
    }
}

fn refusal(failure: &Failure, method: &str, connection: &Connection) -> Response<Body> {
    let (reason, peer, roles) = (failure.reason.name(), connection.peer_ip(), &connection.roles);
    REFUSALS.with_label_values(&[reason]).inc();
    tracing::debug!(method, ?peer, ?roles, reason, "a call was refused");
    to_status(failure).into_http()
}
