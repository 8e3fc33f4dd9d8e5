//! An adapter whose vendors do as they are told.

use futures_util::{Stream, StreamExt as _, stream};
use signalbox_api::{
    convert,
    status::to_status,
    v1::{self, provider_service_server::ProviderService, stream_invoke_model_response::Event},
};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};
use tonic::{Request, Response, Status};

/// What a vendor does with a call.
#[derive(Debug, Clone)]
pub(crate) struct Deed {
    /// How long it is silent.
    pub(crate) after: Duration,
    pub(crate) end: End,
}

#[derive(Debug, Clone)]
pub(crate) enum End {
    /// It answers; a stream has one text in two pieces.
    Answer(&'static str, v1::FinishReason),
    /// It fails.
    Fails(ErrorReason),
    /// A stream holds back 50 tokens of reasoning, gives a piece, tells of 77 tokens of input, and then nothing more.
    Stalls(&'static str),
    /// A stream breaks off after its first piece.
    Breaks(&'static str, ErrorReason),
}

impl Deed {
    async fn silence(&self) {
        // A timer of no time takes a millisecond.
        if !self.after.is_zero() {
            tokio::time::sleep(self.after).await;
        }
    }
}

/// It answers after a silence.
pub(crate) fn answers_after(millis: u64, text: &'static str) -> Deed {
    Deed { after: Duration::from_millis(millis), end: End::Answer(text, v1::FinishReason::Stop) }
}

/// It fails after a silence.
pub(crate) fn fails_after(millis: u64, reason: ErrorReason) -> Deed {
    Deed { after: Duration::from_millis(millis), end: End::Fails(reason) }
}

/// The adapter. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Adapter(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    deeds: HashMap<String, VecDeque<Deed>>,
    calls: Vec<String>,
    limits: Vec<Option<i32>>,
    given_up: Vec<String>,
}

impl Adapter {
    /// What the vendor does with its next calls; the last is repeated. A vendor that was told nothing answers at once
    /// with its name.
    pub(crate) fn tell(&self, vendor: &str, deeds: impl IntoIterator<Item = Deed>) {
        self.0.lock().unwrap().deeds.insert(vendor.to_owned(), deeds.into_iter().collect());
    }

    /// The models called so far, as `vendor/model`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.0.lock().unwrap().calls.clone()
    }

    /// `max_output_tokens` of each generating call.
    pub(crate) fn limits(&self) -> Vec<Option<i32>> {
        self.0.lock().unwrap().limits.clone()
    }

    /// Those of them that were given up before their end.
    pub(crate) fn given_up(&self) -> Vec<String> {
        self.0.lock().unwrap().given_up.clone()
    }

    /// Forgets all calls.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap() = Told::default();
    }

    fn begin_answer(&self, request: v1::InvokeModelRequest) -> (UnderWay, Deed) {
        let limit = request.request.unwrap().max_output_tokens;
        self.0.lock().unwrap().limits.push(limit);
        self.begin(request.target)
    }

    fn begin(&self, target: Option<v1::Target>) -> (UnderWay, Deed) {
        let v1::Target { vendor, model } = target.unwrap();
        let mut told = self.0.lock().unwrap();
        told.calls.push(format!("{vendor}/{model}"));
        let deed = match told.deeds.get_mut(&vendor) {
            Some(deeds) if deeds.len() > 1 => deeds.pop_front().unwrap(),
            Some(deeds) => deeds[0].clone(),
            None => answers_after(0, "a good answer"),
        };
        (UnderWay { adapter: self.clone(), call: format!("{vendor}/{model}"), ended: false }, deed)
    }
}

/// A call under way; dropped before its end, it was given up.
struct UnderWay {
    adapter: Adapter,
    call: String,
    ended: bool,
}

impl UnderWay {
    fn end(mut self) {
        self.ended = true;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if !self.ended {
            self.adapter.0.lock().unwrap().given_up.push(self.call.clone());
        }
    }
}

fn failed(reason: ErrorReason) -> Status {
    to_status(&Failure::new(reason, "as it was told"))
}

fn facts() -> Option<v1::CallFacts> {
    Some(v1::CallFacts {
        usage: Some(v1::TokenUsage { input_tokens: 10, output_tokens: 5, ..Default::default() }),
        cost: Some(v1::Cost { nano_eur: 1000, ..Default::default() }),
        latency: Some(convert::duration_to_proto(Duration::from_millis(1))),
        ..Default::default()
    })
}

fn piece(text: &str) -> Result<v1::StreamInvokeModelResponse, Status> {
    event(Event::TextDelta(v1::TextDelta { text: text.to_owned() }))
}

fn event(event: Event) -> Result<v1::StreamInvokeModelResponse, Status> {
    Ok(v1::StreamInvokeModelResponse { event: Some(event) })
}

type Events = Pin<Box<dyn Stream<Item = Result<v1::StreamInvokeModelResponse, Status>> + Send>>;

#[tonic::async_trait]
impl ProviderService for Adapter {
    type StreamInvokeModelStream = Events;
    type WatchHealthStream = stream::Empty<Result<v1::WatchHealthResponse, Status>>;
    type StreamVendorBatchResultsStream = stream::Empty<Result<v1::StreamVendorBatchResultsResponse, Status>>;

    async fn invoke_model(
        &self,
        request: Request<v1::InvokeModelRequest>,
    ) -> Result<Response<v1::InvokeModelResponse>, Status> {
        let (call, deed) = self.begin_answer(request.into_inner());
        deed.silence().await;
        call.end();
        match deed.end {
            End::Answer(text, finish) => Ok(Response::new(v1::InvokeModelResponse {
                content: vec![v1::Part {
                    part: Some(v1::part::Part::Text(text.to_owned())),
                    ..Default::default()
                }],
                finish_reason: finish as i32,
                facts: facts(),
                ..Default::default()
            })),
            End::Fails(reason) | End::Breaks(_, reason) => Err(failed(reason)),
            End::Stalls(_) => std::future::pending().await,
        }
    }

    async fn stream_invoke_model(
        &self,
        request: Request<v1::StreamInvokeModelRequest>,
    ) -> Result<Response<Events>, Status> {
        let (call, deed) = self.begin_answer(request.into_inner().request.unwrap());
        let stalls = matches!(deed.end, End::Stalls(_));
        let events = stream::once(async move {
            deed.silence().await;
            call.end();
            match deed.end {
                End::Answer(text, finish) => {
                    let (first, second) = text.split_at(text.len() / 2);
                    let done =
                        v1::InvokeDone { finish_reason: finish as i32, facts: facts(), ..Default::default() };
                    vec![piece(first), piece(second), event(Event::Done(done))]
                }
                End::Fails(reason) => vec![Err(failed(reason))],
                End::Breaks(text, reason) => vec![piece(text), Err(failed(reason))],
                End::Stalls(text) => {
                    let told = v1::TokenUsage { input_tokens: 77, output_tokens: 1, ..Default::default() };
                    vec![event(Event::WithheldTokens(50)), piece(text), event(Event::UsageSoFar(told))]
                }
            }
        });
        let rest = stream::once(async move {
            if stalls {
                std::future::pending::<()>().await;
            }
        });
        let rest = rest.filter_map(|()| async { None });
        Ok(Response::new(Box::pin(events.flat_map(stream::iter).chain(rest))))
    }

    async fn invoke_embedding(
        &self,
        request: Request<v1::InvokeEmbeddingRequest>,
    ) -> Result<Response<v1::InvokeEmbeddingResponse>, Status> {
        let (call, deed) = self.begin(request.into_inner().target);
        deed.silence().await;
        call.end();
        match deed.end {
            End::Answer(..) => {
                let embeddings = vec![v1::EmbeddingVector { values: vec![1.0] }];
                Ok(Response::new(v1::InvokeEmbeddingResponse { embeddings, facts: facts() }))
            }
            End::Fails(reason) | End::Breaks(_, reason) => Err(failed(reason)),
            End::Stalls(_) => std::future::pending().await,
        }
    }

    async fn count_tokens(
        &self,
        _: Request<v1::CountTokensRequest>,
    ) -> Result<Response<v1::CountTokensResponse>, Status> {
        Err(Status::unimplemented("ProviderService.CountTokens"))
    }

    async fn watch_health(
        &self,
        _: Request<v1::WatchHealthRequest>,
    ) -> Result<Response<Self::WatchHealthStream>, Status> {
        Err(Status::unimplemented("ProviderService.WatchHealth"))
    }

    async fn submit_vendor_batch(
        &self,
        _: Request<tonic::Streaming<v1::SubmitVendorBatchRequest>>,
    ) -> Result<Response<v1::SubmitVendorBatchResponse>, Status> {
        Err(Status::unimplemented("ProviderService.SubmitVendorBatch"))
    }

    async fn get_vendor_batch(
        &self,
        _: Request<v1::GetVendorBatchRequest>,
    ) -> Result<Response<v1::GetVendorBatchResponse>, Status> {
        Err(Status::unimplemented("ProviderService.GetVendorBatch"))
    }

    async fn cancel_vendor_batch(
        &self,
        _: Request<v1::CancelVendorBatchRequest>,
    ) -> Result<Response<v1::CancelVendorBatchResponse>, Status> {
        Err(Status::unimplemented("ProviderService.CancelVendorBatch"))
    }

    async fn stream_vendor_batch_results(
        &self,
        _: Request<v1::StreamVendorBatchResultsRequest>,
    ) -> Result<Response<Self::StreamVendorBatchResultsStream>, Status> {
        Err(Status::unimplemented("ProviderService.StreamVendorBatchResults"))
    }

    async fn delete_vendor_batch_files(
        &self,
        _: Request<v1::DeleteVendorBatchFilesRequest>,
    ) -> Result<Response<v1::DeleteVendorBatchFilesResponse>, Status> {
        Err(Status::unimplemented("ProviderService.DeleteVendorBatchFiles"))
    }
}
