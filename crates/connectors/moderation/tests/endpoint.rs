//! The moderation client against the simulated endpoint.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

use signalbox_moderation::HttpModerator;
use signalbox_ports::{ModerationEndpoint, Moderator};
use signalbox_vendorsim::{Fault, Match, Simulator, Times, Vendor};
use std::time::Duration;

fn endpoint(url: &str) -> ModerationEndpoint<'_> {
    let timeout = Duration::from_secs(5);
    ModerationEndpoint { url, key: Some("a-key"), model: "omni-moderation-latest", timeout }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

async fn simulator() -> Simulator {
    Simulator::builder().bind("127.0.0.1:0").await.unwrap()
}

#[tokio::test]
async fn every_text_is_judged_by_itself() {
    let simulator = simulator().await;
    let url = simulator.base_url("openai");
    let judged = HttpModerator::default()
        .judge(endpoint(&url), &texts(&["hello", "moderate:violence"]))
        .await
        .unwrap();
    assert_eq!(judged.iter().map(|judgement| judgement.flagged).collect::<Vec<_>>(), [false, true]);
    assert!(judged[1].scores["violence"] > 0.9 && judged[0].scores["violence"] < 0.1);
}

#[tokio::test]
async fn a_failing_endpoint_is_told_without_key_text_or_address() {
    let simulator = simulator().await;
    let url = simulator.base_url("openai");
    let moderator = HttpModerator::default();
    let refused = ModerationEndpoint { key: Some("bad-key"), ..endpoint(&url) };
    let told = moderator.judge(refused, &texts(&["a text"])).await.unwrap_err().to_string();
    assert_eq!(told, "it answers 401 Unauthorized");

    simulator.set_fault(Match::vendor(Vendor::Openai), Fault::parse("hang").unwrap(), Times::Always);
    let hasty = ModerationEndpoint { timeout: Duration::from_millis(50), ..endpoint(&url) };
    let told = moderator.judge(hasty, &texts(&["a text"])).await.unwrap_err().to_string();
    assert_eq!(told, "no answer within 50 ms");

    simulator.shutdown().await;
    let told = moderator.judge(endpoint(&url), &texts(&["a text"])).await.unwrap_err().to_string();
    assert_eq!(told, "it cannot be reached");
}
