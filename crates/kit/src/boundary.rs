//! What a socket gives silently and an in-process call does not, put around both so that they behave alike.
//!
//! [`Boundary`] enforces `grpc-timeout` (with `DEADLINE_EXCEEDED`, where tonic over TCP says `CANCELLED`), hides
//! request extensions but what the listener knows of the connection, and turns a panic into `INTERNAL`; on the call and
//! on the body of its answer. It also gives tonic's own refusals the taxonomy's form.

mod body;
mod refusal;

use crate::access::Connection;
use body::BoundaryBody;
use bytes::Bytes;
use http::{Extensions, HeaderMap, Request, Response, uri::PathAndQuery};
use http_body::Frame;
use signalbox_api::status::{grpc_timeout, to_status};
use signalbox_types::{ErrorReason, Failure};
use std::{
    convert::Infallible,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::{Status, body::Body, server::NamedService};
use tower::{Layer, Service};

/// The deadline is enforced this much early, so that the caller hears of it before its own timer fires.
const HEAD_START: Duration = Duration::from_millis(2);

/// Wraps services in [`Boundary`].
#[derive(Debug, Clone, Copy, Default)]
pub struct BoundaryLayer;

impl<S> Layer<S> for BoundaryLayer {
    type Service = Boundary<S>;

    fn layer(&self, inner: S) -> Boundary<S> {
        Boundary { inner }
    }
}

/// A service behind the boundary.
#[derive(Debug, Clone)]
pub struct Boundary<S> {
    inner: S,
}

impl<S> Boundary<S> {
    /// Puts `inner` behind the boundary.
    pub fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: NamedService> NamedService for Boundary<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<Request<Body>> for Boundary<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoundaryFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        hide_extensions(request.extensions_mut());
        let deadline = grpc_timeout(request.headers())
            .and_then(|timeout| Instant::now().checked_add(timeout - HEAD_START.min(timeout / 4)));
        BoundaryFuture {
            path: request.uri().path_and_query().cloned(),
            inner: Box::pin(self.inner.call(request)),
            timer: deadline.map(|at| Box::pin(sleep_until(at))),
        }
    }
}

/// A call behind the boundary.
#[derive(Debug)]
pub struct BoundaryFuture<F> {
    inner: Pin<Box<F>>,
    path: Option<PathAndQuery>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<F: Future<Output = Result<Response<Body>, Infallible>>> Future for BoundaryFuture<F> {
    type Output = Result<Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match catch_unwind(AssertUnwindSafe(|| this.inner.as_mut().poll(cx))) {
            Err(_) => return Poll::Ready(Ok(to_status(&panicked()).into_http())),
            Ok(Poll::Ready(Ok(response))) => {
                return Poll::Ready(Ok(wrap(response, this.path.as_ref(), this.timer.take())));
            }
            Ok(Poll::Pending) => {}
        }
        if has_fired(&mut this.timer, cx) {
            return Poll::Ready(Ok(to_status(&expired()).into_http()));
        }
        Poll::Pending
    }
}

/// All but what the listener knows of the connection.
fn hide_extensions(extensions: &mut Extensions) {
    let connection = extensions.remove::<Connection>();
    extensions.clear();
    connection.map(|connection| extensions.insert(connection));
}

fn has_fired(timer: &mut Option<Pin<Box<Sleep>>>, cx: &mut Context<'_>) -> bool {
    timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_ready())
}

fn wrap(
    response: Response<Body>,
    path: Option<&PathAndQuery>,
    timer: Option<Pin<Box<Sleep>>>,
) -> Response<Body> {
    if response.headers().contains_key("grpc-status") {
        return refusal::named(response, path);
    }
    response.map(|body| Body::new(BoundaryBody::new(body, timer)))
}

/// The last frame of an answer that ends with a failure.
pub(crate) fn trailers(failure: &Failure) -> Result<Frame<Bytes>, Status> {
    let mut trailers = HeaderMap::new();
    to_status(failure).add_header(&mut trailers).map(|()| Frame::trailers(trailers))
}

fn expired() -> Failure {
    Failure::new(ErrorReason::DeadlineExceeded, "the call's deadline passed")
}

fn panicked() -> Failure {
    Failure::new(ErrorReason::Internal, "a handler panicked; please report it with the request id")
}

#[cfg(test)]
mod tests;
