//! `:batchGenerateContent`, `:asyncBatchEmbedContent` and `/v1beta/batches`.

use super::fields::{check, get, list as items_of, text};
use super::{files, model_in_path, models};
use crate::batches::{
    About, Answered, Batch, Draft, End, Item, ItemEnd, NewFile, Page, Phase, Plan, Shelf, Trouble,
};
use crate::call::Call;
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::vendor::Vendor;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use std::time::SystemTime;

/// Largest batch that comes within its request.
const LARGEST: usize = 20 << 20;
const TYPES: &str = "type.googleapis.com/google.ai.generativelanguage.v1main.";
const GENERATE: &str = "generateContent";
const EMBED: &str = "embedContent";

/// Takes a batch.
pub(super) fn create(call: &Call<'_>, shelf: &mut Shelf, action: &str, plan: Plan) -> Result<Reply, Problem> {
    let endpoint = if action == "batchGenerateContent" { GENERATE } else { EMBED };
    if models::find(&call.model)?.embeds != (endpoint == EMBED) {
        let message = format!(
            "models/{} is not found for API version v1beta, or is not supported for {action}.",
            call.model
        );
        return Err(Problem::new(Kind::NoModel).saying(message));
    }
    let body = call.json()?;
    check(body, "", &["batch"])?;
    let batch = get(body, "batch").ok_or_else(|| Problem::invalid("* batch: batch is not specified\n"))?;
    check(batch, "batch", &["name", "model", "displayName", "priority", "inputConfig", "webhookConfig"])?;
    let input = get(batch, "inputConfig");
    let input =
        input.ok_or_else(|| Problem::invalid("* batch.input_config: input_config is not specified\n"))?;
    check(input, "batch.input_config", &["requests", "fileName"])?;
    let file = text(input, "fileName");
    let (items, troubles) = match (file, get(input, "requests")) {
        (Some(file), None) => from_file(call, endpoint, &files::find(shelf, file)?.new.content),
        (None, Some(_)) if call.raw.len() > LARGEST => return Err(Problem::new(Kind::TooLarge)),
        (None, Some(requests)) => (inlined(call, endpoint, requests)?, Vec::new()),
        _ => return Err(Problem::invalid("* batch.input_config: exactly one source must be specified\n")),
    };
    let about = About {
        name: text(batch, "displayName").unwrap_or_default().to_owned(),
        model: call.model.clone(),
        endpoint: endpoint.to_owned(),
        input_file: file.map(str::to_owned),
        ..About::default()
    };
    let draft = Draft { vendor: Vendor::Gemini, prefix: "batches/", about, items, troubles, plan };
    Ok(Reply::json(200, &operation(shelf.take(call, draft)?)))
}

/// Answers a call below `/v1beta/batches`; `rest` is what follows.
pub(super) fn answer(call: &Call<'_>, shelf: &mut Shelf, rest: &str, plan: Plan) -> Result<Reply, Problem> {
    let (name, action) = rest.split_once(':').unwrap_or((rest, ""));
    let id = format!("batches/{name}");
    match (call.method.as_str(), name, action) {
        ("GET", "", "") => Ok(list(call, shelf)),
        ("GET", _, "") => Ok(Reply::json(200, &operation(find(shelf, &id)?))),
        ("POST", _, "cancel") => {
            find(shelf, &id)?.cancel(call.now, plan.hold);
            Ok(Reply::json(200, &json!({})))
        }
        ("DELETE", _, "") => {
            find(shelf, &id)?;
            shelf.batches.retain(|batch| batch.vendor != Vendor::Gemini || batch.id != id);
            Ok(Reply::json(200, &json!({})))
        }
        _ => Err(Problem::new(Kind::NoPath)),
    }
}

/// A time so many hours later, as Google writes it.
pub(super) fn written(time: SystemTime, hours: i64) -> String {
    let time = Timestamp::try_from(time).unwrap_or_default();
    let time = time.checked_add(SignedDuration::from_hours(hours)).unwrap_or(time);
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

fn find<'a>(shelf: &'a mut Shelf, id: &str) -> Result<&'a mut Batch, Problem> {
    let missing = || Problem::new(Kind::NoModel).saying("Requested entity was not found.");
    shelf.batch(Vendor::Gemini, id).ok_or_else(missing)
}

fn item(call: &Call<'_>, endpoint: &str, key: &str, request: &Value) -> Item {
    let path = format!("/v1beta/models/{}:{endpoint}", call.model);
    Item::new(key, model_in_path(call.path), path, request)
}

fn inlined(call: &Call<'_>, endpoint: &str, requests: &Value) -> Result<Vec<Item>, Problem> {
    let read = |(n, entry): (usize, &Value)| {
        let at = format!("batch.input_config.requests.requests[{n}]");
        check(entry, &at, &["request", "metadata"])?;
        let key = get(entry, "metadata").and_then(|metadata| text(metadata, "key")).unwrap_or_default();
        let request = get(entry, "request")
            .ok_or_else(|| Problem::invalid(format!("* {at}.request: is not specified\n")))?;
        let item = item(call, endpoint, key, request);
        match item.objection() {
            Some(message) => Err(Problem::invalid(format!("* {at}.request: {message}\n"))),
            None => Ok(item),
        }
    };
    let items: Vec<Item> =
        items_of(requests, "requests").iter().enumerate().map(read).collect::<Result<_, _>>()?;
    if items.is_empty() {
        return Err(Problem::invalid("* batch.input_config.requests: at least one request is required\n"));
    }
    Ok(items)
}

fn from_file(call: &Call<'_>, endpoint: &str, content: &[u8]) -> (Vec<Item>, Vec<Trouble>) {
    let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let read = |line: &[u8]| {
        let line: Value = serde_json::from_slice(line).ok()?;
        Some(item(call, endpoint, text(&line, "key").unwrap_or_default(), get(&line, "request")?))
    };
    match lines.map(read).collect::<Option<Vec<Item>>>() {
        Some(items) if !items.is_empty() => (items, Vec::new()),
        _ => {
            let message = "Input file could not be parsed.".to_owned();
            (Vec::new(), vec![Trouble { code: "invalid_argument", message, line: None, param: None }])
        }
    }
}

fn list(call: &Call<'_>, shelf: &Shelf) -> Reply {
    let size = call.parameter("pageSize").and_then(|size| size.parse().ok()).unwrap_or(50).clamp(1, 1000);
    let all = shelf.newest(Vendor::Gemini);
    let token = call.parameter("pageToken").map(|token| format!("batches/{token}"));
    let page = Page::after(&all, token.as_deref(), size, |batch| batch.id.as_str());
    let operations: Vec<Value> = page.items.iter().map(|batch| operation(batch)).collect();
    let mut body = json!({"operations": operations});
    if let Some(last) = page.items.last().filter(|_| page.more) {
        body["nextPageToken"] = last.id.trim_start_matches("batches/").into();
    }
    Reply::json(200, &body)
}

fn state(batch: &Batch) -> &'static str {
    match batch.phase {
        Phase::Running if batch.is_validating() => "BATCH_STATE_PENDING",
        Phase::Running | Phase::Cancelling => "BATCH_STATE_RUNNING",
        Phase::Ended(End::Cancelled) => "BATCH_STATE_CANCELLED",
        // A batch that took too long leaves no results; one item that did fails alone.
        Phase::Ended(End::Expired) if output(batch).is_none() => "BATCH_STATE_EXPIRED",
        Phase::Ended(End::Done | End::Expired) => "BATCH_STATE_SUCCEEDED",
        Phase::Ended(End::Refused) => "BATCH_STATE_FAILED",
    }
}

fn operation(batch: &Batch) -> Value {
    let kind = if batch.about.endpoint == EMBED { "EmbedContentBatch" } else { "GenerateContentBatch" };
    let mut metadata = json!({
        "@type": format!("{TYPES}{kind}"), "model": format!("models/{}", batch.about.model),
        "displayName": batch.about.name, "createTime": written(batch.created, 0),
        "updateTime": written(batch.ended.unwrap_or(batch.created), 0), "batchStats": stats(batch),
        "state": state(batch), "name": batch.id,
    });
    let mut operation = json!({"name": batch.id});
    if let Some(ended) = batch.ended {
        metadata["endTime"] = written(ended, 0).into();
        operation["done"] = true.into();
    }
    if let Some(output) = output(batch) {
        metadata["output"] = output.clone();
        operation["response"] = output;
        operation["response"]["@type"] = format!("{TYPES}{kind}Output").into();
    } else if let Some(error) = error_of(batch) {
        operation["error"] = error;
    }
    operation["metadata"] = metadata;
    operation
}

/// Counts, as texts; what is 0 is left out.
fn stats(batch: &Batch) -> Map<String, Value> {
    let mut counts = batch.counts();
    if batch.end() == Some(End::Refused) {
        (counts.pending, counts.cancelled) = (counts.total, 0);
    }
    let failed = counts.errored + counts.expired + counts.cancelled;
    [
        ("requestCount", counts.total),
        ("successfulRequestCount", counts.succeeded),
        ("failedRequestCount", failed),
        ("pendingRequestCount", counts.pending),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(name, count)| (name.to_owned(), count.to_string().into()))
    .collect()
}

/// Why there are no results.
fn error_of(batch: &Batch) -> Option<Value> {
    let (code, message) = match batch.end()? {
        End::Done => return None,
        End::Cancelled => (1, "The operation was cancelled."),
        End::Expired => (4, "The batch expired before it was completed."),
        End::Refused => (3, batch.troubles.first().map_or("", |trouble| trouble.message.as_str())),
    };
    Some(json!({"code": code, "message": message}))
}

/// The results, where there are any.
fn output(batch: &Batch) -> Option<Value> {
    // Whether all was done in time, but for items that never come to an end.
    let through = batch.end() == Some(End::Done) || batch.end() == Some(End::Expired) && !batch.was_cut();
    if !through {
        return None;
    }
    if let Some(file) = &batch.about.output_file {
        return Some(json!({"responsesFile": file}));
    }
    let inlined = batch.items.iter().map(|item| {
        let mut entry = result(item);
        if !item.id.is_empty() {
            entry["metadata"] = json!({"key": item.id});
        }
        entry
    });
    Some(json!({"inlinedResponses": {"inlinedResponses": inlined.collect::<Vec<_>>()}}))
}

fn result(item: &Item) -> Value {
    match &item.end {
        Some(ItemEnd::Answered(answered)) if answered.succeeded() => json!({"response": answered.json()}),
        Some(ItemEnd::Answered(answered)) => json!({"error": error(answered)}),
        _ => json!({"error": {"code": 4, "message": "Deadline expired before operation could complete."}}),
    }
}

/// An error with gRPC's number for it.
fn error(answered: &Answered) -> Value {
    let body = answered.json();
    let name = body.pointer("/error/status").and_then(Value::as_str).unwrap_or_default();
    let code = match name {
        "INVALID_ARGUMENT" => 3,
        "DEADLINE_EXCEEDED" => 4,
        "NOT_FOUND" => 5,
        "PERMISSION_DENIED" => 7,
        "RESOURCE_EXHAUSTED" => 8,
        "FAILED_PRECONDITION" => 9,
        "UNAVAILABLE" => 14,
        "UNAUTHENTICATED" => 16,
        _ => 13,
    };
    let message =
        body.pointer("/error/message").and_then(Value::as_str).unwrap_or("Internal error encountered.");
    json!({"code": code, "message": message})
}

/// The file with the results of a batch that came in a file.
pub(crate) fn files_of(batch: &mut Batch) -> Vec<(String, NewFile)> {
    if batch.about.input_file.is_none() || output(batch).is_none() {
        return Vec::new();
    }
    let mut lines = String::new();
    for item in batch.shuffled() {
        let mut line = result(item);
        line["key"] = item.id.as_str().into();
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    let id = batch.id.replacen("batches/", "files/batch-", 1);
    batch.about.output_file = Some(id.clone());
    let new = NewFile {
        name: id.clone(),
        purpose: files::GENERATED.to_owned(),
        content_type: "application/jsonl".to_owned(),
        content: lines.into(),
        promised: None,
    };
    vec![(id, new)]
}
