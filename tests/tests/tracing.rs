//! Traces: one for a request, over every process it passes.

use serde_json::json;
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, request},
    both_topologies,
    otlp::{Otlp, Span},
};
use signalbox_vendorsim::Vendor;
use tonic::Request;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";
const PROMPT: &str = "the mayor's secret recipe";

async fn a_request_is_one_trace_from_the_caller_to_the_model(topology: Topology) {
    let receiver = Otlp::start().await;
    let mut world = World::start(
        topology,
        json!({
            "telemetry": {"otlp_endpoint": receiver.endpoint()},
            "aliases": {"pair": {"targets": ["openai/gpt-6-luna", "anthropic/claude-haiku-5-5"]}},
        }),
    )
    .await;
    world.fault(Vendor::Openai, "kind=model");
    for mode in Mode::ALL {
        traced(&world, mode).await;
    }
    // Spans are sent at the latest when a process ends.
    world.signalbox.terminate().await;
    let spans = receiver.spans();
    for method in ["Generate", "StreamGenerate"] {
        check_trace(&spans, method);
    }
    for span in &spans {
        check_attributes(span);
    }
    if topology == Topology::Remote {
        let roles =
            |of: &str| spans.iter().any(|span| span.process.get("signalbox.roles").is_some_and(|r| r == of));
        assert!(roles("router") && roles("adapter"), "{spans:#?}");
    }
}

async fn traced(world: &World, mode: Mode) {
    let wanted = request("pair", PROMPT);
    let mut client = world.client();
    match mode {
        Mode::Unary => drop(client.generate(with_trace(wanted)).await.unwrap()),
        Mode::Stream => {
            let wanted = signalbox_api::v1::StreamGenerateRequest { request: Some(wanted) };
            let mut events = client.stream_generate(with_trace(wanted)).await.unwrap().into_inner();
            while events.message().await.unwrap().is_some() {}
        }
    }
}

fn with_trace<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    let context = format!("00-{TRACE}-{CALLER}-01");
    request.metadata_mut().insert("traceparent", context.parse().unwrap());
    request
}

/// caller → router → adapter → model call, for both attempts.
fn check_trace(spans: &[Span], method: &str) {
    let name = format!("signalbox.v1.RouterService/{method}");
    let router = spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("{name}: {spans:#?}"));
    assert_eq!((router.trace.as_str(), router.parent.as_str()), (TRACE, CALLER));
    let told = |key: &str| router.attributes[&format!("signalbox.route.{key}")].as_str();
    assert_eq!((told("vendor"), told("model")), ("anthropic", "claude-haiku-5-5"));
    assert_eq!((told("attempts"), told("fallback_reason")), ("2", "VENDOR_MODEL_NOT_FOUND"));
    let decision = told("decision");
    assert!(decision.contains("alias:pair") && decision.contains("openai/gpt-6-luna"), "{decision}");
    let adapters: Vec<&Span> = children(spans, router);
    assert_eq!(adapters.len(), 2, "an attempt each: {spans:#?}");
    for adapter in adapters {
        assert!(adapter.name.starts_with("signalbox.v1.ProviderService/"), "{adapter:?}");
        let [call] = children(spans, adapter)[..] else { panic!("one model call: {spans:#?}") };
        assert_eq!(call.trace, TRACE);
        let failed = call.attributes["gen_ai.provider.name"] == "openai";
        assert_eq!(
            call.attributes.get("error.type").map(String::as_str),
            failed.then_some("VENDOR_MODEL_NOT_FOUND")
        );
        assert_eq!(call.attributes["gen_ai.operation.name"], "chat");
        if !failed {
            assert_eq!(call.name, "chat claude-haiku-5-5");
            assert!(call.attributes["gen_ai.usage.output_tokens"].parse::<u64>().unwrap() > 0);
        }
    }
}

fn children<'a>(spans: &'a [Span], parent: &Span) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.parent == parent.id).collect()
}

fn check_attributes(span: &Span) {
    let is_model_call = span.name.starts_with("chat ");
    for (key, value) in &span.attributes {
        assert!(is_model_call || !key.starts_with("gen_ai."), "{key} on {}", span.name);
        assert!(
            !value.contains("recipe") && !value.contains("key-of-"),
            "{key} of {} tells too much",
            span.name
        );
    }
}

both_topologies!(a_request_is_one_trace_from_the_caller_to_the_model);
