//! Batches go as far as they are told to, and their items are answered as if each had come alone.

mod control;
mod items;
mod shapes;

use crate::client::{Seen, get, headers, post, send_bytes};
use serde_json::{Value, json};
use signalbox_vendorsim::{Fault, Match, Place, Simulator, Times, Vendor};

/// The vendors that take batches, each with a model.
const VENDORS: [(Vendor, &str); 4] = [
    (Vendor::Openai, "gpt-4.1-mini"),
    (Vendor::Anthropic, "claude-haiku-5-5"),
    (Vendor::Gemini, "gemini-3.8-flash"),
    (Vendor::Xai, "grok-4.3"),
];

fn chat(model: &str, text: &str) -> Value {
    json!({"model": model, "max_tokens": 64, "messages": [{"role": "user", "content": text}]})
}

fn contents(text: &str) -> Value {
    json!({"contents": [{"role": "user", "parts": [{"text": text}]}]})
}

/// Uploads an input file; its id.
async fn upload(simulator: &Simulator, vendor: &str, lines: &[Value]) -> String {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let body = format!(
        "--cut\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n\
         --cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"in.jsonl\"\r\n\r\n{lines}\r\n--cut--\r\n"
    );
    let headers = [headers(vendor), vec![("content-type", "multipart/form-data; boundary=cut")]].concat();
    let seen =
        send_bytes(simulator, "POST", &format!("/{vendor}/v1/files"), &headers, body.into()).await.unwrap();
    seen.json()["id"].as_str().unwrap().to_owned()
}

/// Hands over a batch whose items each say their own name.
async fn hand_over(simulator: &Simulator, vendor: Vendor, model: &str, names: &[&str]) -> Seen {
    let name = vendor.name();
    match vendor {
        Vendor::Anthropic => {
            let item = |id: &&str| json!({"custom_id": id, "params": chat(model, id)});
            let requests: Vec<Value> = names.iter().map(item).collect();
            post(simulator, name, "/v1/messages/batches", &json!({"requests": requests})).await
        }
        Vendor::Gemini => {
            let item = |id: &&str| json!({"request": contents(id), "metadata": {"key": id}});
            let requests: Vec<Value> = names.iter().map(item).collect();
            let body = json!({"batch": {"displayName": "mine", "inputConfig": {"requests": {"requests": requests}}}});
            post(simulator, name, &format!("/v1beta/models/{model}:batchGenerateContent"), &body).await
        }
        _ => {
            let line = |id: &&str| json!({"custom_id": id, "method": "POST", "url": "/v1/chat/completions", "body": chat(model, id)});
            let file = upload(simulator, name, &names.iter().map(line).collect::<Vec<_>>()).await;
            let body = json!({
                "name": "mine", "input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h",
                "metadata": {"key": "mine"},
            });
            post(simulator, name, "/v1/batches", &body).await
        }
    }
}

/// Hands over a batch; the path at which it can be asked about.
async fn batch(simulator: &Simulator, vendor: Vendor, model: &str, names: &[&str]) -> String {
    let seen = hand_over(simulator, vendor, model, names).await;
    assert_eq!(seen.status, 200, "{}", seen.body);
    let made = seen.json();
    match vendor {
        Vendor::Anthropic => format!("/v1/messages/batches/{}", made["id"].as_str().unwrap()),
        Vendor::Gemini => format!("/v1beta/{}", made["name"].as_str().unwrap()),
        Vendor::Xai => format!("/v1/batches/{}", made["batch_id"].as_str().unwrap()),
        _ => format!("/v1/batches/{}", made["id"].as_str().unwrap()),
    }
}

/// How far a batch is, in the vendor's words.
async fn state(simulator: &Simulator, vendor: Vendor, path: &str) -> String {
    let seen = get(simulator, vendor.name(), path).await.json();
    let told = match vendor {
        Vendor::Anthropic => &seen["processing_status"],
        Vendor::Gemini => &seen["metadata"]["state"],
        Vendor::Xai => return format!("{} pending", seen["state"]["num_pending"]),
        _ => &seen["status"],
    };
    told.as_str().unwrap().to_owned()
}

/// What came of each item: its name, and the text or the error.
async fn results(simulator: &Simulator, vendor: Vendor, path: &str) -> Vec<(String, String)> {
    let seen = get(simulator, vendor.name(), path).await.json();
    let (entries, name, outcomes): (Vec<Value>, &str, [&str; 3]) = match vendor {
        Vendor::Anthropic => (
            lines(&get(simulator, "anthropic", &format!("{path}/results")).await),
            "/custom_id",
            ["/result/message/content/0/text", "/result/error/error/type", "/result/type"],
        ),
        Vendor::Gemini => (
            seen["response"]["inlinedResponses"]["inlinedResponses"].as_array().unwrap().clone(),
            "/metadata/key",
            ["/response/candidates/0/content/parts/0/text", "/error/code", "/error/message"],
        ),
        Vendor::Xai => (
            get(simulator, "xai", &format!("{path}/results")).await.json()["results"]
                .as_array()
                .unwrap()
                .clone(),
            "/batch_request_id",
            [
                "/batch_result/response/chat_get_completion/choices/0/message/content",
                "/batch_result/error/code",
                "/batch_result/error/message",
            ],
        ),
        _ => {
            let mut entries = Vec::new();
            for file in ["output_file_id", "error_file_id"].iter().filter_map(|field| seen[*field].as_str()) {
                entries.extend(lines(&get(simulator, "openai", &format!("/v1/files/{file}/content")).await));
            }
            let outcomes =
                ["/response/body/choices/0/message/content", "/response/status_code", "/error/code"];
            (entries, "/custom_id", outcomes)
        }
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let outcome = |entry: &Value| text(outcomes.iter().find_map(|at| entry.pointer(at)).unwrap());
    entries.iter().map(|entry| (text(entry.pointer(name).unwrap()), outcome(entry))).collect()
}

fn lines(seen: &Seen) -> Vec<Value> {
    seen.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn strike(simulator: &Simulator, vendor: Vendor, place: Place, fault: &str) {
    simulator.set_fault(Match::vendor(vendor).at(place), Fault::parse(fault).unwrap(), Times::First(1));
}
