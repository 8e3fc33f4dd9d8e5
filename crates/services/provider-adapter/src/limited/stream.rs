//! An answer that counts against our account at the vendor until its end.

use super::{account::Admitted, tokens};
use futures_util::Stream;
use signalbox_ports::{AnswerStream, BoxAnswerStream};
use signalbox_types::{Failure, StreamEvent, TokenUsage};
use std::{
    pin::Pin,
    task::{Context, Poll},
};

pub(super) struct LimitedStream {
    answer: BoxAnswerStream,
    admitted: Option<Admitted>,
}

impl LimitedStream {
    pub(super) fn new(answer: BoxAnswerStream, admitted: Admitted) -> Self {
        Self { answer, admitted: Some(admitted) }
    }

    fn end(&mut self, used: Option<TokenUsage>) {
        if let Some(admitted) = self.admitted.take() {
            admitted.used(used.as_ref().and_then(tokens));
        }
    }
}

impl Stream for LimitedStream {
    type Item = Result<StreamEvent, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = self.answer.as_mut().poll_next(cx);
        if let Poll::Ready(event) = &event {
            match event {
                Some(Ok(StreamEvent::Done(done))) => self.end(Some(done.usage)),
                Some(Err(_)) | None => {
                    let used = self.answer.vendor_usage();
                    self.end(used);
                }
                Some(Ok(_)) => {}
            }
        }
        event
    }
}

impl AnswerStream for LimitedStream {
    fn vendor_usage(&self) -> Option<TokenUsage> {
        self.answer.vendor_usage()
    }
}
