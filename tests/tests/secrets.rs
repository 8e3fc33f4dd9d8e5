//! A vendor's key goes to the vendor and nowhere else.

use serde_json::json;
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, ask, request},
    both_topologies,
    otlp::Otlp,
};
use signalbox_vendorsim::Vendor;

const CANARY: &str = "sk-canary-5f1d9c0ab7";

async fn a_key_is_found_in_no_log_metric_span_or_error(topology: Topology) {
    let receiver = Otlp::start().await;
    let keys =
        ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY"].map(|name| (name, CANARY));
    let config = json!({"telemetry": {"otlp_endpoint": receiver.endpoint(), "log_level": "trace"}});
    let mut world = World::with_keys(topology, config, &keys).await;
    let mut seen = String::new();
    let subjects = [
        (Vendor::Openai, "openai/gpt-6-luna"),
        (Vendor::Anthropic, "anthropic/claude-haiku-5-5"),
        (Vendor::Gemini, "gemini/gemini-3.5-flash-lite"),
        (Vendor::Xai, "xai/grok-4.3"),
    ];
    for (vendor, model) in subjects {
        ask(&mut world.client(), Mode::Unary, request(model, "Hello?")).await.unwrap();
        for fault in [
            "kind=auth",
            "down",
            "malformed",
            "status=500",
            "status=400,echo",
            "status=503,echo",
            "kind=auth,echo",
            "error=2,echo",
        ] {
            world.fault(vendor, fault);
            for mode in Mode::ALL {
                if mode == Mode::Unary && fault.starts_with("error") {
                    continue;
                }
                let status = ask(&mut world.client(), mode, request(model, "Hello?")).await.unwrap_err();
                seen.push_str(&format!("{status:?} {}", String::from_utf8_lossy(status.details())));
            }
        }
    }
    assert!(seen.matches("<secret>").count() > 20, "the vendors' errors repeated it");
    assert!(world.vendors.request_count() > 20, "the key was used");
    seen.push_str(world.signalbox.metrics().await.text());
    world.signalbox.terminate().await;
    let log = world.signalbox.log();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "the log is as talkative as it can be");
    seen.push_str(&log);
    let spans = receiver.spans();
    assert!(!spans.is_empty());
    seen.push_str(&format!("{spans:?}"));
    let found: Vec<&str> =
        seen.lines().filter(|line| line.contains(CANARY) || line.contains("canary")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

both_topologies!(a_key_is_found_in_no_log_metric_span_or_error);
