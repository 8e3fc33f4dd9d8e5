//! Every vendor, whole and as a stream, with everything a request can hold.

use serde_json::{Value, json};
use signalbox_api::v1::{
    FinishReason, GenerateRequest, Tool, attempt::Cause, token_usage::Source, tool_choice::Mode as ToolMode,
};
use signalbox_testkit::{
    Client, Topology, World,
    ask::{
        Answer, Mode, ask, assistant, image_part, json_schema, request, result_part, text_part, tool, user,
    },
    both_topologies,
};
use std::collections::HashSet;

/// The smallest PNG: one pixel.
const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0,
    0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0,
    1, 0, 0, 5, 0, 1, 0x0d, 0x0a, 0x2d, 0xb4, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// A model, and what is known of its vendor's accounting.
struct Subject {
    model: &'static str,
    priced: bool,
    /// Whether the vendor caches prompts without being told to.
    caches: bool,
}

async fn every_form_works_at_openai(topology: Topology) {
    check(topology, Subject { model: "openai/gpt-6-luna", priced: true, caches: true }).await;
}

async fn every_form_works_at_anthropic(topology: Topology) {
    check(topology, Subject { model: "anthropic/claude-haiku-5-5", priced: true, caches: false }).await;
}

async fn every_form_works_at_gemini(topology: Topology) {
    check(topology, Subject { model: "gemini/gemini-3.5-flash-lite", priced: true, caches: true }).await;
}

async fn every_form_works_at_xai(topology: Topology) {
    check(topology, Subject { model: "xai/grok-4.3", priced: true, caches: true }).await;
}

async fn every_form_works_at_ollama(topology: Topology) {
    check(topology, Subject { model: "ollama/gemma4", priced: false, caches: false }).await;
}

async fn every_form_works_at_a_compatible_server(topology: Topology) {
    check(topology, Subject { model: "local/some/model:q4", priced: false, caches: true }).await;
}

both_topologies!(
    every_form_works_at_openai,
    every_form_works_at_anthropic,
    every_form_works_at_gemini,
    every_form_works_at_xai,
    every_form_works_at_ollama,
    every_form_works_at_a_compatible_server,
);

async fn check(topology: Topology, subject: Subject) {
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    for mode in Mode::ALL {
        check_text(&mut client, mode, &subject).await;
        check_long_prompt(&mut client, mode, &subject).await;
        check_tools(&mut client, mode, &subject).await;
        check_forced_tool(&mut client, mode, &subject).await;
        check_json_schema(&mut client, mode, &subject).await;
        check_image(&mut client, mode, &subject).await;
        check_length(&mut client, mode, &subject).await;
    }
}

/// A good answer, with its account in order.
async fn good(client: &mut Client, mode: Mode, subject: &Subject, request: GenerateRequest) -> Answer {
    let answer = ask(client, mode, request).await;
    let answer = answer.unwrap_or_else(|status| panic!("{} {mode:?}: {status:?}", subject.model));
    let (vendor, model) = subject.model.split_once('/').unwrap();
    let route = &answer.route;
    assert_eq!((route.vendor.as_str(), route.model.as_str()), (vendor, model));
    assert!(!route.simulated, "a configured vendor is a real one");
    assert_eq!(answer.attempts(), [vendor]);
    assert_eq!(route.attempts[0].cause(), Cause::FirstChoice);
    assert_eq!(route.time_to_first_token.is_some(), mode == Mode::Stream, "{mode:?}");
    assert_eq!(answer.usage.source(), Source::Vendor);
    assert!(answer.usage.input_tokens > 0 && answer.usage.output_tokens + answer.usage.reasoning_tokens > 0);
    assert!(!answer.cost.unknown);
    assert_eq!(answer.cost.nano_eur > 0, subject.priced, "{:?}", answer.cost);
    assert_eq!(route.total_cost.as_ref(), Some(&answer.cost));
    answer
}

async fn check_text(client: &mut Client, mode: Mode, subject: &Subject) {
    let answer = good(client, mode, subject, request(subject.model, "Grüße 🌍, how are you?")).await;
    assert!(answer.text().contains("you said \"Grüße 🌍, how are you?\""), "{}", answer.text());
    assert_eq!(answer.finish_reason, FinishReason::Stop);
}

/// Whatever a vendor's own way of counting, the parts add up to the prompt and overlap nowhere.
async fn check_long_prompt(client: &mut Client, mode: Mode, subject: &Subject) {
    let answer = good(client, mode, subject, request(subject.model, &"four".repeat(2000))).await;
    let usage = &answer.usage;
    let written = usage.cache_write_tokens + usage.cache_write_1h_tokens;
    assert_eq!(usage.input_tokens + usage.cache_read_tokens + written, 2000, "{usage:?}");
    assert_eq!(usage.cache_read_tokens, if subject.caches { 896 } else { 0 }, "{usage:?}");
}

fn tools() -> Vec<Tool> {
    let place = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}"#;
    vec![tool("get_weather", place), tool("get_time", place), tool("ping", "")]
}

/// Several calls of one turn, their results, and the answer to those.
async fn check_tools(client: &mut Client, mode: Mode, subject: &Subject) {
    let mut conversation = request(subject.model, "Use get_weather, get_time, then get_weather and ping.");
    conversation.tools = tools();
    let asked = good(client, mode, subject, conversation.clone()).await;
    assert_eq!(asked.finish_reason, FinishReason::ToolCalls);
    let calls = asked.tool_calls();
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["get_weather", "get_time", "get_weather", "ping"]);
    let ids: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert!(ids.len() == calls.len() && !ids.contains(""), "ids tell calls apart: {calls:?}");
    for call in &calls {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(arguments.get("city").is_some(), call.name != "ping", "{call:?}");
    }
    let results =
        calls.iter().enumerate().map(|(n, call)| result_part(call, &format!("{{\"degrees\":{n}}}")));
    conversation.messages.extend([assistant(asked.content.clone()), user(results)]);
    let told = good(client, mode, subject, conversation).await;
    assert_eq!(told.finish_reason, FinishReason::Stop);
    let text = told.text();
    let positions: Vec<_> = (0..4).map(|n| text.find(&format!("\"degrees\":{n}"))).collect();
    assert!(positions.iter().all(Option::is_some) && positions.is_sorted(), "results in order: {text}");
}

async fn check_forced_tool(client: &mut Client, mode: Mode, subject: &Subject) {
    let mut forced = request(subject.model, "Say hello.");
    forced.tools = tools();
    let choice = forced.tool_choice.get_or_insert_default();
    choice.set_mode(ToolMode::Tool);
    choice.tool_name = "get_time".to_owned();
    let answer = ask(client, mode, forced).await;
    // Ollama cannot be made to call a tool, so nobody is asked.
    if subject.model.starts_with("ollama") {
        let status = answer.unwrap_err();
        assert!(status.message().contains("forced_tools"), "{status:?}");
        return;
    }
    let answer = answer.unwrap();
    let names: Vec<String> = answer.tool_calls().into_iter().map(|call| call.name).collect();
    assert_eq!((names, answer.finish_reason), (vec!["get_time".to_owned()], FinishReason::ToolCalls));
}

async fn check_json_schema(client: &mut Client, mode: Mode, subject: &Subject) {
    let schema = r#"{"type":"object","properties":{"headline":{"type":"string"},
        "tags":{"type":"array","items":{"enum":["news","sport"]}},"score":{"type":"integer"}},
        "required":["headline","tags","score"],"additionalProperties":false}"#;
    let mut wanted = request(subject.model, "Describe the article.");
    wanted.response_format = Some(json_schema(schema));
    let answer = good(client, mode, subject, wanted).await;
    let value: Value = serde_json::from_str(&answer.text()).unwrap();
    jsonschema::validate(&serde_json::from_str(schema).unwrap(), &value).unwrap();
    assert_eq!(answer.finish_reason, FinishReason::Stop, "also where the schema goes by way of a tool");
}

async fn check_image(client: &mut Client, mode: Mode, subject: &Subject) {
    let mut look = request(subject.model, "");
    look.messages = vec![user([text_part("What is this?"), image_part(PIXEL.to_vec(), "image/png")])];
    let answer = good(client, mode, subject, look).await;
    assert!(answer.text().contains(&format!("1 image ({} bytes)", PIXEL.len())), "{}", answer.text());
}

/// A length cut is a length cut for every vendor.
async fn check_length(client: &mut Client, mode: Mode, subject: &Subject) {
    let mut short =
        request(subject.model, "Tell me a long story, please, about a small tram in a large city.");
    short.max_output_tokens = Some(20);
    let answer = good(client, mode, subject, short).await;
    assert_eq!(answer.finish_reason, FinishReason::Length);
    assert!(answer.usage.output_tokens + answer.usage.reasoning_tokens <= 20, "{:?}", answer.usage);
}
