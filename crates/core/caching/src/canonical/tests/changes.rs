//! Every field of a request either changes the bytes or is left out on purpose.

use super::samples::{CONTEXT, full};
use crate::{Canonical, Context};
use bytes::Bytes;
use signalbox_types::{
    CachePolicy, Capability, FallbackPolicy, GenerateRequest, Image, ImageDetail, ImageSource, JsonText,
    Lane, Part, Reasoning, ReasoningEffort, ResponseFormat, Role, Tool, ToolCall, ToolChoice, ToolResult,
};
use std::time::Duration;

type Change = (&'static str, fn(&mut GenerateRequest));

fn part(request: &mut GenerateRequest, message: usize, part: usize) -> &mut Part {
    &mut request.prompt.messages[message].parts[part]
}

fn url(request: &mut GenerateRequest) -> &mut Image {
    let Part::Image(image) = part(request, 0, 1) else { panic!("an image") };
    image
}

fn inline(request: &mut GenerateRequest) -> (&mut String, &mut Bytes) {
    let Part::Image(Image { source: ImageSource::Inline { media_type, data }, .. }) = part(request, 2, 3)
    else {
        panic!("an image")
    };
    (media_type, data)
}

fn reasoning(request: &mut GenerateRequest) -> &mut Reasoning {
    let Part::Reasoning(reasoning) = part(request, 1, 0) else { panic!("reasoning") };
    reasoning
}

fn call(request: &mut GenerateRequest) -> &mut ToolCall {
    let Part::ToolCall(call) = part(request, 1, 1) else { panic!("a call") };
    call
}

fn result(request: &mut GenerateRequest) -> &mut ToolResult {
    let Part::ToolResult(result) = part(request, 2, 0) else { panic!("a result") };
    result
}

fn text(request: &mut GenerateRequest, message: usize, index: usize) -> &mut String {
    let Part::Text { text, .. } = part(request, message, index) else { panic!("a text") };
    text
}

fn tool(request: &mut GenerateRequest) -> &mut Tool {
    &mut request.prompt.tools[0]
}

fn schema(request: &mut GenerateRequest) -> (&mut String, &mut JsonText, &mut bool) {
    let ResponseFormat::JsonSchema { name, schema, strict } = &mut request.prompt.response_format else {
        panic!("a schema")
    };
    (name, schema, strict)
}

fn spaced() -> JsonText {
    JsonText::parse(r#"{ "type":"object"}"#).unwrap()
}

const COUNTED: &[Change] = &[
    ("tenant_id", |r| r.tenant_id.push('x')),
    ("task_type", |r| r.task_type.push('x')),
    ("locale", |r| r.locale = "it".to_owned()),
    ("required_capabilities", |r| {
        r.required_capabilities = r.required_capabilities.with(Capability::Reasoning);
    }),
    ("system", |r| r.prompt.system.push(' ')),
    ("messages: one more", |r| {
        let again = r.prompt.messages[0].clone();
        r.prompt.messages.insert(0, again);
    }),
    ("messages: their order", |r| r.prompt.messages.swap(0, 2)),
    ("role", |r| r.prompt.messages[0].role = Role::Assistant),
    ("parts: their order", |r| r.prompt.messages[2].parts.swap(1, 2)),
    ("text of history", |r| text(r, 0, 0).push('x')),
    ("instruction", |r| text(r, 2, 1).push('x')),
    ("content", |r| text(r, 2, 2).push('x')),
    ("content becomes the instruction", |r| {
        *part(r, 2, 2) = Part::Text {
            text: "A bridge opened.".to_owned(),
            purpose: signalbox_types::Purpose::Instruction,
        };
    }),
    ("image url", |r| url(r).source = ImageSource::Url("https://a.example/c.png".to_owned())),
    ("image detail", |r| url(r).detail = ImageDetail::High),
    ("image media type", |r| *inline(r).0 = "image/webp".to_owned()),
    ("image bytes", |r| *inline(r).1 = Bytes::from_static(b"bytes of another")),
    ("reasoning text", |r| reasoning(r).text.push('x')),
    ("reasoning signature", |r| reasoning(r).signature = None),
    ("reasoning redacted", |r| reasoning(r).redacted = true),
    ("reasoning vendor", |r| reasoning(r).vendor.push('x')),
    ("call id", |r| call(r).id.push('x')),
    ("call name", |r| call(r).name.push('x')),
    ("call arguments", |r| call(r).arguments.push(' ')),
    ("call signature", |r| call(r).signature = None),
    ("result of a call", |r| result(r).tool_call_id.push('x')),
    ("result name", |r| result(r).name.push('x')),
    ("result content", |r| result(r).content.push('x')),
    ("result is an error", |r| result(r).is_error = true),
    ("tools: none", |r| r.prompt.tools.clear()),
    ("tool name", |r| tool(r).name.push('x')),
    ("tool description", |r| tool(r).description.push('x')),
    ("tool parameters", |r| tool(r).parameters = None),
    ("tool parameters, spelled otherwise", |r| tool(r).parameters = Some(spaced())),
    ("tool strict", |r| tool(r).strict = None),
    ("tool strict not", |r| tool(r).strict = Some(false)),
    ("tool choice", |r| r.prompt.tool_choice = ToolChoice::Auto),
    ("tool choice none", |r| r.prompt.tool_choice = ToolChoice::None),
    ("tool choice required", |r| r.prompt.tool_choice = ToolChoice::Required),
    ("tool choice other", |r| r.prompt.tool_choice = ToolChoice::Named("other".to_owned())),
    ("parallel calls", |r| r.prompt.parallel_tool_calls = None),
    ("parallel calls, yes", |r| r.prompt.parallel_tool_calls = Some(true)),
    ("temperature", |r| r.prompt.sampling.temperature = Some(0.200_000_000_000_000_04)),
    ("temperature unset", |r| r.prompt.sampling.temperature = None),
    ("top_p", |r| r.prompt.sampling.top_p = None),
    ("top_k", |r| r.prompt.sampling.top_k = Some(41)),
    ("presence_penalty", |r| r.prompt.sampling.presence_penalty = Some(-0.1)),
    ("frequency_penalty", |r| r.prompt.sampling.frequency_penalty = Some(0.1)),
    ("penalties swapped", |r| {
        r.prompt.sampling.presence_penalty = Some(-0.1);
        r.prompt.sampling.frequency_penalty = Some(0.1);
    }),
    ("seed", |r| r.prompt.sampling.seed = Some(7)),
    ("max_output_tokens", |r| r.prompt.max_output_tokens = Some(501)),
    ("stop", |r| r.prompt.stop = vec!["ENDSTOP".to_owned()]),
    ("stop order", |r| r.prompt.stop.reverse()),
    ("response format", |r| r.prompt.response_format = ResponseFormat::Text),
    ("response format json", |r| r.prompt.response_format = ResponseFormat::JsonObject),
    ("schema name", |r| schema(r).0.push('x')),
    ("schema", |r| *schema(r).1 = spaced()),
    ("schema strict", |r| *schema(r).2 = false),
    ("reasoning_effort", |r| r.prompt.reasoning_effort = Some(ReasoningEffort::High)),
    ("reasoning_effort unset", |r| r.prompt.reasoning_effort = None),
    ("include_reasoning", |r| r.prompt.include_reasoning = false),
];

const IGNORED: &[Change] = &[
    ("request_id", |r| r.request_id.push('x')),
    ("model, which counts as requested", |r| r.model = "smart".parse().unwrap()),
    ("scene", |r| r.scene.push('x')),
    ("reference", |r| r.reference.push('x')),
    ("lane", |r| r.lane = Lane::Batch),
    ("timeout", |r| r.timeout = Some(Duration::from_secs(1))),
    ("cache", |r| r.cache = CachePolicy::Refresh),
    ("fallback", |r| r.fallback = FallbackPolicy::Disabled),
    ("end_user", |r| r.prompt.end_user.push('x')),
    ("metadata", |r| r.prompt.metadata.clear()),
];

fn changed(change: fn(&mut GenerateRequest)) -> GenerateRequest {
    let mut request = full();
    change(&mut request);
    assert_ne!(request, full(), "it changes nothing");
    request
}

#[test]
fn a_change_of_whatever_counts_is_another_request() {
    let whole = |request: &GenerateRequest| Canonical::of(request, &CONTEXT).whole();
    let mut seen = vec![("unchanged", whole(&full()))];
    for (name, change) in COUNTED {
        let bytes = whole(&changed(*change));
        let same = seen.iter().find(|(_, held)| *held == bytes);
        assert!(same.is_none(), "{name} is the same as {:?}", same.map(|held| held.0));
        seen.push((name, bytes));
    }
}

#[test]
fn only_the_instruction_is_outside_of_the_fingerprint() {
    let original = full();
    for (name, change) in COUNTED {
        let request = changed(*change);
        let is_same = Canonical::of(&request, &CONTEXT).rest() == Canonical::of(&original, &CONTEXT).rest();
        assert_eq!(is_same, *name == "instruction", "{name}");
    }
}

#[test]
fn what_is_left_out_by_name_makes_no_difference() {
    let original = full();
    for (name, change) in IGNORED {
        let request = changed(*change);
        assert_eq!(Canonical::of(&request, &CONTEXT), Canonical::of(&original, &CONTEXT), "{name}");
    }
}

#[test]
fn all_of_the_context_counts() {
    let request = full();
    let of = |context| Canonical::of(&request, &context).whole();
    let contexts = [
        CONTEXT,
        Context { requested: "smart", ..CONTEXT },
        Context { prompt_template: "headline@4", ..CONTEXT },
        Context { policy_version: "8", ..CONTEXT },
        Context { requested: "fastheadline@3", prompt_template: "", ..CONTEXT },
    ];
    for (index, one) in contexts.iter().enumerate() {
        for other in &contexts[index + 1..] {
            assert_ne!(of(*one), of(*other), "{one:?} {other:?}");
        }
    }
}
