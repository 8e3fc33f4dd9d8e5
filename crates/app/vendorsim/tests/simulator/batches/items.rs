//! What comes of items.

use super::{VENDORS, batch, chat, get, hand_over, lines, post, results, state, strike, upload};
use crate::client::{headers, send, start};
use serde_json::{Value, json};
use signalbox_vendorsim::{Fault, ItemOutcome, Match, Place, Times, Vendor};
use std::collections::BTreeSet;

#[tokio::test]
async fn an_item_gets_the_answer_that_it_would_get_alone() {
    let simulator = start().await;
    for (vendor, model) in VENDORS {
        let path = batch(&simulator, vendor, model, &["hello"]).await;
        let [(name, text)] = &results(&simulator, vendor, &path).await[..] else { panic!("not one result") };
        assert_eq!(name, "hello");
        assert!(text.starts_with(&format!("Simulated answer of {model}: you said \"hello\".")), "{text}");
    }
    let path = batch(&simulator, Vendor::Xai, "grok-4.3", &["same"]).await;
    let alone = post(&simulator, "xai", "/v1/chat/completions", &chat("grok-4.3", "same")).await.json();
    let page = get(&simulator, "xai", &format!("{path}/results")).await.json();
    let within = &page["results"][0]["batch_result"]["response"]["chat_get_completion"];
    assert_eq!((&within["usage"], &within["choices"]), (&alone["usage"], &alone["choices"]));
}

#[tokio::test]
async fn a_fault_by_rule_strikes_one_item_and_becomes_its_error() {
    let simulator = start().await;
    for (vendor, model) in VENDORS {
        simulator.set_fault(
            Match::model(vendor, model),
            Fault::parse("status=429").unwrap(),
            Times::First(1),
        );
        let path = batch(&simulator, vendor, model, &["a", "b"]).await;
        let mut results = results(&simulator, vendor, &path).await;
        results.sort();
        let error = match vendor {
            Vendor::Openai => "429",
            Vendor::Anthropic => "rate_limit_error",
            _ => "8",
        };
        assert_eq!(results[0], ("a".to_owned(), error.to_owned()));
        assert!(results[1].1.starts_with("Simulated answer"), "{results:?}");
    }
}

#[tokio::test]
async fn what_would_break_a_connection_becomes_an_error_and_what_hangs_expires() {
    let simulator = start().await;
    for (fault, outcome) in
        [("down", "500"), ("cut=1", "500"), ("kind=html", "502"), ("hang", "batch_expired")]
    {
        strike(&simulator, Vendor::Openai, Place::Item, fault);
        let path = batch(&simulator, Vendor::Openai, "gpt-4o", &["a"]).await;
        assert_eq!(results(&simulator, Vendor::Openai, &path).await, [("a".to_owned(), outcome.to_owned())]);
    }
    strike(&simulator, Vendor::Gemini, Place::Item, "hang");
    let path = batch(&simulator, Vendor::Gemini, "gemini-3.8-flash", &["a", "b"]).await;
    assert_eq!(state(&simulator, Vendor::Gemini, &path).await, "BATCH_STATE_SUCCEEDED");
    assert_eq!(results(&simulator, Vendor::Gemini, &path).await[0].1, "4");
}

#[tokio::test]
async fn items_come_back_once_each_and_in_an_order_of_their_own() {
    let simulator = start().await;
    let names: Vec<String> = (0..100).map(|n| format!("row-{n:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let path = batch(&simulator, Vendor::Anthropic, "claude-haiku-5-5", &names).await;
    let first = results(&simulator, Vendor::Anthropic, &path).await;
    let order: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    assert_ne!(order, names);
    assert_eq!((order.len(), order.iter().collect::<BTreeSet<_>>().len()), (100, 100));
    assert_eq!(results(&simulator, Vendor::Anthropic, &path).await, first);
}

#[tokio::test]
async fn the_rules_of_the_version_hold_for_every_item() {
    let simulator = start().await;
    let mut params = chat("claude-sonnet-4-6", "hi");
    params["temperature"] = json!(0.5);
    let body = json!({"requests": [{"custom_id": "a", "params": params}]});
    for (version, kind) in [("2026-10-21", "errored"), ("2023-06-01", "succeeded")] {
        let headers = [("x-api-key", "key"), ("anthropic-version", version)];
        let made =
            send(&simulator, "POST", "/anthropic/v1/messages/batches", &headers, &body).await.unwrap().json();
        let path = format!("/v1/messages/batches/{}/results", made["id"].as_str().unwrap());
        assert_eq!(lines(&get(&simulator, "anthropic", &path).await)[0]["result"]["type"], kind);
    }
}

#[tokio::test]
async fn nothing_is_streamed_into_a_batch() {
    let simulator = start().await;
    let mut body = chat("gpt-4o", "hi");
    body["stream"] = true.into();
    let line = json!({"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body});
    let file = upload(&simulator, "openai", &[line]).await;
    let body = json!({"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"});
    let made = post(&simulator, "openai", "/v1/batches", &body).await.json();
    let path = format!("/v1/batches/{}", made["id"].as_str().unwrap());
    assert_eq!(results(&simulator, Vendor::Openai, &path).await, [("a".to_owned(), "400".to_owned())]);
}

#[tokio::test]
async fn a_test_sees_what_was_handed_over_and_how_often() {
    let simulator = start().await;
    for (vendor, model) in VENDORS {
        let path = batch(&simulator, vendor, model, &["a", "b"]).await;
        state(&simulator, vendor, &path).await;
        assert_eq!(simulator.batch_item_count(vendor), 2);
    }
    for seen in simulator.batches() {
        let items: Vec<_> = seen.items.iter().map(|item| (item.id.as_str(), item.outcome)).collect();
        assert_eq!(items, [("a", Some(ItemOutcome::Succeeded)), ("b", Some(ItemOutcome::Succeeded))]);
        assert!(serde_json::from_slice::<Value>(&seen.items[1].body).unwrap().to_string().contains("\"b\""));
        match seen.vendor {
            Vendor::Openai => assert_eq!(seen.metadata["key"], "mine"),
            Vendor::Anthropic => assert_eq!(seen.name, ""),
            _ => assert_eq!(seen.name, "mine"),
        }
    }
    let missing = headers("anthropic").into_iter().take(1).collect::<Vec<_>>();
    let refused =
        send(&simulator, "POST", "/anthropic/v1/messages/batches", &missing, &json!({})).await.unwrap();
    assert_eq!(refused.json()["error"]["message"], "anthropic-version: header is required");
    assert_eq!(hand_over(&simulator, Vendor::Gemini, "gemini-0", &["a"]).await.status, 404);
    assert_eq!(simulator.batches().len(), VENDORS.len());
}
