//! An adapter over vendors that do as they are told.

use super::world::text;
use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use signalbox_api::{
    status::to_status,
    v1::{
        self, BatchItemError, CallFacts, Cost, FinishReason, InvokeModelResponse, TokenUsage, VendorBatch,
        VendorBatchItem, provider_service_server::ProviderService,
        stream_vendor_batch_results_response::Outcome, token_usage::Source, vendor_batch::State,
        vendor_batch_item,
    },
};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use tokio::sync::Notify;
use tonic::{Request, Response, Status, Streaming};

/// What an answer costs: half of that in a batch.
pub(crate) const COST: i64 = 40;

/// The adapter. Clones share it. What an item is answered follows from what its first message says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vendor(Arc<Mutex<Desk>>, Arc<Notify>);

#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// Batches by key.
    pub(crate) batches: BTreeMap<String, Batch>,
    /// Failures of the next calls to hand over, the last first.
    pub(crate) failures: Vec<Failure>,
    /// Batches are taken, and nobody hears of it.
    pub(crate) deaf: bool,
    /// How batches of a vendor stand; ended where it says nothing.
    pub(crate) states: BTreeMap<String, State>,
    /// Usual calls, by what they said.
    pub(crate) calls: Vec<String>,
    under_way: usize,
    /// The most of them that were ever under way at once.
    pub(crate) most_under_way: usize,
    /// Usual calls wait until they are let go.
    pub(crate) holds: bool,
    pub(crate) cancelled: usize,
    /// What is said of batches that it has, so many times.
    pub(crate) silence: Option<(ErrorReason, usize)>,
    /// Why batches are refused whole.
    pub(crate) refusal: Option<ErrorReason>,
    /// How often a batch was refused for one of its items, which says `spoil`.
    pub(crate) spoilt: usize,
    /// Answers of each batch of which nothing is shown.
    pub(crate) unshown: u64,
    /// Files are not deleted when that is asked for next.
    pub(crate) keeps_files: bool,
}

#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) vendor: String,
    pub(crate) items: Vec<VendorBatchItem>,
    pub(crate) files_deleted: bool,
}

impl Vendor {
    pub(crate) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.0.lock().unwrap()
    }

    /// Usual calls are answered from now on.
    pub(crate) fn let_go(&self) {
        self.desk().holds = false;
        self.1.notify_waiters();
    }

    fn submit(&self, messages: Vec<v1::SubmitVendorBatchRequest>) -> Result<VendorBatch, Status> {
        let mut desk = self.desk();
        if let Some(failure) = desk.failures.pop() {
            return Err(to_status(&failure));
        }
        let (vendor, key) = (messages[0].target.clone().unwrap().vendor, messages[0].batch_key.clone());
        let known = desk.batches.contains_key(&key);
        let looked_for = messages[0].maybe_since_time.is_some();
        assert!(!known || looked_for, "handed over twice");
        let items: Vec<VendorBatchItem> = messages.into_iter().flat_map(|message| message.items).collect();
        if vendor == "a" && items.iter().any(|item| said_by(item).starts_with("spoil")) {
            desk.spoilt += 1;
            let (reason, message) = (ErrorReason::InvalidRequest, "one of them is not valid");
            if !looked_for {
                return Err(to_status(&Failure::new(reason, message)));
            }
            return Ok(VendorBatch {
                state: State::Refused.into(),
                error_reason: reason.name().into(),
                error_message: message.into(),
                ..Default::default()
            });
        }
        desk.batches.entry(key.clone()).or_insert(Batch { vendor, items, files_deleted: false });
        if desk.deaf {
            let failure = Failure::new(ErrorReason::VendorTimeout, "no word");
            return Err(to_status(&failure));
        }
        Ok(desk.batch(&key))
    }
}

impl Desk {
    fn begin(&mut self, said: &str) {
        self.calls.push(said.to_owned());
        self.under_way += 1;
        self.most_under_way = self.most_under_way.max(self.under_way);
    }

    fn told(&mut self, key: &str) -> Result<VendorBatch, Status> {
        match &mut self.silence {
            Some((reason, times)) if *times > 0 => {
                *times -= 1;
                Err(to_status(&Failure::new(*reason, "no word of it")))
            }
            _ => Ok(self.batch(key)),
        }
    }

    fn batch(&self, key: &str) -> VendorBatch {
        let batch = self.batches.get(key);
        let state = batch.and_then(|batch| self.states.get(&batch.vendor));
        let items = || batch.into_iter().flat_map(|batch| batch.items.iter().map(move |item| (batch, item)));
        let answered = |(batch, item): &(&Batch, &VendorBatchItem)| {
            state != Some(&State::Refused)
                && matches!(outcome(&batch.vendor, &said_by(item)), Some(Outcome::Generate(_)))
        };
        VendorBatch {
            vendor_batch_id: key.into(),
            total: items().count() as u64,
            succeeded: items().filter(answered).count() as u64 + self.unshown,
            state: state.copied().unwrap_or(State::Ended).into(),
            error_reason: self.refusal.unwrap_or(ErrorReason::VendorQuotaExhausted).name().into(),
            ..Default::default()
        }
    }

    fn results(&self, key: &str) -> Vec<v1::StreamVendorBatchResultsResponse> {
        let batch = &self.batches[key];
        let result = |item: &VendorBatchItem| {
            let outcome = outcome(&batch.vendor, &said_by(item))?;
            Some(v1::StreamVendorBatchResultsResponse {
                item_key: item.item_key.clone(),
                outcome: Some(outcome),
            })
        };
        batch.items.iter().filter_map(result).collect()
    }
}

pub(crate) fn said_by(item: &VendorBatchItem) -> String {
    let Some(vendor_batch_item::Request::Generate(asked)) = &item.request else { panic!("{item:?}") };
    said(asked)
}

fn said(asked: &v1::GenerateRequest) -> String {
    let content = asked.messages[0].content.clone();
    text(&v1::GenerateResponse { content, ..Default::default() })
}

/// `broken-V` fails at vendor V, `expired-V` is not answered in time there, `missing-V` has no result there, `prose-V` is
/// not what was asked for, `uncounted-V` is answered there without a count, `bad` is refused by everybody; anything else is answered.
fn outcome(vendor: &str, said: &str) -> Option<Outcome> {
    use v1::batch_item_error::Kind;
    let error = |kind: Kind, reason: ErrorReason| {
        let (reason, message) = (reason.name().to_owned(), "so it is".to_owned());
        Some(Outcome::Error(BatchItemError { kind: kind.into(), reason, message, failure: None }))
    };
    match said.split_once('-') {
        Some(("broken", at)) if at == vendor => error(Kind::Failed, ErrorReason::VendorError),
        Some(("expired", at)) if at == vendor => error(Kind::Expired, ErrorReason::DeadlineExceeded),
        Some(("missing", at)) if at == vendor => None,
        Some(("uncounted", at)) if at == vendor => Some(Outcome::Generate(uncounted())),
        Some(("prose", at)) if at == vendor => Some(Outcome::Generate(answer("no JSON here", COST / 2))),
        _ if said == "bad" => error(Kind::Failed, ErrorReason::InvalidRequest),
        _ => Some(Outcome::Generate(answer("{}", COST / 2))),
    }
}

fn answer(text: &str, nano_eur: i64) -> InvokeModelResponse {
    let part = v1::Part { part: Some(v1::part::Part::Text(text.into())), ..Default::default() };
    let usage = TokenUsage { input_tokens: 7, output_tokens: 3, ..signalbox_ports::usage_facts::nothing() };
    InvokeModelResponse {
        content: vec![thought(), part],
        finish_reason: FinishReason::Stop.into(),
        facts: Some(CallFacts {
            usage: Some(usage),
            cost: Some(Cost { nano_eur, ..Default::default() }),
            served_model: "m-2026".into(),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// What an adapter makes of an answer of which the vendor does not say what it used.
fn uncounted() -> InvokeModelResponse {
    let mut answer = answer("{}", 0);
    let usage = TokenUsage { output_tokens: 3, source: Source::Estimated.into(), ..Default::default() };
    answer.facts = Some(CallFacts {
        usage: Some(usage),
        cost: Some(Cost { unknown: true, ..Default::default() }),
        ..Default::default()
    });
    answer
}

/// Reasoning comes whether it was asked for or not.
fn thought() -> v1::Part {
    let reasoning = v1::Reasoning { text: "well".into(), ..Default::default() };
    v1::Part { part: Some(v1::part::Part::Reasoning(reasoning)), ..Default::default() }
}

type Answer<T> = Result<Response<T>, Status>;
type Stream<T> = BoxStream<'static, Result<T, Status>>;

#[tonic::async_trait]
impl ProviderService for Vendor {
    type StreamInvokeModelStream = Stream<v1::StreamInvokeModelResponse>;
    type WatchHealthStream = Stream<v1::WatchHealthResponse>;
    type StreamVendorBatchResultsStream = Stream<v1::StreamVendorBatchResultsResponse>;

    async fn submit_vendor_batch(
        &self,
        asked: Request<Streaming<v1::SubmitVendorBatchRequest>>,
    ) -> Answer<v1::SubmitVendorBatchResponse> {
        let messages: Vec<_> = asked.into_inner().map(Result::unwrap).collect().await;
        let batch = Some(self.submit(messages)?);
        Ok(Response::new(v1::SubmitVendorBatchResponse { batch, notes: Vec::new() }))
    }

    async fn get_vendor_batch(
        &self,
        asked: Request<v1::GetVendorBatchRequest>,
    ) -> Answer<v1::GetVendorBatchResponse> {
        let batch = Some(self.desk().told(&asked.get_ref().vendor_batch_id)?);
        Ok(Response::new(v1::GetVendorBatchResponse { batch }))
    }

    async fn cancel_vendor_batch(
        &self,
        asked: Request<v1::CancelVendorBatchRequest>,
    ) -> Answer<v1::CancelVendorBatchResponse> {
        let mut desk = self.desk();
        desk.cancelled += 1;
        let batch = Some(desk.told(&asked.get_ref().vendor_batch_id)?);
        Ok(Response::new(v1::CancelVendorBatchResponse { batch }))
    }

    async fn stream_vendor_batch_results(
        &self,
        asked: Request<v1::StreamVendorBatchResultsRequest>,
    ) -> Answer<Self::StreamVendorBatchResultsStream> {
        let results = self.desk().results(&asked.get_ref().vendor_batch_id);
        Ok(Response::new(stream::iter(results).map(Ok).boxed()))
    }

    async fn delete_vendor_batch_files(
        &self,
        asked: Request<v1::DeleteVendorBatchFilesRequest>,
    ) -> Answer<v1::DeleteVendorBatchFilesResponse> {
        let mut desk = self.desk();
        if std::mem::take(&mut desk.keeps_files) {
            return Err(to_status(&Failure::new(ErrorReason::VendorError, "not now")));
        }
        let batch = desk.batches.get_mut(&asked.get_ref().vendor_batch_id).unwrap();
        let deleted = u32::from(!std::mem::replace(&mut batch.files_deleted, true));
        Ok(Response::new(v1::DeleteVendorBatchFilesResponse { deleted }))
    }

    async fn invoke_model(&self, asked: Request<v1::InvokeModelRequest>) -> Answer<InvokeModelResponse> {
        let said = said(&asked.into_inner().request.unwrap());
        self.desk().begin(&said);
        // Whoever else may call does so now.
        tokio::task::yield_now().await;
        loop {
            let waiting = self.1.notified();
            if !self.desk().holds {
                break;
            }
            let _let_go = tokio::time::timeout(Duration::from_millis(5), waiting).await;
        }
        self.desk().under_way -= 1;
        match outcome("c", &said) {
            Some(Outcome::Generate(_)) => Ok(Response::new(answer("{}", COST))),
            _ => Err(to_status(&Failure::new(ErrorReason::InvalidRequest, "so it is"))),
        }
    }

    async fn stream_invoke_model(
        &self,
        _: Request<v1::StreamInvokeModelRequest>,
    ) -> Answer<Self::StreamInvokeModelStream> {
        Err(Status::unimplemented("StreamInvokeModel"))
    }

    async fn invoke_embedding(
        &self,
        _: Request<v1::InvokeEmbeddingRequest>,
    ) -> Answer<v1::InvokeEmbeddingResponse> {
        Err(Status::unimplemented("InvokeEmbedding"))
    }

    async fn count_tokens(&self, _: Request<v1::CountTokensRequest>) -> Answer<v1::CountTokensResponse> {
        Err(Status::unimplemented("CountTokens"))
    }

    async fn watch_health(&self, _: Request<v1::WatchHealthRequest>) -> Answer<Self::WatchHealthStream> {
        Err(Status::unimplemented("WatchHealth"))
    }
}
