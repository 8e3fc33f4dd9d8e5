//! Where an answer is shown.

use super::{failures, summary};
use crate::commands::CommandError;
use serde_json::json;
use signalbox_api::{json as proto_json, status::from_status, v1};
use std::io::{self, Write};
use tonic::Status;
use v1::stream_generate_response::Event;

/// The answer goes to one place, everything about it to another; with `json`, every event to the first.
pub(super) struct Screen<A, N> {
    answer: A,
    notes: N,
    json: bool,
    /// Reasoning was shown and no text yet.
    reasoning: bool,
    /// The answer's last line is not ended.
    open_line: bool,
    done: bool,
    /// Whoever reads has seen enough, as `head` has.
    closed: bool,
}

impl<A: Write, N: Write> Screen<A, N> {
    pub(super) fn new(answer: A, notes: N, json: bool) -> Self {
        Self { answer, notes, json, reasoning: false, open_line: false, done: false, closed: false }
    }

    /// Whether the answer's end was shown.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Shows an event as soon as it has come.
    pub(super) fn show(&mut self, event: v1::StreamGenerateResponse) -> Result<(), CommandError> {
        self.done |= matches!(event.event, Some(Event::Done(_)));
        if self.json {
            let line = proto_json::to_json_line(&event)?;
            let outcome = writeln!(self.answer, "{line}").and_then(|()| self.answer.flush());
            return self.written(outcome);
        }
        let outcome = match event.event {
            Some(Event::TextDelta(delta)) => self.text(&delta.text),
            Some(Event::ReasoningDelta(delta)) => self.reasoning(&delta.text),
            Some(Event::Done(done)) => {
                self.end_line().and_then(|()| writeln!(self.notes, "\n{}", summary::summary(&done)))
            }
            // No tools were offered, and what a newer server may send besides is not for the eye.
            Some(Event::ToolCallDelta(_)) | None => Ok(()),
        };
        self.written(outcome)
    }

    /// The answer broke off: what came of it stays, on a line of its own.
    pub(super) fn break_off(&mut self, status: &Status) -> Result<(), CommandError> {
        if self.json {
            let error = json!({ "error": failures::to_json(&from_status(status)) });
            let outcome = writeln!(self.answer, "{error}");
            return self.written(outcome);
        }
        let outcome = self.end_line();
        self.written(outcome)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if std::mem::take(&mut self.reasoning) {
            self.notes.write_all(b"\n\n")?;
        }
        self.answer.write_all(text.as_bytes())?;
        self.open_line = !text.ends_with('\n');
        self.answer.flush()
    }

    fn reasoning(&mut self, text: &str) -> io::Result<()> {
        self.reasoning |= !text.is_empty();
        self.notes.write_all(text.as_bytes())?;
        self.notes.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.reasoning) {
            self.notes.write_all(b"\n")?;
        }
        if std::mem::take(&mut self.open_line) {
            self.answer.write_all(b"\n")?;
        }
        self.answer.flush()
    }

    fn written(&mut self, outcome: io::Result<()>) -> Result<(), CommandError> {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.closed = true,
            Err(error) => return Err(CommandError::new(format!("the answer cannot be shown: {error}"))),
            Ok(()) => {}
        }
        Ok(())
    }
}
