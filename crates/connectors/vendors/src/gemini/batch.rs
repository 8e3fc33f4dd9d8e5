//! Batches of `generateContent`, with all requests in the call itself.
//!
//! The same document tells how far a batch is and, where it was small, what came of it.

use super::{Gemini, NAME, errors};
use crate::batch::{
    BatchCodec, BatchPage, Finding, JsonTools, NewBatch, NewBatchCall, ResultSource, one_line, page, time,
};
use crate::codec::{Codec, EncodedCall};
use crate::failures::vendor_failure;
use crate::json;
use crate::urls::in_url;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use signalbox_ports::vendor_batch::{BatchLimits, ItemOutcome, ItemResult, VendorBatch, VendorBatchState};
use signalbox_types::{ErrorReason, Failure};

const BULK: &str = "inlinedResponses";
/// gRPC's `CANCELLED`.
const CANCELLED: i32 = 1;
/// gRPC's `DEADLINE_EXCEEDED`: the vendor's own time was over.
const DEADLINE_EXCEEDED: i32 = 4;

#[derive(Debug, Serialize)]
struct Item<'a> {
    request: &'a RawValue,
    metadata: Key<&'a str>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Key<T> {
    key: T,
}

/// A long-running operation.
#[derive(Debug, Deserialize)]
struct Operation {
    name: String,
    #[serde(default)]
    metadata: Metadata,
    #[serde(default)]
    done: bool,
    error: Option<Problem>,
    response: Option<Output>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    display_name: Option<String>,
    state: String,
    batch_stats: Stats,
    create_time: Option<String>,
    end_time: Option<String>,
    output: Option<Output>,
}

/// Counts, as text.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Stats {
    request_count: String,
    successful_request_count: String,
    failed_request_count: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Output {
    responses_file: Option<String>,
}

/// A `google.rpc.Status` with a gRPC code.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: i32,
    message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    #[serde(default)]
    operations: Vec<Operation>,
    next_page_token: Option<String>,
}

/// A line of a file, or an element of the array; the key stands here or there.
#[derive(Debug, Deserialize)]
struct Line<'a> {
    key: Option<String>,
    metadata: Option<Key<String>>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    error: Option<Problem>,
}

impl BatchCodec for Gemini {
    /// Of what stands in the call itself. Fewer items than fit: their answers come back in one document.
    fn limits(&self) -> BatchLimits {
        BatchLimits { items: 10_000, bytes: 19_000_000 }
    }

    fn item(&self, key: &str, call: &EncodedCall) -> Result<Vec<u8>, Failure> {
        let request = one_line(call)?;
        json::write(&Item { request: &request, metadata: Key { key } })
    }

    fn create(&self, new: NewBatch<'_>) -> Result<NewBatchCall, Failure> {
        let name = serde_json::Value::from(new.key);
        let before = format!(r#"{{"batch":{{"displayName":{name},"inputConfig":{{"requests":{{"requests":["#);
        let path = super::path(new.model, "batchGenerateContent");
        let call = EncodedCall { path, body: before.into_bytes(), ..Default::default() };
        Ok(NewBatchCall { call, after: "]}}}}" })
    }

    fn decode(&self, body: &[u8]) -> Result<VendorBatch, Failure> {
        json::read::<Operation>(NAME, body).map(told)
    }

    fn bulk(&self) -> Option<&'static str> {
        Some(BULK)
    }

    fn finding(&self) -> Finding {
        Finding { named: true, newest_first: false }
    }

    fn list(&self, after: Option<&str>) -> String {
        page("/v1beta/batches?pageSize=100", "pageToken", after)
    }

    fn decode_list(&self, body: &[u8]) -> Result<BatchPage, Failure> {
        let list = json::read::<List>(NAME, body)?;
        let named = |mut operation: Operation| (operation.metadata.display_name.take(), told(operation));
        let next = list.next_page_token.filter(|token| !token.is_empty());
        Ok(BatchPage { batches: list.operations.into_iter().map(named).collect(), next })
    }

    fn get(&self, id: &str) -> String {
        format!("/v1beta/{}", resource(id))
    }

    fn cancel(&self, id: &str) -> String {
        format!("/v1beta/{}:cancel", resource(id))
    }

    fn results(&self, id: &str, body: &[u8]) -> Result<Vec<ResultSource>, Failure> {
        let operation = json::read::<Operation>(NAME, body)?;
        let outputs = [operation.response, operation.metadata.output].into_iter().flatten();
        let file = outputs.filter_map(|output| output.responses_file).find(|file| !file.is_empty());
        Ok(vec![match file {
            Some(file) => {
                ResultSource::Lines(format!("/download/v1beta/{}:download?alt=media", resource(&file)))
            }
            None => ResultSource::Elements(self.get(id), BULK),
        }])
    }

    fn decode_result(&self, result: &[u8], _tools: &JsonTools) -> Result<ItemResult, Failure> {
        let line = json::read::<Line<'_>>(NAME, result)?;
        let key = line.key.or_else(|| line.metadata.map(|metadata| metadata.key));
        let key = key.ok_or_else(|| json::unreadable(NAME, "a result without a key"))?;
        let outcome = match (line.response, line.error) {
            (Some(response), _) => Codec::decode(self, response.get().as_bytes(), None)
                .map_or_else(ItemOutcome::Failed, ItemOutcome::Answer),
            (None, Some(error)) if error.code == CANCELLED => ItemOutcome::Cancelled,
            (None, Some(error)) if error.code == DEADLINE_EXCEEDED => ItemOutcome::Expired,
            (None, Some(error)) => ItemOutcome::Failed(errors::of_grpc(error.code, &error.message)),
            (None, None) => ItemOutcome::Failed(json::unreadable(NAME, "a result without an answer")),
        };
        Ok(ItemResult { key, outcome, request_id: String::new() })
    }
}

/// `batches/…` or `files/…` in a path.
fn resource(name: &str) -> String {
    name.split('/').map(in_url).collect::<Vec<_>>().join("/")
}

fn told(operation: Operation) -> VendorBatch {
    let Operation { name, metadata, done, error, response } = operation;
    let nothing = response.is_none() && metadata.output.is_none();
    // The SDK's word for it begins with JOB_ instead.
    let state = match metadata.state.rsplit_once("STATE_").map_or("", |(_, state)| state) {
        "FAILED" => VendorBatchState::Refused,
        "EXPIRED" if nothing => VendorBatchState::Refused,
        "SUCCEEDED" | "CANCELLED" | "EXPIRED" => VendorBatchState::Ended,
        "CANCELLING" => VendorBatchState::Cancelling,
        _ if done && error.is_some() => VendorBatchState::Refused,
        _ if done => VendorBatchState::Ended,
        _ => VendorBatchState::Running,
    };
    let refusal = (state == VendorBatchState::Refused).then(|| match error {
        Some(error) if error.code == DEADLINE_EXCEEDED => {
            vendor_failure(ErrorReason::DeadlineExceeded, NAME, &error.message)
        }
        Some(error) => errors::of_grpc(error.code, &error.message),
        None if metadata.state.ends_with("EXPIRED") => {
            vendor_failure(ErrorReason::DeadlineExceeded, NAME, "the batch expired")
        }
        None => Failure::new(ErrorReason::VendorError, format!("{NAME}: the batch failed")),
    });
    let count = |text: &str| text.parse().unwrap_or(0);
    VendorBatch {
        id: name,
        state,
        total: count(&metadata.batch_stats.request_count),
        succeeded: count(&metadata.batch_stats.successful_request_count),
        failed: count(&metadata.batch_stats.failed_request_count),
        created: metadata.create_time.as_deref().and_then(time),
        expires: None,
        ended: metadata.end_time.as_deref().and_then(time),
        refusal,
    }
}
