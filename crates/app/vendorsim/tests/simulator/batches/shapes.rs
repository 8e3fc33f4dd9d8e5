//! What is said about batches has the fields of the example payloads.

use super::{batch, get, hand_over, lines, post, strike};
use crate::client::start;
use serde_json::{Value, json};
use signalbox_vendorsim::{Fault, Match, Place, Simulator, Times, Vendor};
use std::path::Path;

/// What an item asks and gets has its own tests, and what callers note is theirs.
const ANY: [&str; 6] = ["body", "message", "chat_get_completion", "response", "tenant", "key"];

fn example(vendor: Vendor, name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fixtures/vendors");
    std::fs::read_to_string(folder.join(vendor.name()).join(name)).unwrap()
}

/// Both have the same fields of the same types; null fits anything.
fn check(at: &str, example: &Value, ours: &Value) {
    match (example, ours) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(example), Value::Object(ours)) => {
            let names = example.keys().chain(ours.keys()).filter(|name| !ANY.contains(&name.as_str()));
            for name in names {
                let field = |from: &serde_json::Map<String, Value>| from.get(name).cloned();
                let both = field(example).zip(field(ours));
                let (example, ours) = both.unwrap_or_else(|| panic!("{at}/{name} is missing on one side"));
                check(&format!("{at}/{name}"), &example, &ours);
            }
        }
        (Value::Array(example), Value::Array(ours)) => {
            if let (Some(example), Some(ours)) = (example.first(), ours.first()) {
                check(&format!("{at}/0"), example, ours);
            }
        }
        _ => assert_eq!(
            std::mem::discriminant(example),
            std::mem::discriminant(ours),
            "{at}: {example} against {ours}"
        ),
    }
}

fn check_file(vendor: Vendor, name: &str, ours: &Value) {
    check(name, &serde_json::from_str(&example(vendor, name)).unwrap(), ours);
}

/// Each of our lines is like one of the example's, by the value at `kind`.
fn check_lines(vendor: Vendor, name: &str, ours: &[Value], kind: impl Fn(&Value) -> Value) {
    let examples: Vec<Value> =
        example(vendor, name).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!ours.is_empty());
    for line in ours {
        let example = examples.iter().find(|example| kind(example) == kind(line));
        check(name, example.unwrap_or_else(|| panic!("no example is like {line}")), line);
    }
}

async fn object(simulator: &Simulator, vendor: Vendor, model: &str, fault: &str) -> (String, Value) {
    strike(simulator, vendor, Place::Create, fault);
    let path = batch(simulator, vendor, model, &["a", "b"]).await;
    let seen = get(simulator, vendor.name(), &path).await.json();
    (path, seen)
}

#[tokio::test]
async fn openai() {
    let simulator = start().await;
    let (vendor, model) = (Vendor::Openai, "gpt-4o-mini");
    check_file(vendor, "batch_validating.json", &hand_over(&simulator, vendor, model, &["a"]).await.json());
    for (fault, example) in [
        ("hold=1", "batch_in_progress.json"),
        ("expire=1", "batch_expired.json"),
        ("refuse", "batch_failed_validation.json"),
    ] {
        check_file(vendor, example, &object(&simulator, vendor, model, fault).await.1);
    }
    strike(&simulator, vendor, Place::Item, "kind=context");
    strike(&simulator, vendor, Place::Item, "hang");
    let path = batch(&simulator, vendor, model, &["a", "b", "c"]).await;
    let seen = get(&simulator, "openai", &path).await.json();
    let file = async |name: &str| {
        lines(
            &get(&simulator, "openai", &format!("/v1/files/{}/content", seen[name].as_str().unwrap())).await,
        )
    };
    let kind = |line: &Value| line["response"].is_null().into();
    check_lines(vendor, "batch_output.ndjson", &file("output_file_id").await, kind);
    check_lines(vendor, "batch_error_file.ndjson", &file("error_file_id").await, kind);
    let whole = batch(&simulator, vendor, model, &["a"]).await;
    check_file(vendor, "batch_completed.json", &get(&simulator, "openai", &whole).await.json());
}

#[tokio::test]
async fn anthropic() {
    let simulator = start().await;
    let (vendor, model) = (Vendor::Anthropic, "claude-haiku-5-5");
    let created: Value = serde_json::from_str(&example(vendor, "batch_create_request.json")).unwrap();
    let made = post(&simulator, "anthropic", "/v1/messages/batches", &created).await.json();
    check_file(vendor, "batch_in_progress.json", &made);
    check_file(
        vendor,
        "batch_list_page.json",
        &get(&simulator, "anthropic", "/v1/messages/batches").await.json(),
    );
    let (path, _) = object(&simulator, vendor, model, "hold=1").await;
    let cancelled = post(&simulator, "anthropic", &format!("{path}/cancel"), &Value::Null).await.json();
    check_file(vendor, "batch_canceling.json", &cancelled);
    check_file(vendor, "batch_ended.json", &get(&simulator, "anthropic", &path).await.json());

    strike(&simulator, vendor, Place::Item, "kind=context");
    let (expired, _) = object(&simulator, vendor, model, "expire=1").await;
    for path in [path, expired] {
        let results = lines(&get(&simulator, "anthropic", &format!("{path}/results")).await);
        check_lines(vendor, "batch_results.ndjson", &results, |line| line["result"]["type"].clone());
    }
}

#[tokio::test]
async fn gemini() {
    let simulator = start().await;
    let vendor = Vendor::Gemini;
    let mut created: Value =
        serde_json::from_str(&example(vendor, "batch_create_inline_request.json")).unwrap();
    created.as_object_mut().unwrap().remove("_url");
    let path = "/v1beta/models/gemini-2.5-flash:batchGenerateContent";
    let made = post(&simulator, "gemini", path, &created).await.json();
    check_file(vendor, "batch_operation_pending.json", &made);
    let every_second = Times::Share(0.5);
    simulator.set_fault(
        Match::vendor(vendor).at(Place::Item),
        Fault::parse("kind=invalid").unwrap(),
        every_second,
    );
    let done = get(&simulator, "gemini", &format!("/v1beta/{}", made["name"].as_str().unwrap())).await.json();
    check_file(vendor, "batch_operation_succeeded_inline.json", &done);
    let response: Value =
        serde_json::from_str(&example(vendor, "batch_operation_succeeded_inline.json")).unwrap();
    check("response", &response["response"], &done["response"]);
    let (_, failed) = object(&simulator, vendor, "gemini-2.5-flash", "refuse").await;
    check_file(vendor, "batch_operation_failed.json", &failed);
}

#[tokio::test]
async fn xai() {
    let simulator = start().await;
    let (vendor, model) = (Vendor::Xai, "grok-4.3");
    check_file(vendor, "batch_validating.json", &hand_over(&simulator, vendor, model, &["a"]).await.json());
    for (fault, example) in [
        ("hold=1", "batch_in_progress.json"),
        ("refuse", "batch_cancelled_by_vendor.json"),
        ("batch-time=0", "batch_completed.json"),
    ] {
        check_file(vendor, example, &object(&simulator, vendor, model, fault).await.1);
    }
    strike(&simulator, vendor, Place::Item, "kind=invalid");
    let path = batch(&simulator, vendor, model, &["a", "b"]).await;
    let page = get(&simulator, "xai", &format!("{path}/results?limit=1")).await.json();
    let example: Value = serde_json::from_str(&example(vendor, "batch_results_page.json")).unwrap();
    check("error", &example["results"][1], &page["results"][0]);
    let token = page["pagination_token"].as_str().unwrap();
    let page = get(&simulator, "xai", &format!("{path}/results?pagination_token={token}")).await.json();
    assert_eq!(
        json!([page["results"].as_array().unwrap().len(), page["pagination_token"]]),
        json!([1, null])
    );
    check("answer", &example["results"][0], &page["results"][0]);
}
