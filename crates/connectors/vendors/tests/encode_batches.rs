//! What is handed to the vendors' batch endpoints is what their documentation shows, and holds what a call made alone
//! would.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

mod support;

use serde_json::{Value, json};
use signalbox_kit::{
    FixedClock,
    config::{ConfigHandle, Environment},
};
use signalbox_ports::vendor_batch::ItemOutcome;
use signalbox_pricing::Day;
use signalbox_types::{
    Capabilities, Capability, Lane, Message, ModelFacts, OpenAiEndpoint, Part, Prompt, Role, TokenUsage,
    Tool, UsageSource, VendorKind,
};
use signalbox_vendors::{BatchCodec, EncodeContext, EncodedCall, JsonTools, NewBatch, codec_for};
use std::{collections::BTreeSet, sync::Arc};
use support::{Fixture, fixtures, now};

fn fixture(vendor: VendorKind, name: &str) -> Fixture {
    fixtures(vendor).into_iter().find(|fixture| fixture.name == name).unwrap()
}

fn batches(vendor: VendorKind) -> &'static dyn BatchCodec {
    codec_for(vendor).batches().unwrap()
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn call(path: &str, body: &Value) -> EncodedCall {
    EncodedCall { path: path.to_owned(), body: body.to_string().into_bytes(), ..EncodedCall::default() }
}

/// The body of the call that makes a batch of these items.
fn whole(vendor: VendorKind, new: NewBatch<'_>, items: &[Vec<u8>]) -> (String, Value) {
    let create = batches(vendor).create(new).unwrap();
    let body = [create.call.body, items.join(&b','), create.after.as_bytes().to_vec()].concat();
    (create.call.path, serde_json::from_slice(&body).unwrap())
}

const NEW: NewBatch<'static> =
    NewBatch { key: "acme-1", model: "gemini-2.5-flash", path: "/v1/chat/completions", file: "file-in1" };

#[test]
fn lines_of_a_file_are_as_openai_and_xai_show_them() {
    for (vendor, name) in
        [(VendorKind::Openai, "batch_input.ndjson"), (VendorKind::Xai, "batch_input_file.ndjson")]
    {
        for shown in lines(&fixture(vendor, name).bytes) {
            let call = call(shown["url"].as_str().unwrap(), &shown["body"]);
            let line = batches(vendor).item(shown["custom_id"].as_str().unwrap(), &call).unwrap();
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(lines(&line), [shown]);
        }
    }
}

#[test]
fn a_batch_of_a_file_carries_the_key_by_which_it_is_found() {
    let (path, body) = whole(VendorKind::Openai, NEW, &[]);
    let mut shown: Value =
        serde_json::from_slice(&fixture(VendorKind::Openai, "batch_create_request.json").bytes).unwrap();
    shown["metadata"] = json!({ "signalbox_batch_key": "acme-1" });
    assert_eq!((path.as_str(), &body), ("/v1/batches", &shown));

    let (_, compatible) = whole(VendorKind::OpenaiCompatible, NEW, &[]);
    shown.as_object_mut().unwrap().remove("output_expires_after");
    assert_eq!(compatible, shown, "nothing that only OpenAI takes");

    let (path, body) = whole(VendorKind::Xai, NewBatch { file: "file_in1", ..NEW }, &[]);
    let shown: Value =
        serde_json::from_slice(&fixture(VendorKind::Xai, "batch_create_request.json").bytes).unwrap();
    assert_eq!((path.as_str(), body), ("/v1/batches", shown));
}

#[test]
fn all_requests_of_a_message_batch_stand_in_one_call() {
    let shown: Value =
        serde_json::from_slice(&fixture(VendorKind::Anthropic, "batch_create_request.json").bytes).unwrap();
    let items = shown["requests"].as_array().unwrap().iter().map(|item| {
        let call = call("/v1/messages", &item["params"]);
        batches(VendorKind::Anthropic).item(item["custom_id"].as_str().unwrap(), &call).unwrap()
    });
    let items: Vec<Vec<u8>> = items.collect();
    let (path, body) = whole(VendorKind::Anthropic, NEW, &items);
    assert_eq!((path.as_str(), body), ("/v1/messages/batches", shown));
}

#[test]
fn all_requests_of_a_gemini_batch_stand_in_one_call() {
    let mut shown: Value =
        serde_json::from_slice(&fixture(VendorKind::Gemini, "batch_create_inline_request.json").bytes)
            .unwrap();
    let url = shown.as_object_mut().unwrap().remove("_url").unwrap();
    shown["batch"].as_object_mut().unwrap().remove("priority");
    let items =
        shown["batch"]["inputConfig"]["requests"]["requests"].as_array().unwrap().iter().map(|item| {
            let call = call("/v1beta/models/gemini-2.5-flash:generateContent", &item["request"]);
            batches(VendorKind::Gemini).item(item["metadata"]["key"].as_str().unwrap(), &call).unwrap()
        });
    let items: Vec<Vec<u8>> = items.collect();
    let (path, body) = whole(VendorKind::Gemini, NEW, &items);
    assert_eq!((format!("POST {path}"), body), (url.as_str().unwrap().to_owned(), shown));
}

fn prompt(tools: Vec<Tool>) -> Prompt {
    let messages = vec![Message { role: Role::User, parts: vec![Part::text("hello")] }];
    Prompt { messages, tools, ..Prompt::default() }
}

#[test]
fn items_with_tools_and_without_go_to_one_endpoint_at_openai() {
    let mut facts = ModelFacts { capabilities: Capabilities::NONE, ..ModelFacts::default() };
    facts.parameters.openai_endpoint = OpenAiEndpoint::ResponsesForTools;
    let facts = batches(VendorKind::Openai).facts(&facts);
    let context = EncodeContext { model: "gpt-5.6", facts: &facts, stream: false };
    let tool = Tool { name: "look".to_owned(), description: String::new(), parameters: None, strict: None };
    let paths = [prompt(vec![tool]), prompt(Vec::new())]
        .map(|prompt| codec_for(VendorKind::Openai).encode(context, &prompt).unwrap().path);
    assert_eq!(paths, ["/v1/responses", "/v1/responses"]);
}

#[test]
fn one_version_holds_for_all_requests_of_a_message_batch() {
    assert_eq!(
        batches(VendorKind::Anthropic).headers(),
        [("anthropic-version", "2023-06-01".to_owned())],
        "the one in which sampling parameters are still taken"
    );
}

#[test]
fn vectors_are_handed_over_only_where_they_are_taken() {
    let taken = |vendor: VendorKind| codec_for(vendor).batches().is_some_and(BatchCodec::embeds);
    let kinds = VendorKind::ALL.into_iter().filter(|kind| taken(*kind)).collect::<Vec<_>>();
    assert_eq!(kinds, [VendorKind::Openai, VendorKind::OpenaiCompatible]);
    assert!(codec_for(VendorKind::Ollama).batches().is_none());
}

#[test]
fn models_that_the_catalogue_says_take_batches_can_be_handed_them_and_are_cheaper() {
    let clock = Arc::new(FixedClock(now()));
    let config = ConfigHandle::start(None, Environment::default(), clock).unwrap();
    let catalog = config.catalog();
    let usage =
        TokenUsage { input: 1_000_000, output: 1_000, source: UsageSource::Vendor, ..Default::default() };
    let mut vendors = BTreeSet::new();
    for model in catalog.models().iter().filter(|model| model.facts.capabilities.has(Capability::Batch)) {
        let name = &model.reference;
        let batches = codec_for(catalog.vendor(&name.vendor).unwrap().kind).batches().expect("an endpoint");
        assert!(batches.embeds() || !model.facts.capabilities.has(Capability::Embeddings), "{name}");
        let cost = |lane| catalog.prices().cost(name, &usage, lane, Day::of(now())).unwrap().nano_eur();
        let share = cost(Lane::Batch) * 100 / cost(Lane::Interactive);
        assert_eq!(share, if &*name.vendor == "xai" { 80 } else { 50 }, "{name}");
        vendors.insert(name.vendor.to_string());
    }
    assert_eq!(vendors.into_iter().collect::<Vec<_>>(), ["anthropic", "gemini", "openai", "xai"]);
}

#[test]
fn an_answer_that_came_as_a_tools_arguments_is_read_as_text_where_its_item_is_named() {
    let line = br#"{"custom_id":"1-0","result":{"type":"succeeded","message":{"id":"m","type":"message",
        "role":"assistant","model":"claude","content":[{"type":"tool_use","id":"t","name":"city","input":{"a":1}}],
        "stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}}}"#;
    let part = |tools: &JsonTools| {
        let result = batches(VendorKind::Anthropic).decode_result(line, tools).unwrap();
        let ItemOutcome::Answer(answer) = result.outcome else { panic!("{result:?}") };
        answer.parts.into_iter().next().unwrap()
    };
    assert!(matches!(part(&JsonTools::new()), Part::ToolCall(_)));
    let tools = JsonTools::from([("1-0".to_owned(), "city".to_owned())]);
    assert_eq!(part(&tools), Part::text(r#"{"a":1}"#));
}
