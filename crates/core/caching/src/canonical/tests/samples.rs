//! Requests to begin with.

use crate::Context;
use bytes::Bytes;
use signalbox_types::{
    Capabilities, Capability, GenerateRequest, Image, ImageDetail, ImageSource, JsonText, Message, Part,
    Prompt, Purpose, Reasoning, ReasoningEffort, ResponseFormat, Role, Sampling, Tool, ToolCall, ToolChoice,
    ToolResult,
};

pub(super) const CONTEXT: Context<'static> =
    Context { requested: "fast", prompt_template: "headline@3", policy_version: "7" };

pub(super) fn user(parts: Vec<Part>) -> Message {
    Message { role: Role::User, parts }
}

pub(super) fn assistant(parts: Vec<Part>) -> Message {
    Message { role: Role::Assistant, parts }
}

pub(super) fn image(data: &'static [u8]) -> Part {
    let source = ImageSource::Inline { media_type: "image/png".to_owned(), data: Bytes::from_static(data) };
    Part::Image(Image { source, detail: ImageDetail::Auto })
}

/// A request of one turn, and nothing else.
pub(super) fn single(text: &str) -> GenerateRequest {
    let mut request = GenerateRequest::default();
    request.prompt.messages = vec![user(vec![Part::text(text)])];
    request
}

fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

fn turns() -> Vec<Message> {
    let call = ToolCall {
        id: "call_0".to_owned(),
        name: "find".to_owned(),
        arguments: r#"{"q":"bridge"}"#.to_owned(),
        signature: Some("sig".to_owned()),
    };
    let result = ToolResult {
        tool_call_id: "call_0".to_owned(),
        name: "find".to_owned(),
        content: "nothing".to_owned(),
        is_error: false,
    };
    let reasoning = Reasoning {
        text: "hm".to_owned(),
        signature: Some("proof".to_owned()),
        redacted: false,
        vendor: "anthropic".to_owned(),
    };
    let url =
        Image { source: ImageSource::Url("https://a.example/b.png".to_owned()), detail: ImageDetail::Low };
    vec![
        user(vec![Part::text("Find it"), Part::Image(url)]),
        assistant(vec![Part::Reasoning(reasoning), Part::ToolCall(call)]),
        user(vec![
            Part::ToolResult(result),
            Part::Text { text: "Write a headline".to_owned(), purpose: Purpose::Instruction },
            Part::Text { text: "A bridge opened.".to_owned(), purpose: Purpose::Content },
            image(b"bytes of an image"),
        ]),
    ]
}

fn prompt() -> Prompt {
    Prompt {
        system: "You are an editor.".to_owned(),
        messages: turns(),
        tools: vec![Tool {
            name: "find".to_owned(),
            description: "Finds".to_owned(),
            parameters: Some(json(r#"{"type":"object"}"#)),
            strict: Some(true),
        }],
        tool_choice: ToolChoice::Named("find".to_owned()),
        parallel_tool_calls: Some(false),
        sampling: Sampling {
            temperature: Some(0.2),
            top_p: Some(0.9),
            top_k: Some(40),
            presence_penalty: Some(0.1),
            frequency_penalty: Some(-0.1),
            seed: Some(-7),
        },
        max_output_tokens: Some(500),
        stop: vec!["END".to_owned(), "STOP".to_owned()],
        response_format: ResponseFormat::JsonSchema {
            name: "headline".to_owned(),
            schema: json(r#"{"type":"object"}"#),
            strict: true,
        },
        reasoning_effort: Some(ReasoningEffort::Low),
        include_reasoning: true,
        end_user: "user-1".to_owned(),
        metadata: [("a".to_owned(), "b".to_owned())].into(),
    }
}

/// A request that says everything that can be said.
pub(super) fn full() -> GenerateRequest {
    GenerateRequest {
        request_id: "request-1".to_owned(),
        prompt: prompt(),
        model: "fast".parse().unwrap(),
        tenant_id: "acme".to_owned(),
        task_type: "headline".to_owned(),
        scene: "cms".to_owned(),
        locale: "it-IT".to_owned(),
        reference: "article-1".to_owned(),
        required_capabilities: Capabilities::NONE.with(Capability::JsonSchema).with(Capability::Tools),
        ..GenerateRequest::default()
    }
}
