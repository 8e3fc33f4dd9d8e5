//! How far batches go.

use super::{VENDORS, batch, get, hand_over, headers, post, results, state, strike};
use crate::client::{send, start};
use serde_json::{Value, json};
use signalbox_vendorsim::{BatchState, Fault, Match, Place, Simulator, Times, Vendor};
use std::time::Duration;

/// How a vendor says that a batch is under way, and that it is through.
fn words(vendor: Vendor) -> (&'static str, &'static str) {
    match vendor {
        Vendor::Anthropic => ("in_progress", "ended"),
        Vendor::Gemini => ("BATCH_STATE_RUNNING", "BATCH_STATE_SUCCEEDED"),
        Vendor::Xai => ("1 pending", "0 pending"),
        _ => ("in_progress", "completed"),
    }
}

#[tokio::test]
async fn a_batch_that_is_held_stays_in_progress_until_it_is_let_go() {
    let simulator = start().await;
    for (vendor, model) in VENDORS {
        strike(&simulator, vendor, Place::Create, "hold=1");
        let path = batch(&simulator, vendor, model, &["a", "b"]).await;
        let (running, through) = words(vendor);
        assert_eq!(state(&simulator, vendor, &path).await, running);
        assert_eq!(state(&simulator, vendor, &path).await, running);
        assert!(simulator.batches().last().unwrap().held);
        assert_eq!(simulator.release_batches(), 1);
        assert_eq!(state(&simulator, vendor, &path).await, through);
        assert_eq!(results(&simulator, vendor, &path).await.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_takes_its_time() {
    let simulator =
        Simulator::builder().batch_time(Duration::from_secs(60)).bind("127.0.0.1:0").await.unwrap();
    for (vendor, model) in VENDORS {
        let path = batch(&simulator, vendor, model, &["a"]).await;
        let (running, through) = words(vendor);
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(state(&simulator, vendor, &path).await, running);
        tokio::time::advance(Duration::from_secs(31)).await;
        assert_eq!(state(&simulator, vendor, &path).await, through);
    }
}

#[tokio::test]
async fn a_batch_whose_hand_over_was_not_answered_is_there_all_the_same() {
    let simulator = start().await;
    let body = json!({"requests": [{"custom_id": "a", "params": super::chat("claude-haiku-5-5", "a")}]});
    strike(&simulator, Vendor::Anthropic, Place::Create, "lost");
    let path = "/anthropic/v1/messages/batches";
    assert!(send(&simulator, "POST", path, &headers("anthropic"), &body).await.is_none());
    let list = get(&simulator, "anthropic", "/v1/messages/batches").await.json();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    assert_eq!(simulator.batch_item_count(Vendor::Anthropic), 1);
}

#[tokio::test]
async fn a_vendor_that_refuses_a_batch_whole_says_so_in_its_own_way() {
    let simulator = start().await;
    for (vendor, model) in VENDORS {
        strike(&simulator, vendor, Place::Create, "refuse");
        let made = hand_over(&simulator, vendor, model, &["a"]).await;
        if vendor == Vendor::Anthropic {
            assert_eq!((made.status, simulator.batch_item_count(vendor)), (400, 0));
            continue;
        }
        let last = simulator.batches().last().unwrap().id.clone();
        let path =
            if vendor == Vendor::Gemini { format!("/v1beta/{last}") } else { format!("/v1/batches/{last}") };
        let seen = get(&simulator, vendor.name(), &path).await.json();
        match vendor {
            Vendor::Gemini => assert_eq!((&seen["error"]["code"], seen.get("response")), (&json!(3), None)),
            Vendor::Xai => assert_eq!(seen["state"]["num_cancelled"], 1),
            _ => assert_eq!((&seen["status"], &seen["output_file_id"]), (&json!("failed"), &Value::Null)),
        }
        assert_eq!(simulator.batches().last().unwrap().state, BatchState::Refused);
    }
}

#[tokio::test]
async fn a_batch_is_refused_for_one_of_its_items_which_the_vendor_names_in_its_own_way() {
    let simulator = start().await;
    for (vendor, model) in VENDORS {
        let made = hand_over(&simulator, vendor, model, &["fine", "refuse-batch", "fine-too"]).await;
        let seen = match vendor {
            Vendor::Anthropic | Vendor::Gemini => {
                assert_eq!(made.status, 400);
                made.json()["error"]["message"].as_str().unwrap().to_owned()
            }
            _ => {
                let path = format!("/v1/batches/{}", simulator.batches().last().unwrap().id);
                let seen = get(&simulator, vendor.name(), &path).await.json();
                assert_eq!(simulator.batches().last().unwrap().state, BatchState::Refused);
                let told = if vendor == Vendor::Xai {
                    &seen["cancel_by_xai_message"]
                } else {
                    &seen["errors"]["data"][0]
                };
                told.to_string()
            }
        };
        let place = match vendor {
            Vendor::Anthropic => "requests.1.params: ",
            Vendor::Gemini => "requests[1].request: ",
            Vendor::Xai => "line 2: ",
            _ => "\"line\":2",
        };
        assert!(seen.contains(place) && seen.contains("as it says itself"), "{seen}");
    }
}

#[tokio::test]
async fn the_files_of_a_batch_are_there_until_they_are_deleted() {
    let simulator = start().await;
    let path = batch(&simulator, Vendor::Openai, "gpt-4o", &["a"]).await;
    let seen = get(&simulator, "openai", &path).await.json();
    assert_eq!(simulator.file_count(Vendor::Openai), 2);
    for file in ["input_file_id", "output_file_id"] {
        let path = format!("/openai/v1/files/{}", seen[file].as_str().unwrap());
        let deleted = send(&simulator, "DELETE", &path, &headers("openai"), &Value::Null).await.unwrap();
        assert_eq!((deleted.status, &deleted.json()["deleted"]), (200, &json!(true)));
        assert_eq!(
            send(&simulator, "DELETE", &path, &headers("openai"), &Value::Null).await.unwrap().status,
            404
        );
    }
    assert_eq!(simulator.file_count(Vendor::Openai), 0);
}

#[tokio::test]
async fn a_batch_that_expires_keeps_what_was_done() {
    let simulator = start().await;
    for (vendor, model) in VENDORS {
        strike(&simulator, vendor, Place::Create, "expire=1");
        let path = batch(&simulator, vendor, model, &["a", "b"]).await;
        state(&simulator, vendor, &path).await;
        assert_eq!(simulator.batches().last().unwrap().state, BatchState::Expired);
        // Gemini leaves nothing.
        if vendor != Vendor::Gemini {
            let answered = results(&simulator, vendor, &path).await;
            assert_eq!(answered.iter().filter(|(_, text)| text.starts_with("Simulated")).count(), 1);
        }
    }
}

#[tokio::test]
async fn a_cancellation_takes_as_long_as_it_is_held() {
    let simulator = start().await;
    let vendor = Vendor::Openai;
    strike(&simulator, vendor, Place::Create, "hold=1");
    strike(&simulator, vendor, Place::Cancel, "hold");
    let path = batch(&simulator, vendor, "gpt-4o", &["a", "b"]).await;
    assert_eq!(state(&simulator, vendor, &path).await, "in_progress");
    assert_eq!(
        post(&simulator, "openai", &format!("{path}/cancel"), &json!({})).await.json()["status"],
        "cancelling"
    );
    assert_eq!(state(&simulator, vendor, &path).await, "cancelling");
    let id = simulator.batches()[0].id.clone();
    assert!(simulator.release_batch(&id) && !simulator.release_batch(&id));
    assert_eq!(state(&simulator, vendor, &path).await, "cancelled");
    let [(done, _), (_, stopped)] = &results(&simulator, vendor, &path).await[..] else {
        panic!("not two results")
    };
    assert_eq!((done.as_str(), stopped.as_str()), ("a", "batch_cancelled"));
}

#[tokio::test]
async fn the_calls_around_a_batch_fail_when_they_are_told_to() {
    let simulator = start().await;
    let always = |place, fault: &str| {
        let matching = Match::vendor(Vendor::Openai).at(place);
        simulator.set_fault(matching, Fault::parse(fault).unwrap(), Times::Always);
    };
    always(Place::Create, "status=503");
    assert_eq!(hand_over(&simulator, Vendor::Openai, "gpt-4o", &["a"]).await.status, 503);
    assert!(simulator.batches().is_empty());
    simulator.clear_faults();
    always(Place::Read, "status=429,retry-after=7");
    hand_over(&simulator, Vendor::Openai, "gpt-4o", &["a"]).await;
    let seen = get(&simulator, "openai", "/v1/batches").await;
    assert_eq!((seen.status, seen.header("retry-after")), (429, Some("7")));
}

#[tokio::test]
async fn another_process_holds_batches_sees_them_and_lets_them_go() {
    let simulator = start().await;
    let control = async |method: &str, path: &str, body: Value| {
        send(&simulator, method, &format!("/_sim/{path}"), &[], &body).await.unwrap()
    };
    let rule = json!({"vendor": "xai", "place": "create", "fault": "hold=1"});
    assert_eq!(control("POST", "faults", rule).await.status, 201);
    let path = batch(&simulator, Vendor::Xai, "grok-4.3", &["a", "b"]).await;
    state(&simulator, Vendor::Xai, &path).await;

    let seen = control("GET", "batches", Value::Null).await.json();
    assert_eq!(seen["counts"]["xai"], json!({"batches": 1, "items": 2, "files": 1}));
    let held = &seen["batches"][0];
    assert_eq!(
        (&held["state"], &held["held"], &held["name"]),
        (&json!("running"), &json!(true), &json!("mine"))
    );
    let outcomes = (&held["items"][0]["outcome"], &held["items"][1]["outcome"]);
    assert_eq!(outcomes, (&json!("succeeded"), &Value::Null));

    assert_eq!(control("POST", "batches/release", json!({"id": "batch_x"})).await.json()["released"], 0);
    assert_eq!(control("POST", "batches/release", Value::Null).await.json()["released"], 1);
    assert_eq!(state(&simulator, Vendor::Xai, &path).await, "0 pending");
    control("DELETE", "batches", Value::Null).await;
    assert_eq!(control("GET", "batches", Value::Null).await.json()["batches"], json!([]));
}
