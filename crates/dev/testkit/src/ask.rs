//! Requests, and answers in one form whether they came whole or as a stream.

use signalbox_api::v1::{
    self, FinishReason, Message, Part, Role, ToolCall, part, router_service_client::RouterServiceClient,
    stream_generate_response::Event,
};
use std::collections::BTreeMap;
use tonic::{
    Status, Streaming,
    client::GrpcService,
    codegen::{Body, Bytes, StdError},
};

/// A connection to a router, with a key or without, to one or to several.
pub trait Way:
    GrpcService<
        tonic::body::Body,
        Error: Into<StdError>,
        ResponseBody: Body<Data = Bytes, Error: Into<StdError> + Send> + Send + 'static,
    >
{
}

impl<T> Way for T
where
    T: GrpcService<tonic::body::Body>,
    T::Error: Into<StdError>,
    T::ResponseBody: Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as Body>::Error: Into<StdError> + Send,
{
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Whole.
    Unary,
    /// As a stream.
    Stream,
}

impl Mode {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Unary, Self::Stream];
}

/// A request of one user turn with one text.
pub fn request(model: &str, text: &str) -> v1::GenerateRequest {
    v1::GenerateRequest {
        model: model.to_owned(),
        messages: vec![user([text_part(text)])],
        ..Default::default()
    }
}

/// A user turn.
pub fn user(content: impl IntoIterator<Item = Part>) -> Message {
    Message { role: Role::User as i32, content: content.into_iter().collect() }
}

/// An assistant turn.
pub fn assistant(content: impl IntoIterator<Item = Part>) -> Message {
    Message { role: Role::Assistant as i32, content: content.into_iter().collect() }
}

/// A text.
pub fn text_part(text: &str) -> Part {
    part(part::Part::Text(text.to_owned()))
}

/// An image by its bytes.
pub fn image_part(data: Vec<u8>, media_type: &str) -> Part {
    let source = Some(v1::image::Source::Data(data.into()));
    part(part::Part::Image(v1::Image { source, media_type: media_type.to_owned(), ..Default::default() }))
}

/// What a call gave.
pub fn result_part(call: &ToolCall, content: &str) -> Part {
    let (tool_call_id, content) = (call.id.clone(), content.to_owned());
    part(part::Part::ToolResult(v1::ToolResult { tool_call_id, content, ..Default::default() }))
}

fn part(part: part::Part) -> Part {
    Part { part: Some(part), ..Default::default() }
}

/// A tool.
pub fn tool(name: &str, schema: &str) -> v1::Tool {
    v1::Tool {
        name: name.to_owned(),
        description: format!("calls {name}"),
        parameters_schema: schema.to_owned(),
        ..Default::default()
    }
}

/// The wish for JSON that matches a schema.
pub fn json_schema(schema: &str) -> v1::ResponseFormat {
    let format = v1::JsonSchemaFormat { schema: schema.to_owned(), strict: true, ..Default::default() };
    v1::ResponseFormat { format: Some(v1::response_format::Format::JsonSchema(format)) }
}

/// A good answer.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Everything, in order.
    pub content: Vec<Part>,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// What the serving call used.
    pub usage: v1::TokenUsage,
    /// What it cost.
    pub cost: v1::Cost,
    /// Who answered, and how it came to that.
    pub route: v1::Route,
}

impl Answer {
    /// The text.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match &part.part {
            Some(part::Part::Text(text)) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The tool calls.
    pub fn tool_calls(&self) -> Vec<ToolCall> {
        let calls = self.content.iter().filter_map(|part| match &part.part {
            Some(part::Part::ToolCall(call)) => Some(call.clone()),
            _ => None,
        });
        calls.collect()
    }

    /// The attempts as `vendor: reason`, or `vendor` alone for the one that served.
    pub fn attempts(&self) -> Vec<String> {
        attempts(&self.route.attempts)
    }
}

/// Attempts as `vendor: reason`, or `vendor` alone for one that served.
pub fn attempts(attempts: &[v1::Attempt]) -> Vec<String> {
    let words = attempts.iter().map(|attempt| match attempt.error_reason.as_str() {
        "" => attempt.vendor.clone(),
        reason => format!("{}: {reason}", attempt.vendor),
    });
    words.collect()
}

/// Asks, and waits for the whole answer.
///
/// # Errors
/// The status that the call or the stream ended with.
pub async fn ask<W: Way>(
    client: &mut RouterServiceClient<W>,
    mode: Mode,
    request: v1::GenerateRequest,
) -> Result<Answer, Status> {
    match mode {
        Mode::Unary => {
            let answer = client.generate(request).await?.into_inner();
            Ok(Answer {
                finish_reason: answer.finish_reason(),
                content: answer.content,
                usage: answer.usage.unwrap_or_default(),
                cost: answer.cost.unwrap_or_default(),
                route: answer.route.unwrap_or_default(),
            })
        }
        Mode::Stream => {
            let streamed = Streamed::read(open(client, request).await?).await;
            match streamed.end {
                Ok(done) => Ok(Answer {
                    finish_reason: done.finish_reason(),
                    content: streamed.content,
                    usage: done.usage.unwrap_or_default(),
                    cost: done.cost.unwrap_or_default(),
                    route: done.route.unwrap_or_default(),
                }),
                Err(status) => Err(status),
            }
        }
    }
}

/// Begins a stream.
///
/// # Errors
/// The status that refused it.
pub async fn open<W: Way>(
    client: &mut RouterServiceClient<W>,
    request: v1::GenerateRequest,
) -> Result<Streaming<v1::StreamGenerateResponse>, Status> {
    let request = v1::StreamGenerateRequest { request: Some(request) };
    client.stream_generate(request).await.map(tonic::Response::into_inner)
}

/// A stream, read to its end.
#[derive(Debug, Clone)]
pub struct Streamed {
    /// What came, put together as a whole answer has it.
    pub content: Vec<Part>,
    /// The event that ended it well, or the status that it broke off with.
    pub end: Result<v1::StreamDone, Status>,
}

impl Streamed {
    /// Reads a stream; panics if it breaks the contract.
    pub async fn read(mut events: Streaming<v1::StreamGenerateResponse>) -> Self {
        let mut parts = Parts::default();
        loop {
            match events.message().await {
                Ok(Some(v1::StreamGenerateResponse { event: Some(Event::Done(done)) })) => {
                    let after = events.message().await;
                    assert!(matches!(after, Ok(None)), "nothing follows `done`, but there was {after:?}");
                    return Self { content: parts.finish(), end: Ok(done) };
                }
                Ok(Some(message)) => parts.add(message.event),
                Ok(None) => panic!("the stream ended with neither `done` nor a status"),
                Err(status) => return Self { content: parts.finish(), end: Err(status) },
            }
        }
    }

    /// The text that came.
    pub fn text(&self) -> String {
        Answer { content: self.content.clone(), ..Default::default() }.text()
    }
}

/// Deltas, put together.
#[derive(Default)]
struct Parts {
    reasoning: Option<v1::Reasoning>,
    whole: Vec<Part>,
    text: String,
    calls: BTreeMap<u32, ToolCall>,
}

impl Parts {
    fn add(&mut self, event: Option<Event>) {
        match event {
            Some(Event::TextDelta(delta)) => {
                assert!(!delta.text.is_empty(), "a text delta is never empty");
                self.text.push_str(&delta.text);
            }
            Some(Event::ReasoningDelta(delta)) => self.add_reasoning(delta),
            Some(Event::ToolCallDelta(delta)) => {
                let next = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
                assert!(delta.index <= next, "indexes are dense, but {} follows {next} calls", delta.index);
                let call = self.calls.entry(delta.index).or_default();
                call.id.push_str(&delta.id);
                call.name.push_str(&delta.name);
                call.arguments.push_str(&delta.arguments);
                call.signature.push_str(&delta.signature);
            }
            Some(Event::Done(_)) | None => {}
        }
    }

    /// A signature ends a block.
    fn add_reasoning(&mut self, delta: v1::ReasoningDelta) {
        let block = self.reasoning.get_or_insert_default();
        block.text.push_str(&delta.text);
        block.vendor = delta.vendor;
        block.redacted |= delta.redacted;
        if !delta.signature.is_empty() {
            block.signature = delta.signature;
            self.end_reasoning();
        }
    }

    fn end_reasoning(&mut self) {
        self.whole.extend(self.reasoning.take().map(|block| part(part::Part::Reasoning(block))));
    }

    fn finish(mut self) -> Vec<Part> {
        self.end_reasoning();
        self.whole.extend((!self.text.is_empty()).then(|| text_part(&self.text)));
        self.whole.extend(self.calls.into_values().map(|call| part(part::Part::ToolCall(call))));
        self.whole
    }
}
