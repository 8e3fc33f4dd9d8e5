//! A response body that comes at its own pace and may end badly.

use crate::record::Ticket;
use crate::reply::Frame;
use bytes::Bytes;
use http_body::{Body, Frame as BodyFrame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

/// How the body ends once its frames are out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As HTTP has it.
    Whole,
    /// The connection closes without an end.
    Cut,
    /// Never.
    Stall,
}

/// The connection is closed on purpose.
#[derive(Debug)]
pub(crate) struct Hangup;

impl std::fmt::Display for Hangup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the simulated vendor closed the connection")
    }
}

impl std::error::Error for Hangup {}

/// A body of frames.
#[derive(Debug)]
pub(crate) struct SimBody {
    frames: std::vec::IntoIter<Frame>,
    length: Option<u64>,
    first_byte: Duration,
    trickle: Duration,
    ending: Ending,
    wait: Option<Pin<Box<Sleep>>>,
    waited: bool,
    flushed: bool,
    ticket: Option<Ticket>,
}

impl SimBody {
    /// A body; `length` is what the head promises.
    pub(crate) fn new(frames: Vec<Frame>, length: Option<u64>, ending: Ending) -> Self {
        Self {
            frames: frames.into_iter(),
            length,
            first_byte: Duration::ZERO,
            trickle: Duration::ZERO,
            ending,
            wait: None,
            waited: false,
            flushed: false,
            ticket: None,
        }
    }

    /// The same, waiting before its first byte and before each token.
    pub(crate) fn paced(self, first_byte: Duration, trickle: Duration) -> Self {
        Self { first_byte, trickle, ..self }
    }

    /// The same, reporting its end.
    pub(crate) fn reporting(self, ticket: Ticket) -> Self {
        Self { ticket: Some(ticket), ..self }
    }

    /// How long to wait before the next frame.
    fn pause(&mut self) -> Duration {
        let token = self.frames.as_slice().first().is_some_and(|frame| frame.token);
        std::mem::take(&mut self.first_byte) + if token { self.trickle } else { Duration::ZERO }
    }

    fn poll_pause(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.waited {
            self.waited = true;
            let pause = self.pause();
            self.wait = (!pause.is_zero()).then(|| Box::pin(tokio::time::sleep(pause)));
        }
        if let Some(wait) = &mut self.wait {
            ready!(wait.as_mut().poll(cx));
            self.wait = None;
        }
        self.waited = false;
        Poll::Ready(())
    }

    fn report_end(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            ticket.answered();
        }
    }

    fn poll_ending(&mut self, cx: &Context<'_>) -> Poll<Option<Result<BodyFrame<Bytes>, Hangup>>> {
        match self.ending {
            Ending::Whole => {
                self.report_end();
                Poll::Ready(None)
            }
            Ending::Stall => Poll::Pending,
            // What was sent before must reach the client: pending once makes the connection flush.
            Ending::Cut if !self.flushed => {
                self.flushed = true;
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Ending::Cut => {
                self.report_end();
                Poll::Ready(Some(Err(Hangup)))
            }
        }
    }
}

impl Body for SimBody {
    type Data = Bytes;
    type Error = Hangup;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<BodyFrame<Bytes>, Hangup>>> {
        let this = self.get_mut();
        if this.frames.as_slice().is_empty() {
            return this.poll_ending(cx);
        }
        ready!(this.poll_pause(cx));
        let frame = this.frames.next().map(|frame| frame.bytes).unwrap_or_default();
        if this.frames.as_slice().is_empty() && this.ending == Ending::Whole {
            this.report_end();
        }
        Poll::Ready(Some(Ok(BodyFrame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.ending == Ending::Whole && self.frames.as_slice().is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map(SizeHint::with_exact).unwrap_or_default()
    }
}
