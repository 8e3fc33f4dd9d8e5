//! The boundary around the body of an answer.

use super::{expired, has_fired, panicked, trailers};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use signalbox_types::Failure;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};
use tokio::time::Sleep;
use tonic::{Status, body::Body};

/// A body that ends with a status when its deadline passes or its source panics.
#[derive(Debug)]
pub(super) struct BoundaryBody {
    /// Dropped as soon as the boundary ends the answer: that stops the handler.
    inner: Option<Body>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl BoundaryBody {
    pub(super) fn new(inner: Body, timer: Option<Pin<Box<Sleep>>>) -> Self {
        Self { inner: Some(inner), timer }
    }

    fn end_with(&mut self, failure: &Failure) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.inner = None;
        Poll::Ready(Some(trailers(failure)))
    }
}

impl HttpBody for BoundaryBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(None);
        };
        match catch_unwind(AssertUnwindSafe(|| Pin::new(inner).poll_frame(cx))) {
            Err(_) => return self.end_with(&panicked()),
            Ok(Poll::Ready(frame)) => return Poll::Ready(frame),
            Ok(Poll::Pending) => {}
        }
        if has_fired(&mut self.timer, cx) { self.end_with(&expired()) } else { Poll::Pending }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map(HttpBody::size_hint).unwrap_or_default()
    }
}
