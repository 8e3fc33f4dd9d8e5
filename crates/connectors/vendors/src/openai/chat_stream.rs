//! A streamed chat completion.

use super::calls::{CallPiece, Calls};
use super::dialect::Dialect;
use super::errors;
use super::response::{finish_reason, text_of};
use super::stream::{DONE, Progress};
use super::wire::{Usage, Word};
use crate::{failures, json};
use serde::Deserialize;
use serde_json::value::RawValue;
use signalbox_types::{Completion, Failure, ReasoningDelta, StreamEvent, TokenUsage};

/// What is known of the answer so far.
#[derive(Debug)]
pub(super) struct ChatStream {
    dialect: &'static Dialect,
    id: String,
    model: String,
    calls: Calls,
    refused: bool,
    /// The vendor's word for why it ended; empty where it gave an empty one.
    finish: Option<String>,
    /// The last that was reported: repeats replace, they are never summed.
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default)]
    id: Word<'a>,
    #[serde(borrow, default)]
    model: Word<'a>,
    #[serde(borrow, default)]
    object: Word<'a>,
    #[serde(borrow, default, rename = "type")]
    kind: Word<'a>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Usage>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Word<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<CallPiece<'a>>>,
}

impl ChatStream {
    pub(super) fn new(dialect: &'static Dialect) -> Self {
        Self {
            dialect,
            id: String::new(),
            model: String::new(),
            calls: Calls::default(),
            refused: false,
            finish: None,
            usage: None,
        }
    }

    pub(super) fn usage(&self) -> Option<TokenUsage> {
        self.usage
    }

    /// Reads one event.
    pub(super) fn read(&mut self, data: &str, events: &mut Vec<StreamEvent>) -> Result<Progress, Failure> {
        if data.trim() == DONE {
            return self.end(events).map(|()| Progress::Done);
        }
        let chunk: Chunk<'_> = json::read(self.dialect.name, data.as_bytes())?;
        if chunk.error.is_some() || chunk.object.as_str() == "error" || chunk.kind.as_str() == "error" {
            return Err(errors::in_band(self.dialect, data.as_bytes()));
        }
        chunk.id.keep_in(&mut self.id);
        chunk.model.keep_in(&mut self.model);
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage.into());
        }
        // More than one answer is never asked for.
        if let Some(choice) = chunk.choices.into_iter().flatten().next() {
            self.read_choice(choice, events);
        }
        Ok(Progress::GoesOn)
    }

    /// The connection closed without a word. An empty finish reason was none, then.
    pub(super) fn closed(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        self.finish = self.finish.take().filter(|word| !word.is_empty());
        self.end(events)
    }

    fn read_choice(&mut self, choice: Choice<'_>, events: &mut Vec<StreamEvent>) {
        if let Some(delta) = choice.delta {
            self.read_delta(delta, events);
        }
        match choice.finish_reason {
            Some(word) if !word.as_str().is_empty() => self.finish = Some(word.as_str().to_owned()),
            Some(_) if self.finish.is_none() => self.finish = Some(String::new()),
            _ => {}
        }
    }

    fn read_delta(&mut self, delta: Delta<'_>, events: &mut Vec<StreamEvent>) {
        let thought = delta.reasoning_content.or_else(|| text_of(delta.reasoning));
        if let Some(text) = thought.filter(|text| !text.is_empty()) {
            let vendor = self.dialect.name.to_owned();
            events.push(StreamEvent::Reasoning(ReasoningDelta { text, vendor, ..ReasoningDelta::default() }));
        }
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            events.push(StreamEvent::Text(text));
        }
        if let Some(text) = delta.refusal.filter(|text| !text.is_empty()) {
            self.refused = true;
            events.push(StreamEvent::Text(text));
        }
        for piece in delta.tool_calls.into_iter().flatten() {
            self.calls.read(&piece, events);
        }
    }

    fn end(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        let word = self.finish.take().ok_or_else(|| failures::truncated(self.dialect.name))?;
        let reason = finish_reason(&word, !self.calls.is_empty(), self.refused);
        let finish_reason = reason.ok_or_else(|| failures::truncated(self.dialect.name))?;
        self.calls.end(events);
        events.push(StreamEvent::Done(Completion {
            id: std::mem::take(&mut self.id),
            model: std::mem::take(&mut self.model),
            finish_reason,
            vendor_finish_reason: word,
            usage: self.usage.unwrap_or_default(),
        }));
        Ok(())
    }
}
