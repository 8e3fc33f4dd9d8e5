//! A stream breaks off after content has reached the client.

use serde_json::json;
use signalbox_api::v1::GenerateRequest;
use signalbox_testkit::{
    Topology, World,
    ask::{Streamed, open, request},
    both_topologies,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use tonic::Code;

/// A fault, and what it becomes; what a vendor says within its stream has words of its own.
const BROKEN: [(&str, &[&str]); 4] = [
    ("cut=5", &["STREAM_TRUNCATED"]),
    ("no-finish", &["STREAM_TRUNCATED"]),
    ("error=5", &["VENDOR_ERROR", "VENDOR_OVERLOADED"]),
    ("stall=5", &["VENDOR_TIMEOUT"]),
];

async fn a_committed_stream_ends_with_a_status_and_never_an_invented_finish(topology: Topology) {
    let vendors = ["openai/gpt-6-luna", "gemini/gemini-3.5-flash-lite", "xai/grok-4.3", "ollama/llama3.2:3b"];
    for (vendor, first) in
        [Vendor::Openai, Vendor::Gemini, Vendor::Xai, Vendor::Ollama].into_iter().zip(vendors)
    {
        check(topology, vendor, first).await;
    }
}

async fn check(topology: Topology, vendor: Vendor, first: &str) {
    let timeouts = json!({"timeouts": {"idle": "500ms"}});
    let world = World::start(
        topology,
        json!({
            "aliases": {"pair": {"targets": [first, "anthropic/claude-haiku-5-5"]}},
            "vendors": {"openai": timeouts, "gemini": timeouts, "xai": timeouts, "ollama": timeouts},
        }),
    )
    .await;
    // Ollama's last line says `done` of itself; older servers give no reason beside it.
    let applies = |fault: &str| vendor != Vendor::Ollama || fault != "no-finish";
    for (fault, reasons) in BROKEN.into_iter().filter(|(fault, _)| applies(fault)) {
        world.fault(vendor, fault);
        let events = open(&mut world.client(), request("pair", "Tell me a story.")).await.unwrap();
        let streamed = Streamed::read(events).await;
        let text = streamed.text();
        assert!(text.starts_with("Simulated") && !text.contains("claude"), "{first} {fault}: {text}");
        let refusal = Refusal::from(streamed.end.unwrap_err());
        assert_eq!(refusal.code, Code::Unavailable, "{first} {fault}");
        assert!(reasons.contains(&refusal.reason), "{first} {fault}: {refusal:?}");
        assert_eq!(refusal.attempts, [format!("{}: {}", vendor.name(), refusal.reason)], "{first} {fault}");
    }
    assert_eq!(world.calls(Vendor::Anthropic).len(), 0, "{first}: no other vendor is asked");
}

async fn a_vendor_that_is_silent_beyond_the_task_types_patience_is_left_and_its_adapter_counts_that(
    topology: Topology,
) {
    let world = World::start(
        topology,
        json!({
            "task_types": {"live": {
                "targets": ["openai/gpt-6-luna", "anthropic/claude-haiku-5-5"],
                "routing": {"order": "listed"},
                "first_byte_timeout": "300ms",
            }},
        }),
    )
    .await;
    world.fault(Vendor::Openai, "first-byte=5000");
    let request = GenerateRequest { task_type: "live".into(), ..request("", "Hello?") };
    let streamed = Streamed::read(open(&mut world.client(), request).await.unwrap()).await;
    let route = streamed.end.unwrap().route.unwrap();
    let attempts: Vec<_> = route.attempts.iter().map(|it| (&*it.vendor, &*it.error_reason)).collect();
    assert_eq!(attempts, [("openai", "VENDOR_TIMEOUT"), ("anthropic", "")]);
    let calls = [("vendor", "openai"), ("outcome", "VENDOR_TIMEOUT")];
    assert_eq!(world.signalbox.metrics().await.sum("signalbox_vendor_calls_total", &calls) as u64, 1);
}

both_topologies!(
    a_committed_stream_ends_with_a_status_and_never_an_invented_finish,
    a_vendor_that_is_silent_beyond_the_task_types_patience_is_left_and_its_adapter_counts_that,
);
