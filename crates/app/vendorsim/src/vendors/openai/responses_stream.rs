//! A streamed answer of the responses API.

use super::responses::Response;
use crate::answer::Finish;
use crate::reply::{Frame, Reply, sse_event};
use crate::tokens;
use bytes::Bytes;
use serde_json::{Value, json};

/// The response.
pub(crate) fn render(response: &Response<'_>) -> Reply {
    let mut writer = Writer { response, frames: Vec::with_capacity(64), output_index: 0 };
    writer.plain("response.created", json!({"response": response.started()}));
    writer.plain("response.in_progress", json!({"response": response.started()}));
    if response.has_reasoning() {
        writer.write_reasoning();
    }
    writer.write_calls();
    if response.has_message() {
        writer.write_message();
    }
    if !response.call.quirks.no_finish {
        let cut = response.answer.finish == Finish::Length;
        let name = if cut { "response.incomplete" } else { "response.completed" };
        writer.plain(name, json!({"response": response.finished()}));
    }
    Reply::stream("text/event-stream; charset=utf-8", writer.frames, in_stream)
}

/// The error within a stream; its number follows from the events before it.
fn in_stream(events: usize) -> Bytes {
    let message = "Our servers are currently overloaded.";
    let data = json!({
        "type": "error", "sequence_number": events, "code": "server_is_overloaded", "message": message, "param": null,
    });
    sse_event("error", &data).into()
}

struct Writer<'a> {
    response: &'a Response<'a>,
    frames: Vec<Frame>,
    output_index: usize,
}

impl Writer<'_> {
    fn write_reasoning(&mut self) {
        let response = self.response;
        let id = response.item_id("rs_", 0);
        self.item("response.output_item.added", response.reasoning_item(false));
        if let Some(summary) = response.summary() {
            let part = |text: &str| json!({"type": "summary_text", "text": text});
            let at = json!({"item_id": id, "summary_index": 0});
            self.placed("response.reasoning_summary_part.added", &at, json!({"part": part("")}));
            for piece in tokens::pieces(summary) {
                self.placed("response.reasoning_summary_text.delta", &at, json!({"delta": piece}));
            }
            self.placed("response.reasoning_summary_text.done", &at, json!({"text": summary}));
            self.placed("response.reasoning_summary_part.done", &at, json!({"part": part(summary)}));
        }
        self.item("response.output_item.done", response.reasoning_item(true));
        self.output_index += 1;
    }

    fn write_calls(&mut self) {
        let response = self.response;
        for (n, made) in response.answer.calls.iter().enumerate() {
            let at = json!({"item_id": response.item_id("fc_", n)});
            self.item("response.output_item.added", response.call_item(n, made, false));
            for piece in tokens::pieces(&made.arguments_text) {
                self.token(
                    "response.function_call_arguments.delta",
                    &at,
                    json!({"delta": piece, "obfuscation": "u8"}),
                );
            }
            let whole = json!({"arguments": made.arguments_text, "name": made.name});
            self.placed("response.function_call_arguments.done", &at, whole);
            self.item("response.output_item.done", response.call_item(n, made, true));
            self.output_index += 1;
        }
    }

    fn write_message(&mut self) {
        let response = self.response;
        let text = response.answer.text.as_str();
        let at = json!({"item_id": response.item_id("msg_", 0), "content_index": 0});
        self.item("response.output_item.added", response.message_item(false));
        self.placed("response.content_part.added", &at, json!({"part": response.text_part("")}));
        for piece in tokens::pieces(text) {
            let data = json!({"delta": piece, "logprobs": [], "obfuscation": "pp"});
            self.token("response.output_text.delta", &at, data);
        }
        self.placed("response.output_text.done", &at, json!({"text": text, "logprobs": []}));
        self.placed("response.content_part.done", &at, json!({"part": response.text_part(text)}));
        self.item("response.output_item.done", response.message_item(true));
        self.output_index += 1;
    }

    fn item(&mut self, name: &str, item: Value) {
        self.plain(name, json!({"output_index": self.output_index, "item": item}));
    }

    fn placed(&mut self, name: &str, at: &Value, data: Value) {
        let data = self.at(at, data);
        self.plain(name, data);
    }

    fn token(&mut self, name: &str, at: &Value, data: Value) {
        let data = self.at(at, data);
        let bytes = self.event(name, data);
        self.frames.push(Frame::token(bytes));
    }

    fn plain(&mut self, name: &str, data: Value) {
        let bytes = self.event(name, data);
        self.frames.push(Frame::plain(bytes));
    }

    fn at(&self, at: &Value, mut data: Value) -> Value {
        data["output_index"] = self.output_index.into();
        if let (Value::Object(data), Value::Object(at)) = (&mut data, at) {
            data.extend(at.clone());
        }
        data
    }

    fn event(&self, name: &str, mut data: Value) -> Vec<u8> {
        data["type"] = name.into();
        data["sequence_number"] = self.frames.len().into();
        sse_event(name, &data)
    }
}
