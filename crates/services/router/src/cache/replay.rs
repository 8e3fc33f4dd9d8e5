//! A whole answer as a stream.

use crate::metrics::RequestTimer;
use futures_util::Stream;
use signalbox_api::v1::{self, part::Part, stream_generate_response::Event};
use signalbox_kit::telemetry::trace::Span;
use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll},
};
use tonic::Status;

/// Bytes that a piece of text has at least, so that an answer comes in pieces of a few words.
const LEAST_BYTES: usize = 48;

/// An answer from the cache, as the stream that was asked for.
#[derive(Debug)]
pub struct Replay {
    events: VecDeque<Event>,
    /// Gone once the end was told.
    open: Option<(RequestTimer, Span)>,
}

impl Replay {
    pub(super) fn new(content: Vec<v1::Part>, done: v1::StreamDone, timer: RequestTimer, span: Span) -> Self {
        let mut events: VecDeque<Event> =
            content.into_iter().filter_map(|part| part.part).flat_map(events).collect();
        events.push_back(Event::Done(done));
        Self { events, open: Some((timer, span)) }
    }
}

/// What a part was, as it came.
fn events(part: Part) -> Vec<Event> {
    match part {
        Part::Text(text) => {
            pieces(&text).map(|text| Event::TextDelta(v1::TextDelta { text: text.to_owned() })).collect()
        }
        Part::Reasoning(v1::Reasoning { text, signature, redacted, vendor }) => {
            vec![Event::ReasoningDelta(v1::ReasoningDelta { text, signature, redacted, vendor })]
        }
        // Never in the cache.
        Part::Image(_) | Part::ToolCall(_) | Part::ToolResult(_) => Vec::new(),
    }
}

/// Text in pieces that end after a space where there is one, and never within a character.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest
            .char_indices()
            .skip_while(|(at, _)| *at < LEAST_BYTES)
            .find(|(at, char)| char.is_whitespace() || *at >= 2 * LEAST_BYTES)
            .map_or(rest.len(), |(at, char)| at + char.len_utf8());
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

impl Stream for Replay {
    type Item = Result<v1::StreamGenerateResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = self.events.pop_front();
        if self.events.is_empty()
            && let Some((timer, span)) = self.open.take()
        {
            timer.answered();
            span.end();
        }
        Poll::Ready(event.map(|event| Ok(v1::StreamGenerateResponse { event: Some(event) })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_make_up_the_text_and_none_is_empty(text in "(\\PC| |\n){0,400}") {
            let all: Vec<_> = pieces(&text).collect();
            prop_assert_eq!(all.concat(), text.clone());
            prop_assert!(all.iter().all(|piece| !piece.is_empty()));
            let most = 2 * LEAST_BYTES + 4;
            prop_assert!(all.iter().all(|piece| piece.len() <= most));
        }
    }

    #[test]
    fn words_stay_whole() {
        let text =
            "Twelve quick brown foxes jump over the lazy dogs of the river bank every morning at nine.";
        let all: Vec<_> = pieces(text).collect();
        assert!(all.len() > 1, "{all:?}");
        assert!(all[..all.len() - 1].iter().all(|piece| piece.ends_with(' ')), "{all:?}");
    }
}
