//! A streamed message.

use super::{errors, render};
use crate::answer::Answer;
use crate::call::Call;
use crate::reply::{Frame, Reply};
use crate::tokens;
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

/// The response.
pub(crate) fn render(call: &Call<'_>, answer: &Answer) -> Reply {
    let mut writer = Writer { frames: Vec::with_capacity(64), index: 0 };
    writer.write_start(call, answer);
    if !answer.reasoning.is_empty() {
        writer.write_thinking(render::shown_thinking(call, answer), &render::sign(answer));
    }
    if !answer.text.is_empty() {
        writer.write_text(&answer.text);
    }
    for (n, made) in answer.calls.iter().enumerate() {
        let head =
            json!({"type": "tool_use", "id": call.seed.id("toolu_", n), "name": made.name, "input": {}});
        writer.write_tool_use(head, &made.arguments_text);
    }
    writer.write_end(call, answer);
    Reply::stream("text/event-stream; charset=utf-8", writer.frames, in_stream)
}

fn in_stream(n: usize) -> Bytes {
    padded("error", &errors::error("overloaded_error", "Overloaded", "req_011Ssimulated"), n).into()
}

/// An event as the vendor pads it: with blanks before the brace that closes its JSON.
fn padded(name: &str, data: &impl Serialize, n: usize) -> Vec<u8> {
    let mut bytes = format!("event: {name}\ndata: ").into_bytes();
    // Writing JSON to memory fails only for maps with odd keys, and none are sent here.
    let _ = serde_json::to_writer(&mut bytes, data);
    bytes.pop();
    bytes.extend(std::iter::repeat_n(b' ', n * 7 % 13));
    bytes.extend_from_slice(b"}\n\n");
    bytes
}

#[derive(Serialize)]
struct BlockDelta<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    index: usize,
    delta: Delta<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum Delta<'a> {
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: &'a str },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'a str },
}

struct Writer {
    frames: Vec<Frame>,
    /// Of the block under way.
    index: usize,
}

impl Writer {
    fn write_start(&mut self, call: &Call<'_>, answer: &Answer) {
        let mut message = render::message(call, Vec::new());
        if !call.quirks.no_usage {
            message["usage"] = render::first_usage(call, answer.usage);
        }
        self.plain("message_start", &json!({"type": "message_start", "message": message}));
    }

    fn write_thinking(&mut self, thinking: &str, signature: &str) {
        self.open(&json!({"type": "thinking", "thinking": "", "signature": ""}));
        for piece in tokens::pieces(thinking) {
            self.delta(Delta::Thinking { thinking: piece }, false);
        }
        self.delta(Delta::Signature { signature }, false);
        self.close();
    }

    fn write_text(&mut self, text: &str) {
        self.open(&json!({"type": "text", "text": ""}));
        for piece in tokens::pieces(text) {
            self.delta(Delta::Text { text: piece }, true);
        }
        self.close();
    }

    fn write_tool_use(&mut self, head: Value, arguments: &str) {
        self.open(&head);
        self.delta(Delta::InputJson { partial_json: "" }, false);
        // No arguments are no more than the empty piece.
        let arguments = if arguments == "{}" { "" } else { arguments };
        for piece in tokens::pieces(arguments) {
            self.delta(Delta::InputJson { partial_json: piece }, true);
        }
        self.close();
    }

    fn write_end(&mut self, call: &Call<'_>, answer: &Answer) {
        let (reason, sequence) = render::stop(answer);
        let delta = json!({"stop_reason": call.quirks.finish(reason), "stop_sequence": sequence, "stop_details": null});
        let mut data = json!({"type": "message_delta", "delta": delta});
        let first = render::first_usage(call, answer.usage);
        let mut usage = json!({"output_tokens": answer.usage.visible + answer.usage.reasoning});
        for name in ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"] {
            usage[name] = first[name].clone();
        }
        if answer.usage.reasoning > 0 {
            usage["output_tokens_details"] = json!({"thinking_tokens": answer.usage.reasoning});
        }
        if !call.quirks.no_usage {
            data["usage"] = usage;
        }
        self.plain("message_delta", &data);
        self.plain("message_stop", &json!({"type": "message_stop"}));
    }

    fn open(&mut self, block: &Value) {
        let data = json!({"type": "content_block_start", "index": self.index, "content_block": block});
        self.plain("content_block_start", &data);
        self.frames.push(Frame::plain("event: ping\ndata: {\"type\": \"ping\"}\n\n"));
    }

    fn close(&mut self) {
        self.plain("content_block_stop", &json!({"type": "content_block_stop", "index": self.index}));
        self.index += 1;
    }

    fn delta(&mut self, delta: Delta<'_>, token: bool) {
        let data = BlockDelta { kind: "content_block_delta", index: self.index, delta };
        let bytes = padded("content_block_delta", &data, self.frames.len());
        self.frames.push(if token { Frame::token(bytes) } else { Frame::plain(bytes) });
    }

    fn plain(&mut self, name: &str, data: &Value) {
        let bytes = padded(name, data, self.frames.len());
        self.frames.push(Frame::plain(bytes));
    }
}
