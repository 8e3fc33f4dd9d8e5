//! Message batches: all requests in one call, results in one file of lines.
//!
//! A batch has no name, and says nothing of what is in it before it has ended.

use super::{Anthropic, NAME, errors, request};
use crate::batch::{
    BatchCodec, BatchPage, Finding, JsonTools, NewBatch, NewBatchCall, ResultSource, one_line, page, time,
};
use crate::codec::{Codec, EncodedCall};
use crate::json;
use crate::urls::in_url;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use signalbox_ports::vendor_batch::{BatchLimits, ItemOutcome, ItemResult, VendorBatch, VendorBatchState};
use signalbox_types::{ErrorReason, Failure};

#[derive(Debug, Serialize)]
struct Item<'a> {
    custom_id: &'a str,
    params: &'a RawValue,
}

#[derive(Debug, Deserialize)]
struct Batch {
    id: String,
    processing_status: String,
    #[serde(default)]
    request_counts: Counts,
    created_at: Option<String>,
    expires_at: Option<String>,
    ended_at: Option<String>,
    archived_at: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    processing: u64,
    succeeded: u64,
    errored: u64,
    canceled: u64,
    expired: u64,
}

#[derive(Debug, Deserialize)]
struct List {
    data: Vec<Batch>,
    #[serde(default)]
    has_more: bool,
    last_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Line<'a> {
    custom_id: String,
    #[serde(borrow)]
    result: Told<'a>,
}

#[derive(Debug, Deserialize)]
struct Told<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl BatchCodec for Anthropic {
    fn limits(&self) -> BatchLimits {
        BatchLimits { items: 100_000, bytes: 240_000_000 }
    }

    fn item(&self, key: &str, call: &EncodedCall) -> Result<Vec<u8>, Failure> {
        let params = one_line(call)?;
        json::write(&Item { custom_id: key, params: &params })
    }

    /// One version for all requests of a batch: the one that takes all that is said to either.
    fn headers(&self) -> Vec<(&'static str, String)> {
        vec![("anthropic-version", request::VERSION_WITH_SAMPLING.to_owned())]
    }

    fn create(&self, _new: NewBatch<'_>) -> Result<NewBatchCall, Failure> {
        let body = br#"{"requests":["#.to_vec();
        let call = EncodedCall { path: "/v1/messages/batches".to_owned(), body, ..Default::default() };
        Ok(NewBatchCall { call, after: "]}" })
    }

    fn decode(&self, body: &[u8]) -> Result<VendorBatch, Failure> {
        json::read::<Batch>(NAME, body).map(told)
    }

    fn finding(&self) -> Finding {
        Finding { named: false, newest_first: true }
    }

    fn list(&self, after: Option<&str>) -> String {
        page("/v1/messages/batches?limit=100", "after_id", after)
    }

    fn decode_list(&self, body: &[u8]) -> Result<BatchPage, Failure> {
        let list = json::read::<List>(NAME, body)?;
        let next = list.last_id.filter(|_| list.has_more);
        Ok(BatchPage { batches: list.data.into_iter().map(|batch| (None, told(batch))).collect(), next })
    }

    fn get(&self, id: &str) -> String {
        format!("/v1/messages/batches/{}", in_url(id))
    }

    fn cancel(&self, id: &str) -> String {
        format!("/v1/messages/batches/{}/cancel", in_url(id))
    }

    /// Not at `results_url`: our key goes nowhere but to the address that is configured.
    fn results(&self, id: &str, body: &[u8]) -> Result<Vec<ResultSource>, Failure> {
        let batch = json::read::<Batch>(NAME, body)?;
        if batch.archived_at.is_some() {
            let message = format!("{NAME}: the results of batch `{id}` are not kept there any more");
            return Err(Failure::new(ErrorReason::NotFound, message));
        }
        Ok(vec![ResultSource::Lines(format!("/v1/messages/batches/{}/results", in_url(id)))])
    }

    fn decode_result(&self, result: &[u8], tools: &JsonTools) -> Result<ItemResult, Failure> {
        let Line { custom_id: key, result } = json::read::<Line<'_>>(NAME, result)?;
        let outcome = match (result.kind.as_str(), result.message, result.error) {
            ("succeeded", Some(message), _) => {
                let tool = tools.get(&key).map(String::as_str);
                let answer = Codec::decode(self, message.get().as_bytes(), tool);
                answer.map_or_else(ItemOutcome::Failed, ItemOutcome::Answer)
            }
            ("errored", _, Some(error)) => ItemOutcome::Failed(errors::of_item(error.get().as_bytes())),
            ("canceled", ..) => ItemOutcome::Cancelled,
            ("expired", ..) => ItemOutcome::Expired,
            _ => {
                ItemOutcome::Failed(json::unreadable(NAME, "a result that is neither an answer nor an error"))
            }
        };
        Ok(ItemResult { key, outcome, request_id: String::new() })
    }
}

fn told(batch: Batch) -> VendorBatch {
    let state = match batch.processing_status.as_str() {
        "ended" => VendorBatchState::Ended,
        "canceling" => VendorBatchState::Cancelling,
        _ => VendorBatchState::Running,
    };
    let Counts { processing, succeeded, errored, canceled, expired } = batch.request_counts;
    let failed = errored.saturating_add(canceled).saturating_add(expired);
    let read = |text: Option<String>| text.as_deref().and_then(time);
    VendorBatch {
        id: batch.id,
        state,
        total: processing.saturating_add(succeeded).saturating_add(failed),
        succeeded,
        failed,
        created: read(batch.created_at),
        expires: read(batch.expires_at),
        ended: read(batch.ended_at),
        refusal: None,
    }
}
