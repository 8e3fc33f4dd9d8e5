//! An answer as server-sent events.

use super::NAME;
use super::errors::{self, Error};
use super::response::{self, Block, Message, Usage};
use crate::codec::StreamDecoder;
use crate::failures;
use crate::framing::SseFrames;
use crate::json;
use serde::Deserialize;
use signalbox_types::{Completion, Failure, ReasoningDelta, StreamEvent, TokenUsage, ToolCallDelta};
use std::borrow::Cow;

/// Reads a stream.
#[derive(Debug)]
pub(super) struct Decoder {
    frames: SseFrames,
    answer: Answer,
}

/// What has been said so far.
#[derive(Debug, Default)]
struct Answer {
    id: String,
    model: String,
    usage: Option<Usage>,
    stop_reason: Option<String>,
    json_tool: Option<String>,
    /// Tool blocks by the vendor's index, which counts every kind of block.
    calls: Vec<Call>,
    /// Calls given out so far.
    dense: u32,
    spent: bool,
}

#[derive(Debug)]
struct Call {
    block: u64,
    /// The call's index among the calls; `None` where its arguments are the answer's text.
    index: Option<u32>,
    /// Arguments that came with the block's start, for servers that send them whole.
    given: Option<String>,
    started: bool,
}

#[derive(Debug, Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    message: Option<Message>,
    content_block: Option<Block>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    usage: Option<Usage>,
    error: Option<Error>,
    request_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    text: String,
    thinking: String,
    signature: String,
    partial_json: String,
    stop_reason: Option<String>,
}

impl Decoder {
    pub(super) fn new(json_tool: Option<&str>) -> Self {
        let answer = Answer { json_tool: json_tool.map(str::to_owned), ..Answer::default() };
        Self { frames: SseFrames::default(), answer }
    }
}

impl StreamDecoder for Decoder {
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        self.frames.push(bytes);
        while !self.answer.spent {
            let Some(frame) = self.frames.next_frame()? else {
                break;
            };
            let event = json::read(NAME, frame.data.as_bytes())?;
            self.answer.read(event, events)?;
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        if self.answer.spent {
            return Ok(());
        }
        // The last event may lack only its blank line; what is cut inside is not worth a word of its own.
        self.frames.push(b"\n\n");
        while let Some(frame) = self.frames.next_frame()? {
            let Ok(event) = json::read(NAME, frame.data.as_bytes()) else {
                break;
            };
            self.answer.read(event, events)?;
        }
        if self.answer.spent { Ok(()) } else { self.answer.done(events) }
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.answer.usage.map(|usage| usage.tokens())
    }
}

impl Answer {
    fn read(&mut self, event: Event<'_>, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        let Event { kind, index, message, content_block, delta, usage, error, request_id } = event;
        match kind.as_ref() {
            "message_start" => self.start(message.unwrap_or_default()),
            "content_block_start" => self.start_block(index, content_block.unwrap_or_default(), events),
            "content_block_delta" => self.read_delta(index, delta.unwrap_or_default(), events),
            "content_block_stop" => self.stop_block(index, events),
            "message_delta" => {
                self.add_usage(usage);
                if let Some(stop_reason) = delta.and_then(|delta| delta.stop_reason) {
                    self.stop_reason = Some(stop_reason);
                }
            }
            "message_stop" => return self.done(events),
            "error" => {
                self.spent = true;
                return Err(errors::in_stream(error.unwrap_or_default(), request_id, None));
            }
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, message: Message) {
        self.add_usage(message.usage);
        self.id = message.id;
        self.model = message.model;
    }

    /// Counts are running totals: a report replaces the one before.
    fn add_usage(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            self.usage.get_or_insert_default().replace(usage);
        }
    }

    fn start_block(&mut self, block: u64, content: Block, events: &mut Vec<StreamEvent>) {
        match content.kind.as_str() {
            "text" => push_text(content.text, events),
            "thinking" => push_reasoning(content.thinking, content.signature, false, events),
            "redacted_thinking" => push_reasoning(String::new(), content.data, true, events),
            "tool_use" => self.start_call(block, content, events),
            _ => {}
        }
    }

    fn start_call(&mut self, block: u64, content: Block, events: &mut Vec<StreamEvent>) {
        let given = Some(json::arguments(content.input.as_deref())).filter(|arguments| arguments != "{}");
        if self.json_tool.as_deref() == Some(content.name.as_str()) {
            self.calls.push(Call { block, index: None, given, started: false });
            return;
        }
        let index = self.dense;
        self.dense += 1;
        self.calls.push(Call { block, index: Some(index), given, started: false });
        events.push(StreamEvent::ToolCall(ToolCallDelta {
            index,
            id: content.id,
            name: content.name,
            ..ToolCallDelta::default()
        }));
    }

    fn read_delta(&mut self, block: u64, delta: Delta<'_>, events: &mut Vec<StreamEvent>) {
        match delta.kind.as_ref() {
            "text_delta" => push_text(delta.text, events),
            "thinking_delta" => push_reasoning(delta.thinking, String::new(), false, events),
            "signature_delta" => push_reasoning(String::new(), delta.signature, false, events),
            "input_json_delta" if !delta.partial_json.is_empty() => {
                if let Some(call) = self.calls.iter_mut().rfind(|call| call.block == block) {
                    call.push(delta.partial_json, events);
                }
            }
            _ => {}
        }
    }

    fn stop_block(&mut self, block: u64, events: &mut Vec<StreamEvent>) {
        if let Some(call) = self.calls.iter_mut().rfind(|call| call.block == block) {
            call.stop(events);
        }
    }

    fn done(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        self.spent = true;
        let stop_reason = self.stop_reason.take().ok_or_else(|| failures::truncated(NAME))?;
        for call in &mut self.calls {
            call.stop(events);
        }
        events.push(StreamEvent::Done(Completion {
            id: std::mem::take(&mut self.id),
            model: std::mem::take(&mut self.model),
            finish_reason: response::finish_reason(&stop_reason, self.dense > 0, self.json_tool.as_deref()),
            vendor_finish_reason: stop_reason,
            usage: self.usage.map(|usage| usage.tokens()).unwrap_or_default(),
        }));
        Ok(())
    }
}

impl Call {
    fn push(&mut self, arguments: String, events: &mut Vec<StreamEvent>) {
        self.started = true;
        events.push(match self.index {
            Some(index) => {
                StreamEvent::ToolCall(ToolCallDelta { index, arguments, ..ToolCallDelta::default() })
            }
            None => StreamEvent::Text(arguments),
        });
    }

    /// A call without arguments is a call with none: `{}`.
    fn stop(&mut self, events: &mut Vec<StreamEvent>) {
        if !self.started {
            let arguments = self.given.take().unwrap_or_else(|| "{}".to_owned());
            self.push(arguments, events);
        }
    }
}

fn push_text(text: String, events: &mut Vec<StreamEvent>) {
    if !text.is_empty() {
        events.push(StreamEvent::Text(text));
    }
}

fn push_reasoning(text: String, signature: String, redacted: bool, events: &mut Vec<StreamEvent>) {
    if text.is_empty() && signature.is_empty() {
        return;
    }
    let signature = (!signature.is_empty()).then_some(signature);
    events.push(StreamEvent::Reasoning(ReasoningDelta {
        text,
        signature,
        redacted,
        vendor: NAME.to_owned(),
    }));
}
