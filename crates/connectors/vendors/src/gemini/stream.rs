//! An answer as server-sent events without event names and without an end marker.

use super::NAME;
use super::errors;
use super::response::{self, Chunk, Finish, Piece, UsageMetadata};
use crate::codec::StreamDecoder;
use crate::failures;
use crate::framing::SseFrames;
use crate::json;
use signalbox_types::{Completion, Failure, ReasoningDelta, StreamEvent, TokenUsage, ToolCallDelta};

/// Reads a stream. It is only done when the body ends: usage is revised, and errors come, after the finish reason.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    frames: SseFrames,
    answer: Answer,
}

/// What has been said so far.
#[derive(Debug, Default)]
struct Answer {
    id: String,
    model: String,
    usage: Option<UsageMetadata>,
    finish: Option<Finish>,
    calls: u32,
}

impl StreamDecoder for Decoder {
    fn feed(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        self.frames.push(bytes);
        while let Some(frame) = self.frames.next_frame()? {
            self.answer.read(json::read(NAME, frame.data.as_bytes())?, events)?;
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        // The last event may lack its blank line; what is cut inside is not worth a word of its own.
        self.frames.push(b"\r\n\r\n");
        while let Some(frame) = self.frames.next_frame()? {
            let Ok(chunk) = json::read(NAME, frame.data.as_bytes()) else {
                break;
            };
            self.answer.read(chunk, events)?;
        }
        // An error comes bare, without `data:`, and so does a whole answer that is no event stream.
        for chunk in response::chunks(self.frames.rest()).unwrap_or_default() {
            self.answer.read(chunk, events)?;
        }
        events.push(StreamEvent::Done(self.answer.completion()?));
        Ok(())
    }

    fn usage(&self) -> Option<TokenUsage> {
        self.answer.usage.map(|usage| usage.tokens())
    }
}

impl Answer {
    fn read(&mut self, mut chunk: Chunk, events: &mut Vec<StreamEvent>) -> Result<(), Failure> {
        self.usage = chunk.usage_metadata.or(self.usage);
        if let Some(error) = chunk.error {
            return Err(errors::in_stream(error));
        }
        if let Some(finish) = chunk.take_finish() {
            self.finish = Some(finish);
        }
        for part in chunk.take_parts() {
            events.extend(part.pieces(&mut self.calls).map(event));
        }
        if let Some(id) = chunk.response_id {
            self.id = id;
        }
        if let Some(model) = chunk.model_version {
            self.model = model;
        }
        Ok(())
    }

    fn completion(&mut self) -> Result<Completion, Failure> {
        let finish = self.finish.take().ok_or_else(|| failures::truncated(NAME))?;
        let (finish_reason, vendor_finish_reason) = finish.reason(self.calls > 0);
        Ok(Completion {
            id: std::mem::take(&mut self.id),
            model: std::mem::take(&mut self.model),
            finish_reason,
            vendor_finish_reason,
            usage: self.usage.map(|usage| usage.tokens()).unwrap_or_default(),
        })
    }
}

fn event(piece: Piece) -> StreamEvent {
    match piece {
        Piece::Text(text) => StreamEvent::Text(text),
        Piece::Reasoning(reasoning) => StreamEvent::Reasoning(ReasoningDelta {
            text: reasoning.text,
            signature: reasoning.signature,
            redacted: reasoning.redacted,
            vendor: reasoning.vendor,
        }),
        Piece::Call(index, call) => StreamEvent::ToolCall(ToolCallDelta {
            index,
            id: call.id,
            name: call.name,
            arguments: call.arguments,
            signature: call.signature,
        }),
    }
}
