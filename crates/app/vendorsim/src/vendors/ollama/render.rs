//! A chat answer, whole or line by line.

use crate::answer::{Answer, Finish};
use crate::call::Call;
use crate::reply::{Frame, Reply};
use crate::tokens;
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

/// The answer in one object.
pub(crate) fn whole(call: &Call<'_>, answer: &Answer) -> Reply {
    let mut body = last(call, answer, 1);
    body["message"] = message(&answer.text, &answer.reasoning, tool_calls(call, answer));
    Reply::json(200, &body)
}

/// The answer in lines.
pub(crate) fn stream(call: &Call<'_>, answer: &Answer) -> Reply {
    let mut frames = Vec::with_capacity(64);
    for piece in tokens::pieces(&answer.reasoning) {
        let message = Message { thinking: Some(piece), ..Message::default() };
        frames.push(Frame::plain(line(call, message, frames.len())));
    }
    for piece in tokens::pieces(&answer.text) {
        let message = Message { content: piece, ..Message::default() };
        frames.push(Frame::token(line(call, message, frames.len())));
    }
    for made in tool_calls(call, answer) {
        let message = Message { tool_calls: Some([made]), ..Message::default() };
        frames.push(Frame::token(line(call, message, frames.len())));
    }
    frames.push(Frame::plain(newline(&last(call, answer, frames.len()))));
    Reply::stream("application/x-ndjson", frames, in_stream)
}

/// The answer to no messages: the model was loaded or unloaded.
pub(crate) fn load(call: &Call<'_>, reason: &str) -> Reply {
    let message = json!({"role": "assistant", "content": ""});
    let body = json!({"model": call.model, "created_at": created_at(0), "message": message, "done": true, "done_reason": reason});
    Reply::whole(200, "application/json; charset=utf-8", newline(&body))
}

fn in_stream(_: usize) -> Bytes {
    newline(&json!({"error": "an error was encountered while running the model"})).into()
}

#[derive(Serialize)]
struct Line<'a> {
    model: &'a str,
    created_at: String,
    message: Message<'a>,
    done: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[Value; 1]>,
}

impl Default for Message<'_> {
    fn default() -> Self {
        Self { role: "assistant", content: "", thinking: None, tool_calls: None }
    }
}

fn line(call: &Call<'_>, message: Message<'_>, n: usize) -> Vec<u8> {
    newline(&Line { model: &call.model, created_at: created_at(n), message, done: false })
}

fn newline(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn created_at(n: usize) -> String {
    format!("2026-11-29T08:00:{:02}.{:03}456789Z", n / 1000 % 60, n % 1000)
}

fn message(content: &str, thinking: &str, calls: Vec<Value>) -> Value {
    let mut message = json!({"role": "assistant", "content": content});
    if !thinking.is_empty() {
        message["thinking"] = thinking.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn tool_calls(call: &Call<'_>, answer: &Answer) -> Vec<Value> {
    let made = answer.calls.iter().enumerate();
    made.map(|(n, made)| {
        let index = if call.quirks.dup_index { 0 } else { n };
        let mut entry = json!({"function": {"index": index, "name": made.name, "arguments": made.arguments}});
        if !call.quirks.no_ids {
            entry["id"] = call.seed.id("call_", n).into();
        }
        entry
    })
    .collect()
}

/// The object that ends an answer. Tool calls end with `stop`, too, and a count of 0 is left out.
fn last(call: &Call<'_>, answer: &Answer, n: usize) -> Value {
    let reason = if answer.finish == Finish::Length { "length" } else { "stop" };
    let mut body = json!({
        "model": call.model, "created_at": created_at(n), "message": message("", "", Vec::new()), "done": true,
        "total_duration": 4_883_583_458_u64, "load_duration": 1_334_875,
        "prompt_eval_duration": 342_546_000, "eval_duration": 4_535_599_000_u64,
    });
    if let Some(reason) = call.quirks.finish(reason) {
        body["done_reason"] = reason.into();
    }
    let usage = answer.usage;
    if !call.quirks.no_usage {
        for (name, count) in
            [("prompt_eval_count", usage.prompt), ("eval_count", usage.visible + usage.reasoning)]
        {
            if count > 0 {
                body[name] = count.into();
            }
        }
    }
    body
}
