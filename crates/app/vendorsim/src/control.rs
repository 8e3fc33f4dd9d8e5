//! The endpoints below `/_sim/`, by which another process scripts faults and sees requests.

use crate::fault::Fault;
use crate::pipeline::State;
use crate::record::RecordedRequest;
use crate::reply::Reply;
use crate::rules::{Match, Rule, Times};
use crate::vendor::Vendor;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Body of `POST /_sim/faults`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewRule {
    #[serde(default)]
    vendor: Option<Vendor>,
    #[serde(default)]
    model: Option<String>,
    fault: String,
    #[serde(default)]
    count: Option<u64>,
    #[serde(default)]
    share: Option<f64>,
}

/// Answers a request below `/_sim/`.
pub(crate) fn handle(state: &State, method: &Method, path: &str, body: &[u8]) -> Reply {
    match (method.as_str(), path) {
        ("GET", "health") => Reply::json(200, &json!({"status": "ok"})),
        ("GET", "faults") => {
            Reply::json(200, &json!({"faults": state.rules.list().iter().map(rule).collect::<Vec<_>>()}))
        }
        ("POST", "faults") => add(state, body),
        ("DELETE", "faults") => {
            state.rules.clear();
            Reply::json(200, &json!({}))
        }
        ("GET", "requests") => Reply::json(200, &requests(state)),
        ("DELETE", "requests") => {
            state.recorder.clear();
            Reply::json(200, &json!({}))
        }
        _ => Reply::json(404, &json!({"error": "no such control endpoint"})),
    }
}

fn add(state: &State, body: &[u8]) -> Reply {
    let refuse = |message: String| Reply::json(400, &json!({"error": message}));
    let new: NewRule = match serde_json::from_slice(body) {
        Ok(new) => new,
        Err(error) => return refuse(error.to_string()),
    };
    let times = match (new.count, new.share) {
        (None, None) => Times::Always,
        (Some(count), None) => Times::First(count),
        (None, Some(share)) if (0.0..=1.0).contains(&share) => Times::Share(share),
        (None, Some(_)) => return refuse("`share` must be from 0 to 1".to_owned()),
        (Some(_), Some(_)) => return refuse("give `count` or `share`, not both".to_owned()),
    };
    match Fault::parse(&new.fault) {
        Ok(fault) => {
            let id = state.rules.add(Match { vendor: new.vendor, model: new.model }, fault, times);
            Reply::json(201, &json!({"id": id}))
        }
        Err(unknown) => refuse(unknown.to_string()),
    }
}

fn rule(rule: &Rule) -> Value {
    let (count, share) = match rule.times {
        Times::Always => (None, None),
        Times::First(count) => (Some(count), None),
        Times::Share(share) => (None, Some(share)),
    };
    json!({
        "id": rule.id, "vendor": rule.matching.vendor, "model": rule.matching.model, "fault": rule.fault.spec(),
        "count": count, "share": share, "seen": rule.seen, "struck": rule.struck,
    })
}

fn requests(state: &State) -> Value {
    let counts: Map<String, Value> = Vendor::ALL
        .iter()
        .map(|vendor| (vendor.name().to_owned(), state.recorder.count(*vendor).into()))
        .collect();
    let requests: Vec<Value> = state.recorder.requests().iter().map(request).collect();
    json!({"total": counts.values().filter_map(Value::as_u64).sum::<u64>(), "counts": counts, "requests": requests})
}

fn request(request: &RecordedRequest) -> Value {
    let headers: Map<String, Value> = request
        .headers
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into()))
        .collect();
    let body = serde_json::from_slice(&request.body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&request.body).into_owned()));
    json!({
        "id": request.id, "vendor": request.vendor, "method": request.method.as_str(), "path": request.path,
        "model": request.model, "headers": headers, "body": body, "fault": request.fault,
        "status": request.status, "outcome": request.outcome,
    })
}
