//! The layer around all services of a listener.

use super::{
    Connection,
    gate::{Gate, MayCall},
    held::{Held, HeldBody},
};
use crate::telemetry::metrics;
use http::{Request, Response, header::AUTHORIZATION};
use prometheus::IntCounterVec;
use signalbox_api::status::to_status;
use signalbox_ports::Authenticator;
use signalbox_types::Failure;
use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::{Arc, LazyLock},
    task::{Context, Poll},
};
use tonic::body::Body;
use tower::{Layer, Service};

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

/// Wraps services in [`Access`].
#[derive(Debug, Clone)]
pub struct AccessLayer(Gate);

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
        if self.gate.is_open(request.uri().path()) {
            return Box::pin(self.inner.call(request));
        }
        // The one that is ready goes with the call.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let gate = self.gate.clone();
        let connection = request.extensions().get::<Connection>().cloned().unwrap_or_default();
        Box::pin(async move {
            match gate.admit(request.uri().path(), authorization.as_ref(), &connection).await {
                Ok(identity) => {
                    request.extensions_mut().insert(identity);
                    let held = Held { gate, uri: request.uri().clone(), authorization, connection };
                    let answer = inner.call(request).await?;
                    Ok(answer.map(|body| Body::new(HeldBody::new(body, held))))
                }
                Err(failure) => Ok(refusal(&failure, request.uri().path(), &connection)),
            }
        })
    }
}

fn refusal(failure: &Failure, method: &str, connection: &Connection) -> Response<Body> {
    let (reason, peer, roles) = (failure.reason.name(), connection.peer_ip(), &connection.roles);
    REFUSALS.with_label_values(&[reason]).inc();
    tracing::debug!(method, ?peer, ?roles, reason, "a call was refused");
    to_status(failure).into_http()
}
