//! One call to a replica, from its start to the end of the answer's body.

use super::{balance::Replica, loss::cut};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use std::{
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Poll, ready},
};
use tonic::{Status, body::Body};

/// Counts as load of its replica while it lasts. A call that is given up before its end raises doubts.
#[derive(Debug)]
pub(super) struct Call {
    replica: Arc<Replica>,
    ended: bool,
}

impl Call {
    pub(super) fn start(replica: Arc<Replica>) -> Self {
        replica.in_flight.fetch_add(1, Ordering::Relaxed);
        Self { replica, ended: false }
    }

    pub(super) fn replica(&self) -> &Replica {
        &self.replica
    }

    /// The replica cannot be reached.
    pub(super) fn lost(&mut self, why: &str) {
        self.ended = true;
        self.replica.reach.lost(why);
    }

    /// The answer's body, of which the call is a part.
    pub(super) fn answered_with(mut self, body: Body) -> Body {
        self.ended = body.is_end_stream();
        if self.ended { body } else { Body::new(Answer { body, call: self }) }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.replica.in_flight.fetch_sub(1, Ordering::Relaxed);
        if !self.ended {
            self.replica.reach.doubt();
        }
    }
}

struct Answer {
    body: Body,
    call: Call,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            Some(Ok(frame)) => {
                self.call.ended |= frame.is_trailers();
                Poll::Ready(Some(Ok(frame)))
            }
            None if self.call.ended => Poll::Ready(None),
            // An answer that is whole ends with its status, in the trailers.
            broken => {
                let problem = broken.and_then(Result::err);
                let problem = problem.as_ref().map_or("it was closed", Status::message);
                self.call.lost(problem);
                Poll::Ready(Some(Err(cut(problem))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
