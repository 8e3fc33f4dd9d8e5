//! An answer as lines of JSON.

use super::response::{Line, Piece};
use super::{NAME, errors};
use crate::codec::StreamDecoder;
use crate::failures;
use crate::framing::NdjsonFrames;
use crate::json;
use signalbox_types::{Completion, Failure, ReasoningDelta, StreamEvent, TokenUsage, ToolCallDelta};

/// Reads a stream.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    lines: NdjsonFrames,
    answer: Answer,
}

/// What has been said so far.
#[derive(Debug, Default)]
struct Answer {
    calls: u32,
    usage: Option<TokenUsage>,
    done: bool,
}

impl StreamDecoder for Decoder {
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        self.lines.push(bytes);
        while !self.answer.done {
            let Some(line) = self.lines.next_line()? else {
                break;
            };
            self.answer.read(json::read(NAME, line.as_bytes())?, events)?;
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        // The last line may lack its line end; what is cut inside is not worth a word of its own.
        if !self.answer.done
            && let Ok(line) = json::read(NAME, self.lines.rest())
        {
            self.answer.read(line, events)?;
        }
        if self.answer.done { Ok(()) } else { Err(failures::truncated(NAME)) }
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.answer.usage
    }
}

impl Answer {
    fn read(&mut self, mut line: Line, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        if let Some(error) = line.error {
            return Err(errors::in_stream(&error));
        }
        if let Some(message) = line.message.take() {
            events.extend(message.pieces(&mut self.calls).map(event));
        }
        if !line.done {
            return Ok(());
        }
        self.done = true;
        self.usage = line.tokens();
        let (finish_reason, vendor_finish_reason) = line.finish_reason(self.calls > 0);
        events.push(StreamEvent::Done(Completion {
            id: String::new(),
            model: line.model,
            finish_reason,
            vendor_finish_reason,
            usage: self.usage.unwrap_or_default(),
        }));
        Ok(())
    }
}

fn event(piece: Piece) -> StreamEvent {
    match piece {
        Piece::Text(text) => StreamEvent::Text(text),
        Piece::Reasoning(reasoning) => StreamEvent::Reasoning(ReasoningDelta {
            text: reasoning.text,
            vendor: reasoning.vendor,
            ..ReasoningDelta::default()
        }),
        Piece::Call(index, call) => StreamEvent::ToolCall(ToolCallDelta {
            index,
            id: call.id,
            name: call.name,
            arguments: call.arguments,
            signature: None,
        }),
    }
}
