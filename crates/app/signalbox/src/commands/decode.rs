//! `signalbox decode`: reads what a vendor sent exactly as the adapter would, and shows what came of it.

mod captured;

use super::{CommandError, failures, print, read_input};
use captured::{Captured, Kept};
use serde_json::json;
use signalbox_api::{convert, json as proto_json, v1};
use signalbox_kit::{Clock, SystemClock};
use signalbox_types::{Failure, ModelAnswer, StreamEvent, TokenUsage, UsageSource, VendorKind};
use signalbox_vendors::{Codec, ResponseHead, codec_for};
use std::time::SystemTime;
use v1::stream_generate_response::Event;

const HELP: &str = "\
A file of the form {\"status\": N, \"headers\": {..}, \"body\": ..} (or \"body_text\": \"..\") is read as a response
with that status and those headers, which may be left out. What the vendor said is shown, errors too; the command itself fails only where
there is nothing to read.";

/// What to read, and as what.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct DecodeArgs {
    /// Wire format: openai, anthropic, gemini, xai, ollama or openai-compatible
    #[arg(value_parser = vendor_kind)]
    vendor: VendorKind,
    /// File with the body as the vendor sent it; `-` for standard input
    file: String,
    /// The body is a stream, as assumed of files that end in `.sse` or `.ndjson`
    #[arg(long, conflicts_with = "status")]
    stream: bool,
    /// HTTP status that the body came with
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(100..=599))]
    status: Option<u16>,
    /// Tool by whose arguments the JSON answer was asked for, as told by `signalbox encode`
    #[arg(long, value_name = "NAME")]
    json_tool: Option<String>,
}

/// Reads the file and prints what was understood.
pub(crate) fn run(args: DecodeArgs) -> Result<(), CommandError> {
    let captured = captured::read(&args, read_input(&args.file)?)?;
    print(&decoded(args.vendor, &captured, args.json_tool.as_deref(), SystemClock.now())?)
}

fn vendor_kind(name: &str) -> Result<VendorKind, String> {
    let known = VendorKind::ALL.into_iter().find(|kind| kind.name() == name);
    known.ok_or_else(|| format!("there are {}", VendorKind::ALL.map(VendorKind::name).join(", ")))
}

/// What the adapter makes of a captured response.
fn decoded(
    kind: VendorKind,
    captured: &Captured,
    json_tool: Option<&str>,
    now: SystemTime,
) -> Result<String, CommandError> {
    let codec = codec_for(kind);
    let body = captured.body.as_slice();
    match &captured.kept {
        Kept::Answer => match codec.decode(body, json_tool) {
            Ok(answer) => Ok(proto_json::to_json(&whole(answer))?),
            Err(failure) => Ok(format!("{:#}", error(&failure))),
        },
        Kept::Stream => streamed(codec, body, json_tool),
        Kept::Failure { status, headers } => {
            let head = ResponseHead { status: *status, headers, now };
            Ok(format!("{:#}", error(&codec.decode_failure(head, body))))
        }
    }
}

fn error(failure: &Failure) -> serde_json::Value {
    json!({ "error": failures::to_json(failure) })
}

fn whole(answer: ModelAnswer) -> v1::GenerateResponse {
    v1::GenerateResponse {
        content: answer.parts.into_iter().map(convert::part_to_proto).collect(),
        finish_reason: convert::finish_reason_to_proto(answer.finish_reason) as i32,
        vendor_finish_reason: answer.vendor_finish_reason,
        usage: usage(&answer.usage),
        ..v1::GenerateResponse::default()
    }
}

/// A line for each event; the last is `done`, or the error with what the vendor had counted until then.
fn streamed(codec: &dyn Codec, body: &[u8], json_tool: Option<&str>) -> Result<String, CommandError> {
    let mut decoder = codec.stream_decoder(json_tool);
    let mut events = Vec::new();
    let outcome = decoder.feed(body, &mut events).and_then(|()| match events.last() {
        Some(StreamEvent::Done(_)) => Ok(()),
        _ => decoder.finish(&mut events),
    });
    let mut lines = Vec::with_capacity(events.len() + 1);
    for event in events {
        let response = v1::StreamGenerateResponse { event: Some(told(event)) };
        lines.push(proto_json::to_json_line(&response)?);
    }
    if let Err(failure) = outcome {
        let mut line = error(&failure);
        if let Some(usage) = decoder.usage().as_ref().and_then(usage) {
            let usage = proto_json::to_json_line(&usage)?;
            line["usage"] = serde_json::from_str(&usage).unwrap_or_default();
        }
        lines.push(line.to_string());
    }
    Ok(lines.join("\n"))
}

fn told(event: StreamEvent) -> Event {
    match event {
        StreamEvent::Text(text) => Event::TextDelta(v1::TextDelta { text }),
        StreamEvent::ToolCall(delta) => Event::ToolCallDelta(convert::tool_call_delta_to_proto(delta)),
        StreamEvent::Reasoning(delta) => Event::ReasoningDelta(convert::reasoning_delta_to_proto(delta)),
        StreamEvent::Done(completion) => Event::Done(v1::StreamDone {
            finish_reason: convert::finish_reason_to_proto(completion.finish_reason) as i32,
            vendor_finish_reason: completion.vendor_finish_reason,
            usage: usage(&completion.usage),
            ..v1::StreamDone::default()
        }),
    }
}

/// Counts that the vendor gave; the adapter would estimate where it gave none.
fn usage(usage: &TokenUsage) -> Option<v1::TokenUsage> {
    (usage.source != UsageSource::Unknown).then(|| convert::usage_to_proto(usage))
}

#[cfg(test)]
mod tests;
