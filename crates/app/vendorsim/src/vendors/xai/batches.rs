//! xAI's `/v1/batches`: no status, only counts, and results that can be read while they come.

use crate::batches::{self, About, Answered, Batch, Draft, End, Item, ItemEnd, Page, Plan, Shelf, Trouble};
use crate::call::Call;
use crate::json::{list as items_of, text};
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::vendor::Vendor;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::time::SystemTime;

/// Models that take batches, by the start of their ids.
const SERVED: [&str; 3] = ["grok-4.3", "grok-4.20", "grok-4.7"];
/// Names of endpoints in requests and results, and their paths.
const ENDPOINTS: [(&str, &str); 2] =
    [("chat_get_completion", "/v1/chat/completions"), ("responses", "/v1/responses")];
/// Days until a batch is given up on.
const DAYS: i64 = 7;
/// What a token costs in ticks, of which a dollar has ten thousand million: only for show.
const TICKS_PER_TOKEN: u64 = 8_000;

/// Answers a call below `/v1/batches`.
pub(crate) fn answer(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Result<Reply, Problem> {
    let rest = call.path.strip_prefix("/v1/batches").unwrap_or_default().trim_start_matches('/');
    let (id, action) = rest.split_once(['/', ':']).unwrap_or((rest, ""));
    match (call.method.as_str(), id, action) {
        ("POST", "", "") => create(call, shelf, plan),
        ("GET", "", "") => Ok(list(call, shelf)),
        ("GET", _, "") => Ok(Reply::json(200, &object(find(shelf, id)?))),
        ("GET", _, "results") => Ok(results(call, find(shelf, id)?)),
        ("POST", _, "requests") => add(call, shelf, id),
        ("POST", _, "cancel") => {
            let batch = find(shelf, id)?;
            batch.cancel(call.now, plan.hold);
            Ok(Reply::json(200, &object(batch)))
        }
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

/// Only some models take batches.
pub(super) fn check_model(model: &str) -> Result<(), Problem> {
    if SERVED.iter().any(|family| model.starts_with(family)) {
        return Ok(());
    }
    Err(Problem::invalid(format!("Model {model} does not support batch requests.")))
}

fn find<'a>(shelf: &'a mut Shelf, id: &str) -> Result<&'a mut Batch, Problem> {
    shelf
        .batch(Vendor::Xai, id)
        .ok_or_else(|| Problem::new(Kind::NoPath).saying(format!("Batch {id} was not found.")))
}

fn create(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Result<Reply, Problem> {
    let body = call.json()?;
    let name = text(body, "name")
        .ok_or_else(|| super::undeserializable("missing field `name` at line 1 column 2"))?;
    let file = text(body, "input_file_id").map(str::to_owned);
    let (items, troubles) = match &file {
        None => (Vec::new(), Vec::new()),
        Some(id) => {
            let input = shelf.file(Vendor::Xai, id);
            let missing = || Problem::new(Kind::NoPath).saying(format!("File {id} was not found."));
            batches::read_lines(&input.ok_or_else(missing)?.new.content.clone(), |line| {
                let known = ENDPOINTS.iter().any(|(_, path)| *path == line.url);
                (!known).then(|| line.trouble("invalid_url", "url", format!("unsupported url {}", line.url)))
            })
        }
    };
    let about = About { name: name.to_owned(), input_file: file, ..About::default() };
    let draft = Draft { vendor: Vendor::Xai, prefix: "batch_", about, items, troubles, plan };
    Ok(Reply::json(200, &object(shelf.take(call, draft)?)))
}

/// Adds requests to a batch that was created empty.
fn add(call: &Call<'_>, shelf: &mut Shelf, id: &str) -> Result<Reply, Problem> {
    let batch = find(shelf, id)?;
    if batch.about.input_file.is_some()
        || batch.cancelled.is_some()
        || batch.end().is_some_and(|end| end != End::Done)
    {
        return Err(Problem::invalid(
            "Requests can only be added to a batch that was created empty and is not cancelled.",
        ));
    }
    let mut ids: Vec<&str> = batch.items.iter().map(|item| item.id.as_str()).collect();
    let mut items = Vec::new();
    for request in items_of(call.json()?, "batch_requests") {
        let item = added(request)?;
        if ids.contains(&item.id.as_str()) {
            return Err(Problem::invalid(format!("Duplicate batch_request_id {}", item.id)));
        }
        ids.extend(text(request, "batch_request_id"));
        items.push(item);
    }
    shelf.add(Vendor::Xai, id, items);
    Ok(Reply::json(200, &json!({})))
}

fn added(request: &Value) -> Result<Item, Problem> {
    let id =
        text(request, "batch_request_id").ok_or_else(|| Problem::invalid("batch_request_id is required"))?;
    let asked = request.get("batch_request").unwrap_or(&Value::Null);
    let known = ENDPOINTS.iter().find_map(|(name, path)| Some((*path, asked.get(*name)?)));
    let (path, body) =
        known.ok_or_else(|| Problem::invalid(format!("batch_request of {id} is empty or unknown")))?;
    Ok(Item::new(id, text(body, "model").unwrap_or_default(), path, body))
}

fn list(call: &Call<'_>, shelf: &Shelf) -> Reply {
    let all = shelf.newest(Vendor::Xai);
    let page = Page::at(&all, place(call), call.limit(100, 1000));
    let batches: Vec<Value> = page.items.iter().map(|batch| object(batch)).collect();
    Reply::json(
        200,
        &json!({"batches": batches, "pagination_token": token(call, page.items.len(), page.more)}),
    )
}

/// The place that a token stands for.
fn place(call: &Call<'_>) -> usize {
    let token = call.parameter("pagination_token").and_then(|token| token.strip_prefix("tok"));
    token.and_then(|place| place.parse().ok()).unwrap_or(0)
}

/// The token of the page after one with so many entries.
fn token(call: &Call<'_>, entries: usize, more: bool) -> Option<String> {
    more.then(|| format!("tok{}", place(call) + entries))
}

fn object(batch: &Batch) -> Value {
    let refused = batch.end() == Some(End::Refused);
    // A file is counted once it has been looked through.
    let validating = batch.is_validating() && batch.about.input_file.is_some();
    let counts = if validating { Default::default() } else { batch.counts() };
    let stopped = batch.cancelled.or_else(|| batch.ended.filter(|_| refused || counts.expired > 0));
    let mut object = json!({
        "batch_id": batch.id, "name": batch.about.name, "create_time": day(batch.created, 0),
        "expire_time": day(batch.created, DAYS), "create_api_key_id": "key-1",
        "cancel_time": stopped.map(|time| day(time, 0)),
        "cancel_by_xai_message": cancelled_by_xai(batch, counts.expired),
        "state": {
            "num_requests": counts.total, "num_pending": counts.pending, "num_success": counts.succeeded,
            "num_error": counts.errored, "num_cancelled": counts.cancelled + counts.expired,
        },
        "input_file_id": batch.about.input_file,
    });
    if batch.end().is_some() && !refused {
        object["cost_breakdown"] = json!({"total_cost_usd_ticks": cost(batch)});
    }
    object
}

/// Why xAI stopped it by itself.
fn cancelled_by_xai(batch: &Batch, expired: usize) -> Option<String> {
    if batch.end() == Some(End::Refused) {
        let reason = |trouble: &Trouble| match trouble.line {
            Some(line) => format!(": line {line}: {}", trouble.message),
            None => format!(": {}", trouble.message),
        };
        let why = batch.troubles.first().map(reason).unwrap_or_default();
        return Some(format!("Input file failed validation{why}"));
    }
    (expired > 0).then(|| "Batch expired before all requests were completed".to_owned())
}

/// A bare date: no time of day comes over REST.
fn day(time: SystemTime, days: i64) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default();
    let time = time.checked_add(SignedDuration::from_hours(days * 24)).unwrap_or(time);
    time.strftime("%Y-%m-%d").to_string()
}

fn cost(batch: &Batch) -> u64 {
    let tokens = |item: &Item| match &item.end {
        Some(ItemEnd::Answered(answered)) => {
            answered.json().pointer("/usage/total_tokens").and_then(Value::as_u64).unwrap_or(0)
        }
        _ => 0,
    };
    batch.items.iter().map(tokens).sum::<u64>() * TICKS_PER_TOKEN
}

/// Results in the order in which they came, so that pages stay as they are while more come.
fn results(call: &Call<'_>, batch: &Batch) -> Reply {
    let answered = |item: &&Item| matches!(item.end, Some(ItemEnd::Answered(_)));
    let all: Vec<&Item> = batch.items.iter().filter(answered).collect();
    let page = Page::at(&all, place(call), call.limit(100, 1000));
    let results: Vec<Value> = page.items.iter().filter_map(|item| result(item)).collect();
    Reply::json(
        200,
        &json!({"results": results, "pagination_token": token(call, page.items.len(), page.more)}),
    )
}

fn result(item: &Item) -> Option<Value> {
    let Some(ItemEnd::Answered(answered)) = &item.end else { return None };
    let endpoint = ENDPOINTS.iter().find(|(_, path)| *path == item.path).map_or("", |(name, _)| *name);
    let result = if answered.succeeded() {
        json!({"response": {endpoint: answered.json()}})
    } else {
        json!({"error": error(answered)})
    };
    Some(json!({"batch_request_id": item.id, "batch_result": result}))
}

/// An error with gRPC's number for it.
fn error(answered: &Answered) -> Value {
    let code = match answered.status {
        401 => 16,
        403 => 7,
        404 => 5,
        429 => 8,
        503 => 14,
        504 => 4,
        400..500 => 3,
        _ => 13,
    };
    let body = answered.json();
    let message = text(&body, "error").or_else(|| body.as_str()).unwrap_or("Internal error").to_owned();
    json!({"code": code, "message": message})
}
