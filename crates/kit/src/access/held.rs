//! The answer to a caller whose key may be taken back while it comes.

use super::{Connection, gate::Gate};
use crate::boundary::trailers;
use bytes::Bytes;
use futures_util::{FutureExt as _, future::BoxFuture};
use http::{HeaderValue, Uri};
use http_body::{Body as HttpBody, Frame, SizeHint};
use signalbox_types::{ErrorReason, Failure};
use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::sleep;
use tonic::{Status, body::Body};

/// How often is looked whether a caller may still have what is on its way.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(3);

/// Who was let in, and by what.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) gate: Gate,
    /// Of the method that was called.
    pub(super) uri: Uri,
    pub(super) authorization: Option<HeaderValue>,
    pub(super) connection: Connection,
}

impl Held {
    /// Waits until the caller would not be let in any more. That it cannot be found out now is no reason to send anybody
    /// away who was.
    async fn turned_away(self) -> Failure {
        loop {
            sleep(LOOK_EVERY).await;
            let Self { gate, uri, authorization, connection } = &self;
            if let Err(failure) = gate.admit(uri.path(), authorization.as_ref(), connection).await
                && failure.reason == ErrorReason::Unauthenticated
            {
                return failure;
            }
        }
    }
}

/// A body that ends with a status once its caller would not be let in any more.
pub(super) struct HeldBody {
    /// Dropped as soon as the caller is turned away: that stops the handler.
    inner: Option<Body>,
    held: Option<Held>,
    /// Only answers that are waited for are looked after: most are there at once.
    turned_away: Option<BoxFuture<'static, Failure>>,
}

impl HeldBody {
    pub(super) fn new(inner: Body, held: Held) -> Self {
        Self { inner: Some(inner), held: Some(held), turned_away: None }
    }

    fn is_turned_away(&mut self, cx: &mut Context<'_>) -> Option<Failure> {
        if let Some(held) = self.held.take() {
            self.turned_away = Some(held.turned_away().boxed());
        }
        match self.turned_away.as_mut()?.poll_unpin(cx) {
            Poll::Ready(failure) => Some(failure),
            Poll::Pending => None,
        }
    }

    fn end_with(&mut self, failure: &Failure) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        (self.inner, self.turned_away) = (None, None);
        Poll::Ready(Some(trailers(failure)))
    }
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
        if let Poll::Ready(frame) = Pin::new(inner).poll_frame(cx) {
            return Poll::Ready(frame);
        }
        match self.is_turned_away(cx) {
            Some(failure) => self.end_with(&failure),
            None => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map(HttpBody::size_hint).unwrap_or_default()
    }
}

impl fmt::Debug for HeldBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldBody").field("inner", &self.inner).finish_non_exhaustive()
    }
}
