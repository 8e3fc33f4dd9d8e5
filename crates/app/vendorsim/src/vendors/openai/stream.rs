//! A streamed chat completion.

use super::chat::{self, CREATED};
use super::{Dialect, errors, usage};
use crate::answer::Answer;
use crate::call::Call;
use crate::reply::{Frame, Reply, sse_data};
use crate::tokens;
use crate::vendors::xai;
use serde::Serialize;
use serde_json::Value;

/// Random padding, as far as the simulator knows chance.
const PADDING: &str = "kQ3vT8mZ2xR7";

/// The response.
pub(crate) fn render(call: &Call<'_>, dialect: Dialect, answer: &Answer) -> Reply {
    let mut writer = Writer::new(call, dialect);
    writer.write_head(answer);
    writer.write_reasoning(answer);
    for piece in tokens::pieces(&answer.text) {
        writer.token(Delta { role: writer.every_role(), content: Some(Some(piece)), ..Delta::default() });
    }
    match dialect {
        Dialect::Xai => writer.write_calls_whole(answer),
        _ if call.quirks.dup_index => writer.write_calls_whole(answer),
        _ => writer.write_calls_interleaved(answer),
    }
    writer.write_tail(answer);
    let error = if dialect == Dialect::Xai { xai::in_stream } else { errors::in_stream };
    Reply::stream("text/event-stream; charset=utf-8", writer.frames, error)
}

#[derive(Serialize)]
struct Chunk<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'static str>,
    system_fingerprint: &'static str,
    choices: &'a [ChunkChoice<'a>],
    /// `Some(None)` is written as null.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Option<&'a Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    obfuscation: Option<&'static str>,
}

#[derive(Serialize)]
struct ChunkChoice<'a> {
    index: u32,
    delta: Delta<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<Option<()>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<Option<&'a str>>,
}

#[derive(Serialize, Default)]
struct Delta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Option<()>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[CallPiece<'a>; 1]>,
}

#[derive(Serialize, Clone, Copy)]
struct CallPiece<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    function: FunctionPiece<'a>,
}

#[derive(Serialize, Clone, Copy)]
struct FunctionPiece<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

struct Writer<'a> {
    call: &'a Call<'a>,
    dialect: Dialect,
    id: String,
    with_usage: bool,
    obfuscates: bool,
    frames: Vec<Frame>,
}

impl<'a> Writer<'a> {
    fn new(call: &'a Call<'a>, dialect: Dialect) -> Self {
        let option = |name: &str| {
            let options = call.json().ok().and_then(|body| body.get("stream_options"));
            options.and_then(|options| options.get(name)).and_then(Value::as_bool)
        };
        Self {
            call,
            dialect,
            id: chat::id(call, dialect),
            // xAI counts without being asked.
            with_usage: option("include_usage").unwrap_or(dialect == Dialect::Xai),
            obfuscates: dialect == Dialect::Openai && option("include_obfuscation").unwrap_or(true),
            frames: Vec::with_capacity(64),
        }
    }

    fn xai(&self) -> bool {
        self.dialect == Dialect::Xai
    }

    /// xAI repeats the role in every delta.
    fn every_role(&self) -> Option<&'static str> {
        self.xai().then_some("assistant")
    }

    fn write_head(&mut self, answer: &Answer) {
        if self.xai() {
            return;
        }
        let content = if answer.calls.is_empty() { Some("") } else { None };
        let refusal = (self.dialect == Dialect::Openai && content.is_some()).then_some(None);
        self.plain(Delta { role: Some("assistant"), content: Some(content), refusal, ..Delta::default() });
    }

    /// OpenAI keeps its reasoning to itself.
    fn write_reasoning(&mut self, answer: &Answer) {
        if self.dialect == Dialect::Openai {
            return;
        }
        for piece in tokens::pieces(&answer.reasoning) {
            self.plain(Delta { role: self.every_role(), reasoning_content: Some(piece), ..Delta::default() });
        }
    }

    fn write_calls_whole(&mut self, answer: &Answer) {
        for (n, made) in answer.calls.iter().enumerate() {
            let id = chat::call_id(self.call, n);
            let piece = CallPiece {
                index: if self.call.quirks.dup_index { 0 } else { n },
                id: id.as_deref(),
                kind: Some("function"),
                function: FunctionPiece { name: Some(&made.name), arguments: &made.arguments_text },
            };
            self.token(Delta { role: self.every_role(), tool_calls: Some([piece]), ..Delta::default() });
        }
    }

    /// The heads of all calls, then a piece of each in turn.
    fn write_calls_interleaved(&mut self, answer: &Answer) {
        for (n, made) in answer.calls.iter().enumerate() {
            let id = chat::call_id(self.call, n);
            let function = FunctionPiece { name: Some(&made.name), arguments: "" };
            let piece = CallPiece { index: n, id: id.as_deref(), kind: Some("function"), function };
            self.plain(Delta { tool_calls: Some([piece]), ..Delta::default() });
        }
        let mut rests: Vec<_> = answer
            .calls
            .iter()
            .enumerate()
            .map(|(n, made)| (n, tokens::pieces(&made.arguments_text)))
            .collect();
        while !rests.is_empty() {
            rests.retain_mut(|(n, rest)| {
                let Some(arguments) = rest.next() else { return false };
                let function = FunctionPiece { name: None, arguments };
                let piece = CallPiece { index: *n, id: None, kind: None, function };
                self.token(Delta { tool_calls: Some([piece]), ..Delta::default() });
                true
            });
        }
    }

    fn write_tail(&mut self, answer: &Answer) {
        if let Some(finish) = self.call.quirks.finish(chat::finish_reason(self.call, answer)) {
            let delta = Delta {
                role: self.every_role(),
                content: self.xai().then_some(Some("")),
                ..Delta::default()
            };
            let bytes = self.chunk(&[self.choice(delta, Some(finish))], None);
            self.frames.push(Frame::plain(bytes));
        }
        if self.with_usage && !self.call.quirks.no_usage {
            let usage = usage::chat(answer.usage, &self.call.model, self.dialect);
            let bytes = self.chunk(&[], Some(&usage));
            self.frames.push(Frame::plain(bytes));
        }
        self.frames.push(Frame::plain("data: [DONE]\n\n"));
    }

    fn plain(&mut self, delta: Delta<'_>) {
        let bytes = self.chunk(&[self.choice(delta, None)], None);
        self.frames.push(Frame::plain(bytes));
    }

    fn token(&mut self, delta: Delta<'_>) {
        let bytes = self.chunk(&[self.choice(delta, None)], None);
        self.frames.push(Frame::token(bytes));
    }

    fn choice<'d>(&self, delta: Delta<'d>, finish: Option<&'d str>) -> ChunkChoice<'d> {
        // Where nothing is to be said, OpenAI says null and xAI says nothing.
        let (logprobs, silent) = if self.xai() { (None, None) } else { (Some(None), Some(None)) };
        ChunkChoice { index: 0, delta, logprobs, finish_reason: finish.map(Some).or(silent) }
    }

    fn chunk(&self, choices: &[ChunkChoice<'_>], usage: Option<&Value>) -> Vec<u8> {
        let silent = (self.with_usage && !self.xai()).then_some(None);
        sse_data(&Chunk {
            id: &self.id,
            object: "chat.completion.chunk",
            created: CREATED,
            model: &self.call.model,
            service_tier: (self.dialect == Dialect::Openai).then_some("default"),
            system_fingerprint: chat::fingerprint(self.dialect),
            choices,
            usage: usage.map(Some).or(silent),
            obfuscation: self.obfuscates.then(|| &PADDING[..self.frames.len() % PADDING.len()]),
        })
    }
}
