//! `/v1/messages/batches`.

use super::errors;
use crate::batches::{About, Answered, Batch, Draft, End, Item, ItemEnd, Page, Phase, Plan, Shelf};
use crate::call::Call;
use crate::json::{list as items_of, text, unknown_key};
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::rules::Place;
use crate::vendor::Vendor;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::SystemTime;

const ROOT: &str = "/v1/messages/batches";
/// Most requests and most bytes of a batch.
const MOST: usize = 100_000;
const LARGEST: usize = 256 << 20;

/// What a request is.
pub(crate) fn place_of(method: &Method, path: &str) -> Place {
    let Some(rest) = path.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
        return Place::Call;
    };
    match (method.as_str(), rest) {
        ("POST", "") => Place::Create,
        ("POST", _) => Place::Cancel,
        _ => Place::Read,
    }
}

/// Answers a call below `/v1/messages/batches`.
pub(crate) fn answer(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Result<Reply, Problem> {
    let rest = call.path.strip_prefix(ROOT).unwrap_or_default().trim_start_matches('/');
    let (id, action) = rest.split_once('/').unwrap_or((rest, ""));
    match (call.method.as_str(), id, action) {
        ("POST", "", "") => create(call, shelf, plan),
        ("GET", "", "") => Ok(list(call, shelf)),
        ("GET", _, "") => Ok(Reply::json(200, &object(call, find(shelf, id)?))),
        ("POST", _, "cancel") => {
            let batch = find(shelf, id)?;
            if batch.end().is_some() {
                return Err(Problem::invalid(format!(
                    "Batch {id} cannot be canceled because it has already ended."
                )));
            }
            batch.cancel(call.now, plan.hold);
            Ok(Reply::json(200, &object(call, batch)))
        }
        ("GET", _, "results") => results(find(shelf, id)?),
        ("DELETE", _, "") => delete(shelf, id),
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

/// What a request of a batch may not have beyond what no request may have.
pub(super) fn check_params(call: &Call<'_>) -> Result<(), Problem> {
    let body = call.json()?;
    let refused =
        ["stream", "speed"].iter().find(|name| body.get(**name).is_some_and(|value| *value != json!(false)));
    if let Some(name) = refused {
        return Err(Problem::invalid(format!("{name}: Extra inputs are not permitted")));
    }
    if body.get("max_tokens").and_then(Value::as_u64) == Some(0) {
        return Err(Problem::invalid("max_tokens: must be greater than or equal to 1"));
    }
    Ok(())
}

fn find<'a>(shelf: &'a mut Shelf, id: &str) -> Result<&'a mut Batch, Problem> {
    shelf
        .batch(Vendor::Anthropic, id)
        .ok_or_else(|| Problem::new(Kind::NoPath).saying(format!("Message batch with id `{id}` not found.")))
}

fn create(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Result<Reply, Problem> {
    if call.raw.len() > LARGEST {
        return Err(Problem::new(Kind::TooLarge));
    }
    let body = call.json()?;
    if let Some(name) = unknown_key(body, &["requests"]) {
        return Err(Problem::invalid(format!("{name}: Extra inputs are not permitted")));
    }
    if plan.refuse {
        return Err(Problem::invalid("requests: The batch was refused, as the simulator was told."));
    }
    let requests = items_of(body, "requests");
    if requests.is_empty() {
        return Err(Problem::invalid("requests: List should have at least 1 item after validation, not 0"));
    }
    if requests.len() > MOST {
        let message = format!(
            "requests: List should have at most {MOST} items after validation, not {}",
            requests.len()
        );
        return Err(Problem::invalid(message));
    }
    let mut seen = HashSet::new();
    let items: Vec<Item> = requests
        .iter()
        .enumerate()
        .map(|(n, request)| item(n, request, &mut seen))
        .collect::<Result<_, _>>()?;
    let about = About::default();
    let draft =
        Draft { vendor: Vendor::Anthropic, prefix: "msgbatch_01", about, items, troubles: Vec::new(), plan };
    Ok(Reply::json(200, &object(call, shelf.take(call, draft)?)))
}

fn item<'a>(n: usize, request: &'a Value, seen: &mut HashSet<&'a str>) -> Result<Item, Problem> {
    let at = |field: &str, message: &str| Problem::invalid(format!("requests.{n}.{field}: {message}"));
    if let Some(name) = unknown_key(request, &["custom_id", "params"]) {
        return Err(at(name, "Extra inputs are not permitted"));
    }
    let id = text(request, "custom_id").ok_or_else(|| at("custom_id", "Field required"))?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if id.is_empty() || id.len() > 64 || !id.chars().all(allowed) {
        return Err(at("custom_id", "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"));
    }
    if !seen.insert(id) {
        return Err(at("custom_id", "Duplicate custom_id; each custom_id must be unique within a batch"));
    }
    let params = request.get("params").filter(|params| params.is_object());
    let params = params.ok_or_else(|| at("params", "Field required"))?;
    let item = Item::new(id, text(params, "model").unwrap_or_default(), "/v1/messages", params);
    match item.objection() {
        Some(message) => Err(at("params", message)),
        None => Ok(item),
    }
}

fn delete(shelf: &mut Shelf, id: &str) -> Result<Reply, Problem> {
    if find(shelf, id)?.end().is_none() {
        return Err(Problem::invalid(format!("Batch {id} cannot be deleted while it is still processing.")));
    }
    shelf.batches.retain(|batch| batch.vendor != Vendor::Anthropic || batch.id != id);
    Ok(Reply::json(200, &json!({"id": id, "type": "message_batch_deleted"})))
}

fn list(call: &Call<'_>, shelf: &Shelf) -> Reply {
    let all = shelf.newest(Vendor::Anthropic);
    let limit = call.limit(20, 1000);
    let page = match call.parameter("before_id") {
        Some(before) => Page::before(&all, before, limit, |batch| batch.id.as_str()),
        None => Page::after(&all, call.parameter("after_id"), limit, |batch| batch.id.as_str()),
    };
    let data: Vec<Value> = page.items.iter().map(|batch| object(call, batch)).collect();
    Reply::json(
        200,
        &json!({
            "data": data, "has_more": page.more,
            "first_id": page.items.first().map(|batch| batch.id.as_str()),
            "last_id": page.items.last().map(|batch| batch.id.as_str()),
        }),
    )
}

fn object(call: &Call<'_>, batch: &Batch) -> Value {
    let ended = batch.end().is_some();
    let counts = batch.counts();
    // Nothing is told before the end.
    let told = |count: usize| if ended { count } else { 0 };
    let host = call.header("host").unwrap_or("api.anthropic.com");
    let results = format!("http://{host}/anthropic{ROOT}/{}/results", batch.id);
    json!({
        "id": batch.id, "type": "message_batch",
        "processing_status": match batch.phase {
            Phase::Running => "in_progress",
            Phase::Cancelling => "canceling",
            Phase::Ended(_) => "ended",
        },
        "request_counts": {
            "processing": if ended { 0 } else { counts.total }, "succeeded": told(counts.succeeded),
            "errored": told(counts.errored), "canceled": told(counts.cancelled), "expired": told(counts.expired),
        },
        "ended_at": batch.ended.map(|time| written(time, 0)), "created_at": written(batch.created, 0),
        "expires_at": written(batch.created, 24), "archived_at": null,
        "cancel_initiated_at": batch.cancelled.map(|time| written(time, 0)),
        "results_url": ended.then_some(results),
    })
}

/// A time so many hours later, as Anthropic writes it.
fn written(time: SystemTime, hours: i64) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default();
    let time = time.checked_add(SignedDuration::from_hours(hours)).unwrap_or(time);
    time.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string()
}

fn results(batch: &Batch) -> Result<Reply, Problem> {
    if batch.end().is_none_or(|end| end == End::Refused) {
        return Err(Problem::invalid(format!("Batch {} has no results yet: it has not ended.", batch.id)));
    }
    let mut lines = String::new();
    for item in batch.shuffled() {
        lines.push_str(&json!({"custom_id": item.id, "result": result(item)}).to_string());
        lines.push('\n');
    }
    Ok(Reply::whole(200, "application/x-jsonl", lines))
}

fn result(item: &Item) -> Value {
    match &item.end {
        Some(ItemEnd::Answered(answered)) if answered.succeeded() => {
            json!({"type": "succeeded", "message": answered.json()})
        }
        Some(ItemEnd::Answered(answered)) => json!({"type": "errored", "error": error(answered)}),
        Some(ItemEnd::Cancelled) => json!({"type": "canceled"}),
        Some(ItemEnd::Expired) | None => json!({"type": "expired"}),
    }
}

/// The error of an item; what is no error of Anthropic's (a proxy's page) is an internal one.
fn error(answered: &Answered) -> Value {
    let error = answered.json();
    if error.is_object() {
        error
    } else {
        errors::error("api_error", "Internal server error", &answered.request_id)
    }
}
