//! A stream breaks off after content has reached the client.

use serde_json::json;
use signalbox_testkit::{
    Topology, World,
    ask::{Streamed, open, request},
    both_topologies,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use tonic::Code;

const BROKEN: [(&str, &str); 4] = [
    ("cut=5", "STREAM_TRUNCATED"),
    ("no-finish", "STREAM_TRUNCATED"),
    ("error=5", "VENDOR_ERROR"),
    ("stall=5", "VENDOR_TIMEOUT"),
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
    for (fault, reason) in BROKEN {
        world.fault(vendor, fault);
        let events = open(&mut world.client(), request("pair", "Tell me a story.")).await.unwrap();
        let streamed = Streamed::read(events).await;
        let text = streamed.text();
        assert!(text.starts_with("Simulated") && !text.contains("claude"), "{first} {fault}: {text}");
        let refusal = Refusal::from(streamed.end.unwrap_err());
        assert_eq!((refusal.code, refusal.reason), (Code::Unavailable, reason), "{first} {fault}");
        assert_eq!(refusal.attempts, [format!("{}: {reason}", vendor.name())], "{first} {fault}");
    }
    assert_eq!(world.calls(Vendor::Anthropic).len(), 0, "{first}: no other vendor is asked");
}

both_topologies!(a_committed_stream_ends_with_a_status_and_never_an_invented_finish);
