//! The endpoints below `/_sim/`, by which another process scripts faults and sees requests.

use crate::batches::{SubmittedBatch, SubmittedItem};
use crate::fault::Fault;
use crate::pipeline::State;
use crate::record::RecordedRequest;
use crate::reply::Reply;
use crate::rules::{Match, Place, Rule, Times};
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
    #[serde(default)]
    place: Option<Place>,
    fault: String,
    #[serde(default)]
    count: Option<u64>,
    #[serde(default)]
    share: Option<f64>,
}

/// Body of `POST /_sim/batches/release`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    #[serde(default)]
    id: Option<String>,
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
        ("GET", "batches") => Reply::json(200, &batches(state)),
        ("POST", "batches/release") => release(state, body),
        ("DELETE", "batches") => {
            state.desk.lock().clear();
            Reply::json(200, &json!({}))
        }
        _ => Reply::json(404, &json!({"error": "no such control endpoint"})),
    }
}

fn refuse(message: &str) -> Reply {
    Reply::json(400, &json!({"error": message}))
}

fn add(state: &State, body: &[u8]) -> Reply {
    let new: NewRule = match serde_json::from_slice(body) {
        Ok(new) => new,
        Err(error) => return refuse(&error.to_string()),
    };
    let times = match (new.count, new.share) {
        (None, None) => Times::Always,
        (Some(count), None) => Times::First(count),
        (None, Some(share)) if (0.0..=1.0).contains(&share) => Times::Share(share),
        (None, Some(_)) => return refuse("`share` must be from 0 to 1"),
        (Some(_), Some(_)) => return refuse("give `count` or `share`, not both"),
    };
    match Fault::parse(&new.fault) {
        Ok(fault) => {
            let matching = Match { vendor: new.vendor, model: new.model, place: new.place };
            let id = state.rules.add(matching, fault, times);
            Reply::json(201, &json!({"id": id}))
        }
        Err(unknown) => refuse(&unknown.to_string()),
    }
}

fn release(state: &State, body: &[u8]) -> Reply {
    let asked = if body.is_empty() { Ok(Release::default()) } else { serde_json::from_slice(body) };
    match asked {
        Ok(Release { id }) => {
            let released = state.desk.lock().release(id.as_deref());
            Reply::json(200, &json!({"released": released}))
        }
        Err(error) => refuse(&error.to_string()),
    }
}

fn batches(state: &State) -> Value {
    let shelf = state.desk.lock();
    let counts: Map<String, Value> = Vendor::ALL
        .iter()
        .zip(shelf.handed_over)
        .map(|(vendor, (batches, items))| {
            let counts = json!({"batches": batches, "items": items, "files": shelf.files_of(*vendor)});
            (vendor.name().to_owned(), counts)
        })
        .collect();
    json!({"counts": counts, "batches": shelf.submitted().iter().map(batch).collect::<Vec<_>>()})
}

fn batch(batch: &SubmittedBatch) -> Value {
    let item = |item: &SubmittedItem| {
        let body: Value = serde_json::from_slice(&item.body).unwrap_or_default();
        json!({"id": item.id, "model": item.model, "body": body, "outcome": item.outcome})
    };
    json!({
        "vendor": batch.vendor, "id": batch.id, "name": batch.name, "metadata": batch.metadata, "state": batch.state,
        "held": batch.held, "items": batch.items.iter().map(item).collect::<Vec<_>>(),
    })
}

fn rule(rule: &Rule) -> Value {
    let (count, share) = match rule.times {
        Times::Always => (None, None),
        Times::First(count) => (Some(count), None),
        Times::Share(share) => (None, Some(share)),
    };
    json!({
        "id": rule.id, "vendor": rule.matching.vendor, "model": rule.matching.model,
        "place": rule.matching.place, "fault": rule.fault.spec(),
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
