//! A second vendor is asked beside one that is silent.

use serde_json::json;
use signalbox_api::v1::{GenerateRequest, attempt::Cause, token_usage::Source};
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, ask, request},
    both_topologies, eventually,
};
use signalbox_vendorsim::{Outcome, Vendor};

async fn the_first_content_wins_and_the_other_vendors_call_is_stopped(topology: Topology) {
    let world = World::start(
        topology,
        json!({"task_types": {"headline-now": {
            "targets": ["openai/gpt-6-luna", "anthropic/claude-haiku-5-5"],
            "hedge": {"after": "500ms", "max_share": 0.5},
        }}}),
    )
    .await;
    let mut client = world.client();
    let asked = || GenerateRequest { task_type: "headline-now".to_owned(), ..request("", "Hello?") };
    // Four requests pay for two hedges, so that one is left even where a busy machine needs one of them.
    for _ in 0..4 {
        ask(&mut client, Mode::Stream, asked()).await.unwrap();
    }
    world.fault(Vendor::Openai, "first-byte=600000");
    let hedged = ask(&mut client, Mode::Stream, asked()).await.unwrap();
    assert_eq!(hedged.attempts(), ["openai: CANCELLED", "anthropic"]);
    let [lost, won] = &hedged.route.attempts[..] else { panic!("{hedged:?}") };
    assert_eq!((lost.cause(), won.cause()), (Cause::FirstChoice, Cause::Hedge));
    assert_eq!(lost.usage.unwrap().source(), Source::Estimated);
    assert_eq!(hedged.text().matches("Simulated").count(), 1, "one answer: {}", hedged.text());
    let cost = |attempt: &signalbox_api::v1::Attempt| attempt.cost.clone().unwrap().nano_eur;
    assert_eq!(hedged.route.total_cost.clone().unwrap().nano_eur, cost(lost) + cost(won));
    eventually("the silent vendor sees the caller go", || async {
        world.calls(Vendor::Openai).last().is_some_and(|call| call.outcome == Outcome::ClientGone)
    })
    .await;
    // Its own adapter knows what it used.
    eventually("the call is counted as cancelled", || async {
        let metrics = world.signalbox.metrics().await;
        metrics.sum("signalbox_vendor_calls_total", &[("vendor", "openai"), ("outcome", "cancelled")]) >= 1.0
    })
    .await;
}

both_topologies!(the_first_content_wins_and_the_other_vendors_call_is_stopped);
