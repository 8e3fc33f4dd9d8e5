//! A streamed answer of either surface.

use super::dialect::Dialect;
use super::responses::ResponsesStream;
use super::wire::Surface;
use super::{chat_stream::ChatStream, errors};
use crate::codec::StreamDecoder;
use crate::framing::SseFrames;
use signalbox_types::{ErrorReason, Failure, StreamEvent, TokenUsage};

/// Ends a stream of chat completions; the responses surface says it with an event.
pub(super) const DONE: &str = "[DONE]";

/// What is known after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    GoesOn,
    Done,
}

/// Reads a stream; the first event tells which surface it comes from.
#[derive(Debug)]
pub(crate) struct Decoder {
    dialect: &'static Dialect,
    frames: SseFrames,
    reader: Reader,
    spent: bool,
}

#[derive(Debug)]
enum Reader {
    Unknown,
    Chat(ChatStream),
    Responses(ResponsesStream),
}

impl Decoder {
    pub(crate) fn new(dialect: &'static Dialect) -> Self {
        Self { dialect, frames: SseFrames::default(), reader: Reader::Unknown, spent: false }
    }

    fn read(&mut self, events: &mut Vec<StreamEvent>) -> Result<Progress, Failure> {
        while let Some(frame) = self.frames.next_frame()? {
            if self.reader.read(self.dialect, frame.event, frame.data, events)? == Progress::Done {
                return Ok(Progress::Done);
            }
        }
        Ok(Progress::GoesOn)
    }

    /// Reads what a vendor left unfinished, and ends.
    fn read_to_end(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        // A last event need not be followed by a blank line.
        self.frames.push(b"\n\n");
        match self.read(events) {
            Ok(Progress::Done) => return Ok(()),
            // Cut in the middle of a line.
            Err(failure) if failure.reason == ErrorReason::VendorBadResponse => {}
            Err(failure) => return Err(failure),
            Ok(Progress::GoesOn) => {}
        }
        match errors::left_behind(self.dialect, self.frames.rest()) {
            Some(failure) => Err(failure),
            None => self.reader.end(self.dialect, events),
        }
    }
}

impl StreamDecoder for Decoder {
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        if self.spent {
            return Ok(());
        }
        self.frames.push(bytes);
        let progress = self.read(events);
        self.spent = progress != Ok(Progress::GoesOn);
        progress.map(drop)
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        if std::mem::replace(&mut self.spent, true) {
            return Ok(());
        }
        self.read_to_end(events)
    }

    fn usage(&self) -> Option<TokenUsage> {
        match &self.reader {
            Reader::Unknown => None,
            Reader::Chat(chat) => chat.usage(),
            Reader::Responses(responses) => responses.usage(),
        }
    }
}

impl Reader {
    fn read(
        &mut self,
        dialect: &'static Dialect,
        event: &str,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<Progress, Failure> {
        loop {
            match self {
                Self::Chat(chat) => return chat.read(data, events),
                Self::Responses(responses) => return responses.read(event, data, events),
                Self::Unknown => {
                    *self = match Surface::of_event(data) {
                        Surface::Chat => Self::Chat(ChatStream::new(dialect)),
                        Surface::Responses => Self::Responses(ResponsesStream::new(dialect)),
                    };
                }
            }
        }
    }

    /// The connection closed.
    fn end(&mut self, dialect: &Dialect, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        match self {
            Self::Chat(chat) => chat.closed(events),
            Self::Unknown | Self::Responses(_) => Err(crate::failures::truncated(dialect.name)),
        }
    }
}
