//! Batches: a file as OpenAI has it, with a name, and results in pages. How far a batch is follows from its counts.

use super::{DIALECT, Xai};
use crate::batch::{
    BatchCodec, BatchPage, Finding, JsonTools, NewBatch, NewBatchCall, ResultSource, page, time,
};
use crate::codec::{Codec, EncodedCall};
use crate::failures::{reason_of_grpc, vendor_failure};
use crate::json;
use crate::openai::batch::Line;
use crate::urls::in_url;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use signalbox_ports::vendor_batch::{BatchLimits, ItemOutcome, ItemResult, VendorBatch, VendorBatchState};
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;

const BULK: &str = "results";
/// gRPC's `CANCELLED`.
const CANCELLED: i32 = 1;
/// gRPC's `DEADLINE_EXCEEDED`: the vendor's own time was over.
const DEADLINE_EXCEEDED: i32 = 4;
const DAY: Duration = Duration::from_secs(86_400);

#[derive(Debug, Serialize)]
struct Create<'a> {
    name: &'a str,
    input_file_id: &'a str,
}

#[derive(Debug, Deserialize)]
struct Batch {
    batch_id: String,
    name: Option<String>,
    create_time: Option<String>,
    expire_time: Option<String>,
    cancel_time: Option<String>,
    cancel_by_xai_message: Option<String>,
    input_file_id: Option<String>,
    #[serde(default)]
    state: Counts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    num_requests: u64,
    num_pending: u64,
    num_success: u64,
    num_error: u64,
    num_cancelled: u64,
}

#[derive(Debug, Deserialize)]
struct List {
    #[serde(default, alias = "data")]
    batches: Vec<Batch>,
    pagination_token: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Page {
    pagination_token: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Entry<'a> {
    batch_request_id: String,
    #[serde(borrow)]
    batch_result: Outcome<'a>,
}

#[derive(Debug, Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    response: Option<Response<'a>>,
    error: Option<Problem>,
}

/// The answer, under the name of its endpoint.
#[derive(Debug, Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    chat_get_completion: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: i32,
    message: String,
}

impl BatchCodec for Xai {
    /// Nothing is known of limits there: half of OpenAI's, whose file it is.
    fn limits(&self) -> BatchLimits {
        BatchLimits { items: 25_000, bytes: 95_000_000 }
    }

    fn item(&self, key: &str, call: &EncodedCall) -> Result<Vec<u8>, Failure> {
        Line::write(key, call)
    }

    fn upload(&self) -> Option<&'static str> {
        Some("/v1/files")
    }

    fn create(&self, new: NewBatch<'_>) -> Result<NewBatchCall, Failure> {
        let body = json::write(&Create { name: new.key, input_file_id: new.file })?;
        let call = EncodedCall { path: "/v1/batches".to_owned(), body, ..Default::default() };
        Ok(NewBatchCall { call, after: "" })
    }

    fn decode(&self, body: &[u8]) -> Result<VendorBatch, Failure> {
        json::read::<Batch>(DIALECT.name, body).map(told)
    }

    fn finding(&self) -> Finding {
        Finding { named: true, newest_first: false }
    }

    fn list(&self, after: Option<&str>) -> String {
        page("/v1/batches?limit=100", "pagination_token", after)
    }

    fn decode_list(&self, body: &[u8]) -> Result<BatchPage, Failure> {
        let list = json::read::<List>(DIALECT.name, body)?;
        let named = |mut batch: Batch| (batch.name.take(), told(batch));
        let next = list.pagination_token.filter(|token| !token.is_empty());
        Ok(BatchPage { batches: list.batches.into_iter().map(named).collect(), next })
    }

    fn get(&self, id: &str) -> String {
        format!("/v1/batches/{}", in_url(id))
    }

    fn cancel(&self, id: &str) -> String {
        format!("/v1/batches/{}:cancel", in_url(id))
    }

    fn results(&self, id: &str, _body: &[u8]) -> Result<Vec<ResultSource>, Failure> {
        Ok(vec![ResultSource::Elements(results_page(id, None), BULK)])
    }

    fn keeps_files(&self) -> bool {
        true
    }

    /// Results are in no file there.
    fn files(&self, body: &[u8]) -> Result<Vec<String>, Failure> {
        let file = json::read::<Batch>(DIALECT.name, body)?.input_file_id;
        Ok(file.filter(|file| !file.is_empty()).map(|file| self.file(&file)).into_iter().collect())
    }

    fn next_page(&self, id: &str, page: &[u8]) -> Result<Option<String>, Failure> {
        let token = json::read::<Page>(DIALECT.name, page)?.pagination_token;
        Ok(token.filter(|token| !token.is_empty()).map(|token| results_page(id, Some(&token))))
    }

    fn decode_result(&self, result: &[u8], _tools: &JsonTools) -> Result<ItemResult, Failure> {
        let entry = json::read::<Entry<'_>>(DIALECT.name, result)?;
        let Outcome { response, error } = entry.batch_result;
        let outcome = match (response.and_then(|response| response.chat_get_completion), error) {
            (Some(body), _) => Codec::decode(self, body.get().as_bytes(), None)
                .map_or_else(ItemOutcome::Failed, ItemOutcome::Answer),
            (None, Some(error)) if error.code == CANCELLED => ItemOutcome::Cancelled,
            (None, Some(error)) if error.code == DEADLINE_EXCEEDED => ItemOutcome::Expired,
            (None, Some(error)) => ItemOutcome::Failed(of_grpc(&error)),
            (None, None) => ItemOutcome::Failed(json::unreadable(DIALECT.name, "a result without an answer")),
        };
        Ok(ItemResult { key: entry.batch_request_id, outcome, request_id: String::new() })
    }
}

fn results_page(id: &str, after: Option<&str>) -> String {
    page(&format!("/v1/batches/{}/results?limit=100", in_url(id)), "pagination_token", after)
}

fn of_grpc(error: &Problem) -> Failure {
    let reason = super::errors::by_message(&error.message).unwrap_or_else(|| reason_of_grpc(error.code));
    let message = match reason {
        ErrorReason::VendorAuth => "the API key was refused",
        _ => &error.message,
    };
    Failure { vendor_code: error.code.to_string(), ..vendor_failure(reason, DIALECT.name, message) }
}

/// Why xAI stopped a batch, which it says in words alone.
fn reason_of(message: &str) -> ErrorReason {
    let expired = message.to_ascii_lowercase().contains("expired");
    if expired { ErrorReason::DeadlineExceeded } else { ErrorReason::InvalidRequest }
}

fn told(batch: Batch) -> VendorBatch {
    let Counts { num_requests, num_pending, num_success, num_error, num_cancelled } = batch.state;
    let is_refused = batch.cancel_by_xai_message.is_some() && num_success == 0 && num_error == 0;
    let state = match () {
        () if is_refused => VendorBatchState::Refused,
        () if num_pending > 0 && batch.cancel_time.is_some() => VendorBatchState::Cancelling,
        () if num_pending > 0 => VendorBatchState::Running,
        () if num_requests == 0 && batch.cancel_time.is_none() => VendorBatchState::Running,
        () => VendorBatchState::Ended,
    };
    let refusal = batch.cancel_by_xai_message.filter(|_| is_refused);
    // A bare day: it lasts to its end.
    let expires = batch.expire_time.as_deref().and_then(|text| {
        let from = time(text)?;
        if text.contains('T') { Some(from) } else { from.checked_add(DAY) }
    });
    VendorBatch {
        id: batch.batch_id,
        state,
        total: num_requests,
        succeeded: num_success,
        failed: num_error.saturating_add(num_cancelled),
        created: batch.create_time.as_deref().and_then(time),
        expires,
        ended: None,
        refusal: refusal.map(|message| vendor_failure(reason_of(&message), DIALECT.name, &message)),
    }
}
