//! A streamed answer, read only while somebody asks for it.

use super::{
    bulkhead::Place,
    cause::Cause,
    exchange::Origin,
    limits::{Limits, Watch},
};
use crate::codec::StreamDecoder;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use signalbox_ports::AnswerStream;
use signalbox_types::{ErrorReason, Failure, StreamEvent, TokenUsage};
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{runtime::Handle, time::timeout};

/// Events that are enough to pass on, though more may be there at once.
const ENOUGH: usize = 64;
/// How long the end of an answered call's body is waited for, so that its connection can serve the next call.
const DRAIN_TIME: Duration = Duration::from_secs(1);

/// The events of one answer, over the bytes of its body.
pub(super) struct HttpAnswerStream<B: Body> {
    /// `None` once the call is over.
    body: Option<B>,
    /// The place in the bulkhead, until the call is over.
    place: Option<Place>,
    decoder: Box<dyn StreamDecoder>,
    /// Events being gathered.
    arrived: Vec<StreamEvent>,
    /// The connection has been given its turn since the last piece of the body.
    gave_way: bool,
    /// Events being handed out, newest first, so that `pop` gives the oldest.
    events: Vec<StreamEvent>,
    /// What ends the stream after all events; where `None`, `Done` was among them.
    failure: Option<Failure>,
    /// The decoder has said how the answer ended.
    spent: bool,
    limits: Limits,
    watch: Watch,
    origin: Origin,
}

/// The bytes of a body as they arrive.
pub(super) trait Body: Stream<Item = reqwest::Result<Bytes>> + Send + Unpin + 'static {}
impl<B: Stream<Item = reqwest::Result<Bytes>> + Send + Unpin + 'static> Body for B {}

impl<B: Body> HttpAnswerStream<B> {
    pub(super) fn new(
        body: B,
        decoder: Box<dyn StreamDecoder>,
        origin: Origin,
        limits: Limits,
        place: Option<Place>,
    ) -> Self {
        Self {
            body: Some(body),
            place,
            decoder,
            arrived: Vec::new(),
            gave_way: false,
            events: Vec::new(),
            failure: None,
            spent: false,
            limits,
            watch: Watch::default(),
            origin,
        }
    }

    /// Gathers what has arrived until nothing more is there, or enough.
    ///
    /// The connection hands over one piece at a time, in a turn of its own, however much it holds. Passed on one by
    /// one, each would become a write of its own to the caller; so the connection is given its turn before what was
    /// gathered is passed on. Where no more is there that costs a microsecond.
    fn poll_gather(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.spent && self.arrived.len() < ENOUGH {
            if self.poll_piece(cx).is_ready() {
                self.gave_way = false;
                continue;
            }
            if self.arrived.is_empty() {
                return Poll::Pending;
            }
            if std::mem::replace(&mut self.gave_way, true) {
                break;
            }
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        std::mem::swap(&mut self.arrived, &mut self.events);
        self.events.reverse();
        Poll::Ready(())
    }

    /// Waits for the next piece of the body, or its end, and decodes it.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(body) = &mut self.body else {
            self.end(None);
            return Poll::Ready(());
        };
        match body.poll_next_unpin(cx) {
            Poll::Ready(Some(Ok(bytes))) => {
                self.watch.arrived();
                let fed = self.decoder.feed(&bytes, &mut self.arrived);
                self.decoded(fed);
            }
            Poll::Ready(Some(Err(error))) => self.broke(&error),
            Poll::Ready(None) => self.end(None),
            Poll::Pending => {
                let stage = ready!(self.watch.poll_overdue(&self.limits, cx));
                self.place.iter().for_each(|place| place.timed_out(stage));
                let failure = self.limits.timeout(&self.origin.vendor, stage);
                self.end(Some(failure));
            }
        }
        if self.spent {
            self.leave(cx);
        }
        Poll::Ready(())
    }

    fn broke(&mut self, error: &reqwest::Error) {
        let what = format!("the stream broke off before its end: {}", Cause::of(error));
        self.end(Some(self.origin.failure(ErrorReason::StreamTruncated, what)));
    }

    /// No more will come: because the body has ended, or else for the reason given. An answer whose vendor had
    /// already said why it ended is whole either way.
    fn end(&mut self, early: Option<Failure>) {
        self.body = None;
        let finished = self.decoder.finish(&mut self.arrived);
        self.decoded(finished.map_err(|failure| early.unwrap_or(failure)));
        if !self.spent {
            let what = "the stream ended without saying why";
            self.failure = Some(self.origin.failure(ErrorReason::StreamTruncated, what));
            self.spent = true;
        }
    }

    /// Takes in what the decoder made of a piece.
    fn decoded(&mut self, result: Result<(), Failure>) {
        let done = match self.arrived.last_mut() {
            Some(StreamEvent::Done(done)) => {
                self.origin.secrets.mask_completion(done);
                true
            }
            _ => false,
        };
        self.failure = result.err().filter(|_| !done).map(|failure| self.origin.sign(failure));
        if let (Some(failure), Some(place)) = (&self.failure, &self.place) {
            place.failed(failure.reason);
        }
        self.spent = done || self.failure.is_some();
    }

    /// The call is over. What is left of the body is read as far as it is there: a connection whose body was read to
    /// its end serves the next call. A failed call is stopped.
    fn leave(&mut self, cx: &mut Context<'_>) {
        self.place = None;
        while let Some(body) = &mut self.body {
            match body.poll_next_unpin(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(None | Some(Err(_))) => self.body = None,
                Poll::Pending => break,
            }
        }
        if self.failure.is_some() {
            self.body = None;
        }
    }
}

impl<B: Body> Stream for HttpAnswerStream<B> {
    type Item = Result<StreamEvent, Failure>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(event) = this.events.pop() {
                return Poll::Ready(Some(Ok(event)));
            }
            if this.spent && this.arrived.is_empty() {
                return Poll::Ready(this.failure.take().map(Err));
            }
            ready!(this.poll_gather(cx));
        }
    }
}

impl<B: Body> AnswerStream for HttpAnswerStream<B> {
    fn vendor_usage(&self) -> Option<TokenUsage> {
        self.decoder.usage()
    }
}

/// Dropped before the answer's end, the call is stopped: dropping the body closes its connection (HTTP/2: resets its
/// stream). After it, only the body's own end is missing: it is waited for aside, and nobody else waits.
impl<B: Body> Drop for HttpAnswerStream<B> {
    fn drop(&mut self) {
        let answered = self.spent && self.failure.is_none();
        let Some(mut body) = self.body.take().filter(|_| answered) else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            let _ = timeout(DRAIN_TIME, async { while let Some(Ok(_)) = body.next().await {} }).await;
        });
    }
}
