//! Batches: a file of lines goes up, and one or two come back. All lines go to one endpoint, with one model.

use super::{OpenAi, errors};
use crate::batch::{
    BatchCodec, BatchPage, Finding, JsonTools, NewBatch, NewBatchCall, ResultSource, one_line, page,
};
use crate::codec::{Codec, EncodedCall, ResponseHead};
use crate::json;
use crate::urls::in_url;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use signalbox_ports::vendor_batch::{BatchLimits, ItemOutcome, ItemResult, VendorBatch, VendorBatchState};
use signalbox_types::{Failure, ModelFacts, OpenAiEndpoint};
use std::{
    borrow::Cow,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// The window that all batches have.
const WINDOW: &str = "24h";
/// How long results are kept there, in seconds: a week, by which they have long been fetched.
const KEPT: u32 = 7 * 86_400;

/// A line of the file that goes up.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a> {
    custom_id: &'a str,
    method: &'static str,
    url: &'a str,
    body: &'a RawValue,
}

impl<'a> Line<'a> {
    /// An item as a line, with its end.
    pub(crate) fn write(key: &'a str, call: &'a EncodedCall) -> Result<Vec<u8>, Failure> {
        let body = one_line(call)?;
        let line = Line { custom_id: key, method: "POST", url: &call.path, body: &body };
        let mut line = json::write(&line)?;
        line.push(b'\n');
        Ok(line)
    }
}

#[derive(Debug, Serialize)]
struct Create<'a> {
    input_file_id: &'a str,
    endpoint: &'a str,
    completion_window: &'static str,
    metadata: Metadata<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_expires_after: Option<Expiry>,
}

#[derive(Debug, Serialize)]
struct Expiry {
    anchor: &'static str,
    seconds: u32,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Metadata<T> {
    signalbox_batch_key: T,
}

#[derive(Debug, Deserialize)]
struct Batch {
    id: String,
    status: String,
    errors: Option<Errors>,
    input_file_id: Option<String>,
    output_file_id: Option<String>,
    error_file_id: Option<String>,
    created_at: Option<u64>,
    expires_at: Option<u64>,
    completed_at: Option<u64>,
    failed_at: Option<u64>,
    expired_at: Option<u64>,
    cancelled_at: Option<u64>,
    request_counts: Option<Counts>,
    metadata: Option<Metadata<Option<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Errors {
    data: Vec<Problem>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: Option<String>,
    message: Option<String>,
    line: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    total: u64,
    completed: u64,
    failed: u64,
}

#[derive(Debug, Deserialize)]
struct List {
    data: Vec<Batch>,
    #[serde(default)]
    has_more: bool,
}

/// A line of a file that came back.
#[derive(Debug, Deserialize)]
struct ResultLine<'a> {
    custom_id: String,
    #[serde(borrow)]
    response: Option<Response<'a>>,
    error: Option<Problem>,
}

#[derive(Debug, Deserialize)]
struct Response<'a> {
    status_code: u16,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(borrow)]
    body: &'a RawValue,
}

impl BatchCodec for OpenAi {
    fn limits(&self) -> BatchLimits {
        BatchLimits { items: 50_000, bytes: 190_000_000 }
    }

    fn embeds(&self) -> bool {
        true
    }

    /// What is sometimes said to one endpoint and sometimes to the other is always said to the one that takes all.
    fn facts<'a>(&self, facts: &'a ModelFacts) -> Cow<'a, ModelFacts> {
        if facts.parameters.openai_endpoint != OpenAiEndpoint::ResponsesForTools {
            return Cow::Borrowed(facts);
        }
        let mut facts = facts.clone();
        facts.parameters.openai_endpoint = OpenAiEndpoint::Responses;
        Cow::Owned(facts)
    }

    fn item(&self, key: &str, call: &EncodedCall) -> Result<Vec<u8>, Failure> {
        Line::write(key, call)
    }

    fn upload(&self) -> Option<&'static str> {
        Some("/v1/files")
    }

    fn create(&self, new: NewBatch<'_>) -> Result<NewBatchCall, Failure> {
        let create = Create {
            input_file_id: new.file,
            endpoint: new.path,
            completion_window: WINDOW,
            metadata: Metadata { signalbox_batch_key: Cow::Borrowed(new.key) },
            output_expires_after: self.0.store.then_some(Expiry { anchor: "created_at", seconds: KEPT }),
        };
        let call =
            EncodedCall { path: "/v1/batches".to_owned(), body: json::write(&create)?, ..Default::default() };
        Ok(NewBatchCall { call, after: "" })
    }

    fn decode(&self, body: &[u8]) -> Result<VendorBatch, Failure> {
        json::read::<Batch>(self.0.name, body).map(|batch| self.told(batch))
    }

    fn finding(&self) -> Finding {
        Finding { named: true, newest_first: true }
    }

    fn list(&self, after: Option<&str>) -> String {
        page("/v1/batches?limit=100", "after", after)
    }

    fn decode_list(&self, body: &[u8]) -> Result<BatchPage, Failure> {
        let list = json::read::<List>(self.0.name, body)?;
        let next = list.data.last().filter(|_| list.has_more).map(|batch| batch.id.clone());
        let named = |mut batch: Batch| {
            let name = batch.metadata.take().and_then(|metadata| metadata.signalbox_batch_key);
            (name, self.told(batch))
        };
        Ok(BatchPage { batches: list.data.into_iter().map(named).collect(), next })
    }

    fn get(&self, id: &str) -> String {
        format!("/v1/batches/{}", in_url(id))
    }

    fn cancel(&self, id: &str) -> String {
        format!("/v1/batches/{}/cancel", in_url(id))
    }

    /// What succeeded is in one file and what did not in the other; either may be missing.
    fn results(&self, _id: &str, body: &[u8]) -> Result<Vec<ResultSource>, Failure> {
        let batch = json::read::<Batch>(self.0.name, body)?;
        let files = [batch.output_file_id, batch.error_file_id].into_iter().flatten();
        let files = files.filter(|file| !file.is_empty());
        Ok(files.map(|file| ResultSource::Lines(format!("{}/content", self.file(&file)))).collect())
    }

    fn keeps_files(&self) -> bool {
        true
    }

    fn files(&self, body: &[u8]) -> Result<Vec<String>, Failure> {
        let batch = json::read::<Batch>(self.0.name, body)?;
        let files = [batch.input_file_id, batch.output_file_id, batch.error_file_id].into_iter().flatten();
        Ok(files.filter(|file| !file.is_empty()).map(|file| self.file(&file)).collect())
    }

    fn decode_result(&self, result: &[u8], _tools: &JsonTools) -> Result<ItemResult, Failure> {
        let line = json::read::<ResultLine<'_>>(self.0.name, result)?;
        let (outcome, request_id) = match (line.response, line.error) {
            (Some(response), _) => (self.outcome(&response), response.request_id.unwrap_or_default()),
            (None, error) => (self.not_made(error.unwrap_or_default()), String::new()),
        };
        Ok(ItemResult { key: line.custom_id, outcome, request_id })
    }
}

impl OpenAi {
    fn told(&self, batch: Batch) -> VendorBatch {
        let state = match batch.status.as_str() {
            "completed" | "expired" | "cancelled" => VendorBatchState::Ended,
            "failed" => VendorBatchState::Refused,
            "cancelling" => VendorBatchState::Cancelling,
            _ => VendorBatchState::Running,
        };
        let counts = batch.request_counts.unwrap_or_default();
        let ended = batch.completed_at.or(batch.expired_at).or(batch.cancelled_at).or(batch.failed_at);
        let refused = state == VendorBatchState::Refused;
        VendorBatch {
            id: batch.id,
            state,
            total: counts.total,
            succeeded: counts.completed,
            failed: counts.failed,
            created: batch.created_at.and_then(at),
            expires: batch.expires_at.and_then(at),
            ended: ended.and_then(at),
            refusal: refused.then(|| self.refusal(batch.errors.unwrap_or_default())),
        }
    }

    /// Why a batch was refused whole: its first fault, and where that is.
    fn refusal(&self, errors: Errors) -> Failure {
        let more = errors.data.len().saturating_sub(1);
        let first = errors.data.into_iter().next().unwrap_or_default();
        let mut message = first.message.unwrap_or_default();
        if let Some(line) = first.line {
            message.push_str(&format!(" (line {line})"));
        }
        if more > 0 {
            message.push_str(&format!(" (and {more} more)"));
        }
        errors::of_batch(self.0, &first.code.unwrap_or_default(), &message)
    }

    fn outcome(&self, response: &Response<'_>) -> ItemOutcome {
        let body = response.body.get().as_bytes();
        if !(200..300).contains(&response.status_code) {
            // What headers would tell of when to call again is not here.
            let head =
                ResponseHead { status: response.status_code, headers: &HeaderMap::new(), now: UNIX_EPOCH };
            return ItemOutcome::Failed(self.decode_failure(head, body));
        }
        let read = match is_list(body) {
            true => self.decode_embed(body).map(ItemOutcome::Vectors),
            false => Codec::decode(self, body, None).map(ItemOutcome::Answer),
        };
        read.unwrap_or_else(ItemOutcome::Failed)
    }

    fn not_made(&self, error: Problem) -> ItemOutcome {
        let (code, message) = (error.code.unwrap_or_default(), error.message.unwrap_or_default());
        match code.as_str() {
            "batch_expired" => ItemOutcome::Expired,
            "batch_cancelled" => ItemOutcome::Cancelled,
            code => ItemOutcome::Failed(errors::of_code(self.0, code, &message)),
        }
    }
}

/// Vectors come as a list; answers of either surface do not.
fn is_list(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Object<'a> {
        object: Option<Cow<'a, str>>,
    }
    serde_json::from_slice::<Object<'_>>(body).is_ok_and(|body| body.object.as_deref() == Some("list"))
}

fn at(seconds: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}
