//! A streamed response.

use super::super::dialect::Dialect;
use super::super::response::id_or_made_up;
use super::super::stream::{DONE, Progress};
use super::super::{errors, wire::Word};
use super::response::{Ending, OutputItem, Response, SUMMARY_BREAK};
use crate::{failures, json};
use serde::Deserialize;
use signalbox_types::{Completion, Failure, ReasoningDelta, StreamEvent, TokenUsage, ToolCallDelta};

/// What is known of the answer so far.
#[derive(Debug)]
pub(in super::super) struct ResponsesStream {
    dialect: &'static Dialect,
    calls: Vec<Call>,
    refused: bool,
    usage: Option<TokenUsage>,
}

#[derive(Debug)]
struct Call {
    /// The item's place in the output, other items included.
    output_index: u64,
    has_arguments: bool,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Word<'a>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    output_index: u64,
    #[serde(default)]
    delta: String,
}

#[derive(Deserialize)]
struct SummaryPart {
    #[serde(default)]
    summary_index: u64,
}

#[derive(Deserialize)]
struct ItemEvent<'a> {
    #[serde(default)]
    output_index: u64,
    #[serde(borrow)]
    item: OutputItem<'a>,
}

#[derive(Deserialize)]
struct Last<'a> {
    #[serde(borrow)]
    response: Response<'a>,
}

impl ResponsesStream {
    pub(in super::super) fn new(dialect: &'static Dialect) -> Self {
        Self { dialect, calls: Vec::new(), refused: false, usage: None }
    }

    pub(in super::super) fn usage(&self) -> Option<TokenUsage> {
        self.usage
    }

    /// Reads one event. `event` is its type again, where the server names its events; unknown ones are skipped.
    pub(in super::super) fn read(
        &mut self,
        event: &str,
        data: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<Progress, Failure> {
        if data.trim() == DONE {
            return Err(failures::truncated(self.dialect.name));
        }
        let kind = if event.is_empty() { self.parse::<Kind<'_>>(data)?.kind } else { Word::from(event) };
        match kind.as_str() {
            "response.output_text.delta" => self.text(data, events)?,
            "response.refusal.delta" => {
                self.refused = true;
                self.text(data, events)?;
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let text = self.parse::<Delta>(data)?.delta;
                self.thought(text, None, events);
            }
            "response.reasoning_summary_part.added" => {
                let first = self.parse::<SummaryPart>(data)?.summary_index == 0;
                let break_before = if first { "" } else { SUMMARY_BREAK };
                self.thought(break_before.to_owned(), None, events);
            }
            "response.output_item.added" => self.item_added(&self.parse(data)?, events),
            "response.function_call_arguments.delta" => {
                let Delta { output_index, delta } = self.parse(data)?;
                self.arguments(output_index, delta, events);
            }
            "response.output_item.done" => self.item_done(&self.parse(data)?, events),
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                return self.last(data, events).map(|()| Progress::Done);
            }
            "error" => return Err(errors::in_band(self.dialect, data.as_bytes())),
            _ => {}
        }
        Ok(Progress::GoesOn)
    }

    fn parse<'a, T: Deserialize<'a>>(&self, data: &'a str) -> Result<T, Failure> {
        json::read(self.dialect.name, data.as_bytes())
    }

    fn text(&self, data: &str, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        let text = self.parse::<Delta>(data)?.delta;
        if !text.is_empty() {
            events.push(StreamEvent::Text(text));
        }
        Ok(())
    }

    fn thought(&self, text: String, signature: Option<String>, events: &mut Vec<StreamEvent>) {
        if !text.is_empty() || signature.is_some() {
            let vendor = self.dialect.name.to_owned();
            events.push(StreamEvent::Reasoning(ReasoningDelta { text, signature, redacted: false, vendor }));
        }
    }

    fn item_added(&mut self, event: &ItemEvent<'_>, events: &mut Vec<StreamEvent>) {
        if event.item.kind.as_str() == "function_call" && self.position(event.output_index).is_none() {
            self.begin_call(event, events);
        }
    }

    fn begin_call(&mut self, event: &ItemEvent<'_>, events: &mut Vec<StreamEvent>) {
        let position = self.calls.len();
        let arguments = event.item.arguments.as_str().to_owned();
        self.calls.push(Call { output_index: event.output_index, has_arguments: !arguments.is_empty() });
        events.push(StreamEvent::ToolCall(ToolCallDelta {
            index: index(position),
            id: id_or_made_up(event.item.call_id.as_str(), position),
            name: event.item.name.as_str().to_owned(),
            arguments,
            signature: None,
        }));
    }

    fn arguments(&mut self, output_index: u64, arguments: String, events: &mut Vec<StreamEvent>) {
        let Some(position) = self.position(output_index) else { return };
        if let Some(call) = self.calls.get_mut(position).filter(|_| !arguments.is_empty()) {
            call.has_arguments = true;
            let delta = ToolCallDelta { index: index(position), arguments, ..ToolCallDelta::default() };
            events.push(StreamEvent::ToolCall(delta));
        }
    }

    /// The item once more, whole: reasoning gets its signature, and a call whose arguments never came gets them.
    fn item_done(&mut self, event: &ItemEvent<'_>, events: &mut Vec<StreamEvent>) {
        match event.item.kind.as_str() {
            "reasoning" => self.thought(String::new(), event.item.signature(), events),
            "function_call" => match self.position(event.output_index) {
                None => {
                    self.begin_call(event, events);
                    self.end_call(event, events);
                }
                Some(_) => self.end_call(event, events),
            },
            _ => {}
        }
    }

    fn end_call(&mut self, event: &ItemEvent<'_>, events: &mut Vec<StreamEvent>) {
        let call = self.calls.iter().rfind(|call| call.output_index == event.output_index);
        if call.is_some_and(|call| !call.has_arguments) {
            let arguments = super::super::messages::or_empty_object(event.item.arguments.as_str());
            self.arguments(event.output_index, arguments.to_owned(), events);
        }
    }

    fn last(&mut self, data: &str, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        let Last { mut response } = self.parse(data)?;
        self.usage = response.usage.take().map(Into::into).or(self.usage);
        let Ending { finish_reason, word } =
            response.ending(self.dialect, !self.calls.is_empty(), self.refused)?;
        events.push(StreamEvent::Done(Completion {
            id: response.id.as_str().to_owned(),
            model: response.model.as_str().to_owned(),
            finish_reason,
            vendor_finish_reason: word,
            usage: self.usage.unwrap_or_default(),
        }));
        Ok(())
    }

    fn position(&self, output_index: u64) -> Option<usize> {
        self.calls.iter().rposition(|call| call.output_index == output_index)
    }
}

fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
