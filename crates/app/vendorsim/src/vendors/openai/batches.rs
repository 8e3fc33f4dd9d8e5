//! `/v1/batches`.

use super::files::seconds;
use super::models;
use crate::batches::{self, About, Batch, Draft, End, Line, Page, Phase, Plan, Shelf, Trouble};
use crate::call::Call;
use crate::json::{present, text};
use crate::problem::{Kind, Problem};
use crate::reply::Reply;
use crate::vendor::Vendor;
use serde_json::{Map, Value, json};

/// Where requests may go. Of these only the first three are simulated.
const ENDPOINTS: [&str; 5] =
    ["/v1/responses", "/v1/chat/completions", "/v1/embeddings", "/v1/completions", "/v1/moderations"];
const WINDOW: u64 = 24 * 3600;

/// Answers a call below `/v1/batches`.
pub(crate) fn answer(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Result<Reply, Problem> {
    let rest = call.path.strip_prefix("/v1/batches").unwrap_or_default().trim_start_matches('/');
    let (id, action) = rest.split_once('/').unwrap_or((rest, ""));
    match (call.method.as_str(), id, action) {
        ("POST", "", "") => create(call, shelf, plan),
        ("GET", "", "") => Ok(list(call, shelf)),
        ("GET", _, "") => Ok(Reply::json(200, &object(find(shelf, id)?))),
        ("POST", _, "cancel") => cancel(call, find(shelf, id)?, plan),
        _ => Err(Problem::new(Kind::NoPath).saying(format!("Invalid URL ({} {})", call.method, call.path))),
    }
}

fn find<'a>(shelf: &'a mut Shelf, id: &str) -> Result<&'a mut Batch, Problem> {
    let missing =
        Problem { status: Some(404), ..Problem::invalid(format!("No batch found with id '{id}'.")) };
    shelf.batch(Vendor::Openai, id).ok_or(missing)
}

fn create(call: &Call<'_>, shelf: &mut Shelf, plan: Plan) -> Result<Reply, Problem> {
    let body = call.json()?;
    let required = |field: &'static str| {
        text(body, field).ok_or_else(|| {
            Problem::field(field, format!("Missing required parameter: '{field}'."))
                .coded("missing_required_parameter")
        })
    };
    let (file, endpoint) = (required("input_file_id")?, required("endpoint")?);
    if !ENDPOINTS.contains(&endpoint) {
        return Err(invalid_value("endpoint", endpoint, &ENDPOINTS));
    }
    let window = required("completion_window")?;
    if window != "24h" {
        return Err(invalid_value("completion_window", window, &["24h"]));
    }
    let metadata = present(body, "metadata").cloned().unwrap_or(Value::Null);
    check_metadata(&metadata)?;
    let input = shelf.file(Vendor::Openai, file).ok_or_else(|| {
        Problem::field("input_file_id", format!("No such File object: {file}")).coded("invalid_value")
    })?;
    if input.new.purpose != "batch" {
        let message = format!("Invalid input file purpose: '{}'. It must be 'batch'.", input.new.purpose);
        return Err(Problem::field("input_file_id", message));
    }
    let mut first = String::new();
    let (items, troubles) =
        batches::read_lines(&input.new.content.clone(), |line| check_line(line, endpoint, &mut first));
    let about = About {
        metadata,
        model: first,
        endpoint: endpoint.to_owned(),
        input_file: Some(file.to_owned()),
        ..About::default()
    };
    let draft = Draft { vendor: Vendor::Openai, prefix: "batch_", about, items, troubles, plan };
    Ok(Reply::json(200, &object(shelf.take(call, draft)?)))
}

fn invalid_value(field: &str, value: &str, allowed: &[&str]) -> Problem {
    let allowed: Vec<String> = allowed.iter().map(|value| format!("'{value}'")).collect();
    let message = format!("Invalid value: '{value}'. Supported values are: {}.", allowed.join(", "));
    Problem::field(field, message).coded("invalid_value")
}

fn check_metadata(metadata: &Value) -> Result<(), Problem> {
    let invalid = |message: &str| Err(Problem::field("metadata", format!("Invalid 'metadata': {message}.")));
    match metadata {
        Value::Null => Ok(()),
        Value::Object(pairs) if pairs.len() > 16 => invalid("at most 16 pairs are allowed"),
        Value::Object(pairs) => {
            let fits = |(key, value): (&String, &Value)| {
                key.len() <= 64 && value.as_str().is_some_and(|value| value.len() <= 512)
            };
            if pairs.iter().all(fits) {
                Ok(())
            } else {
                invalid("keys are strings of at most 64 characters, values of at most 512")
            }
        }
        _ => invalid("an object is expected"),
    }
}

/// What OpenAI has against a line: all of a file go to one endpoint and one model.
fn check_line(line: &Line<'_>, endpoint: &str, first: &mut String) -> Option<Trouble> {
    if line.url != endpoint {
        let message = format!(
            "The URL provided for this request does not match the batch endpoint: '{}' is not '{endpoint}'.",
            line.url
        );
        return Some(line.trouble("invalid_url", "url", message));
    }
    if models::find(line.model).is_err() {
        let message = format!("The provided model '{}' is not supported by the Batch API.", line.model);
        return Some(line.trouble("model_not_found", "body.model", message));
    }
    if first.is_empty() {
        line.model.clone_into(first);
    }
    (line.model != first.as_str()).then(|| {
        let message = format!(
            "The provided model '{}' does not match the first model '{first}' used in the batch. Each batch must \
             contain requests for a single model.",
            line.model
        );
        line.trouble("mismatched_model", "body.model", message)
    })
}

fn cancel(call: &Call<'_>, batch: &mut Batch, plan: Plan) -> Result<Reply, Problem> {
    if batch.end().is_some() {
        let message = format!("Cannot cancel a batch with status '{}'.", status(batch));
        return Err(Problem { status: Some(409), ..Problem::invalid(message) });
    }
    batch.cancel(call.now, plan.hold);
    Ok(Reply::json(200, &object(batch)))
}

fn list(call: &Call<'_>, shelf: &Shelf) -> Reply {
    let all = shelf.newest(Vendor::Openai);
    let page = Page::after(&all, call.parameter("after"), call.limit(20, 100), |batch| batch.id.as_str());
    let data: Vec<Value> = page.items.iter().map(|batch| object(batch)).collect();
    Reply::json(
        200,
        &json!({
            "object": "list", "data": data, "has_more": page.more,
            "first_id": page.items.first().map(|batch| batch.id.as_str()),
            "last_id": page.items.last().map(|batch| batch.id.as_str()),
        }),
    )
}

fn status(batch: &Batch) -> &'static str {
    match batch.phase {
        Phase::Running if batch.is_validating() => "validating",
        Phase::Running => "in_progress",
        Phase::Cancelling => "cancelling",
        Phase::Ended(End::Done) => "completed",
        Phase::Ended(End::Cancelled) => "cancelled",
        Phase::Ended(End::Expired) => "expired",
        Phase::Ended(End::Refused) => "failed",
    }
}

fn object(batch: &Batch) -> Value {
    let about = &batch.about;
    let refused = batch.end() == Some(End::Refused);
    let counted = !refused && !batch.is_validating();
    let counts = if counted { batch.counts() } else { Default::default() };
    let created = seconds(batch.created);
    let mut object = json!({
        "id": batch.id, "object": "batch", "endpoint": about.endpoint, "model": about.model,
        "errors": if refused { errors(batch) } else { Value::Null },
        "input_file_id": about.input_file, "completion_window": "24h", "status": status(batch),
        "output_file_id": about.output_file, "error_file_id": about.error_file,
        "created_at": created, "in_progress_at": counted.then_some(created), "expires_at": created + WINDOW,
        "cancelling_at": batch.cancelled.map(seconds),
        "request_counts": {
            "total": counts.total, "completed": counts.succeeded,
            "failed": counts.errored + counts.cancelled + counts.expired,
        },
        "metadata": about.metadata,
    });
    if let Some(members) = object.as_object_mut() {
        members.extend(ends(batch));
    }
    if batch.end() == Some(End::Done) {
        object["usage"] = about.usage.clone();
    }
    object
}

/// When it ended, under the name of the way in which it did.
fn ends(batch: &Batch) -> Map<String, Value> {
    let ended = batch.ended.map(seconds);
    let at = |ends: &[End]| json!(ended.filter(|_| batch.end().is_some_and(|end| ends.contains(&end))));
    [
        ("finalizing_at", at(&[End::Done, End::Expired])),
        ("completed_at", at(&[End::Done])),
        ("failed_at", at(&[End::Refused])),
        ("expired_at", at(&[End::Expired])),
        ("cancelled_at", at(&[End::Cancelled])),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into_iter()
    .collect()
}

fn errors(batch: &Batch) -> Value {
    let error = |trouble: &Trouble| {
        json!({
            "code": trouble.code, "message": trouble.message, "param": trouble.param, "line": trouble.line,
        })
    };
    json!({"object": "list", "data": batch.troubles.iter().map(error).collect::<Vec<_>>()})
}
