//! The layer around all services of a listener.

use crate::telemetry::metrics;
use http::{HeaderValue, Request, Response, header::AUTHORIZATION};
use prometheus::IntCounterVec;
use signalbox_api::status::to_status;
use signalbox_ports::Authenticator;
use signalbox_types::Failure;
use std::{
    convert::Infallible,
    future::Future,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll},
};
use tonic::{body::Body, transport::server::TcpConnectInfo};
use tower::{Layer, Service};

/// What needs no key: whether the process is well, and what the contract is. Who shuts reflection does not serve it.
const OPEN_TO_ALL: [&str; 2] = ["/grpc.health.", "/grpc.reflection."];

static REFUSALS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_auth_refusals_total",
        "Calls that were refused because of who made them, by the error's reason.",
        &["reason"],
    )
});

/// Wraps services in [`Access`].
#[derive(Debug, Clone)]
pub struct AccessLayer(Arc<dyn Authenticator>);

impl AccessLayer {
    /// Asks `authenticator` who calls.
    pub fn new(authenticator: Arc<dyn Authenticator>) -> Self {
        Self(authenticator)
    }
}

impl<S> Layer<S> for AccessLayer {
    type Service = Access<S>;

    fn layer(&self, inner: S) -> Access<S> {
        Access { inner, authenticator: self.0.clone() }
    }
}

/// Services that only those reach who may.
#[derive(Debug, Clone)]
pub struct Access<S> {
    inner: S,
    authenticator: Arc<dyn Authenticator>,
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
        if OPEN_TO_ALL.iter().any(|prefix| request.uri().path().starts_with(prefix)) {
            return Box::pin(self.inner.call(request));
        }
        // The one that is ready goes with the call.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let authenticator = self.authenticator.clone();
        // The key goes no further than this.
        let authorization = request.headers_mut().remove(AUTHORIZATION);
        let peer = peer(&request);
        Box::pin(async move {
            match authenticator.authenticate(authorization.as_ref().map(key), peer).await {
                Ok(identity) => {
                    request.extensions_mut().insert(identity);
                    inner.call(request).await
                }
                Err(failure) => Ok(refusal(&failure, request.uri().path(), peer)),
            }
        })
    }
}

/// The key in a header; empty where it holds none, which is nobody's.
fn key(authorization: &HeaderValue) -> &str {
    let text = authorization.to_str().unwrap_or_default();
    match text.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => key.trim(),
        _ => "",
    }
}

fn peer(request: &Request<Body>) -> Option<IpAddr> {
    let connection = request.extensions().get::<TcpConnectInfo>()?;
    connection.remote_addr().map(|address| address.ip().to_canonical())
}

fn refusal(failure: &Failure, method: &str, peer: Option<IpAddr>) -> Response<Body> {
    let reason = failure.reason.name();
    REFUSALS.with_label_values(&[reason]).inc();
    tracing::debug!(method, ?peer, reason, "a call was refused");
    to_status(failure).into_http()
}
