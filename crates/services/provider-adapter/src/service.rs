//! The handlers. Only other roles of the deployment reach vendors this way: it is past every rule of the router.

use crate::{
    batches, call::Call, health::CallHealth, meter::Meter, patience::Patience, stream::MeteredStream,
};
use arc_swap::ArcSwap;
use futures_util::{StreamExt as _, stream::BoxStream};
use signalbox_api::{
    convert,
    status::{from_status, to_status},
    v1::{self, provider_service_server::ProviderService},
};
use signalbox_kit::{Clock, access::require, config::ConfigHandle, telemetry::trace::Span};
use signalbox_ports::{Admission, CallSink, Identity, UsageLog, VendorApi, VendorReply};
use signalbox_pricing::estimate_answer_tokens;
use signalbox_types::{Part, UsageSource};
use std::{collections::HashMap, sync::Arc};
use tonic::{Request, Response, Status};

/// The vendors that are configured, by name. Replaced whole when the configuration changes.
pub type Vendors = ArcSwap<HashMap<Arc<str>, Arc<dyn VendorApi>>>;

/// What the adapter works with.
#[derive(Clone)]
pub struct Dependencies {
    /// Models and prices.
    pub config: Arc<ConfigHandle>,
    /// Connections.
    pub vendors: Arc<Vendors>,
    /// Who hears of every call.
    pub calls: Arc<dyn CallSink>,
    /// Where heartbeats are accounted for. What requests cost, their routers account for.
    pub usage: Arc<dyn UsageLog>,
    /// What budgets and rates allow heartbeats; [`signalbox_ports::Unlimited`] without any.
    pub admission: Arc<dyn Admission>,
    /// What was seen of each model lately.
    pub health: CallHealth,
    /// Wall time, for prices.
    pub clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dependencies").finish_non_exhaustive()
    }
}

/// [`ProviderService`] over the configured vendors.
#[derive(Debug)]
pub struct Adapter {
    dependencies: Dependencies,
}

impl Adapter {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies }
    }
}

#[tonic::async_trait]
impl ProviderService for Adapter {
    type StreamInvokeModelStream = MeteredStream;
    type WatchHealthStream = BoxStream<'static, Result<v1::WatchHealthResponse, Status>>;
    type StreamVendorBatchResultsStream = batches::Results;

    async fn invoke_model(
        &self,
        request: Request<v1::InvokeModelRequest>,
    ) -> Result<Response<v1::InvokeModelResponse>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let span = Span::server("signalbox.v1.ProviderService/InvokeModel", request.metadata().as_ref());
        let call = Call::prepare(&self.dependencies, request.into_inner(), false)
            .map_err(|failure| to_status(&failure))?;
        let mut meter = Meter::start(&self.dependencies, &call, &span);
        let reply = match call.vendor.generate(call.target(), &call.request.prompt).await {
            Ok(reply) => reply,
            Err(failure) => return Err(meter.fail(&failure, None)),
        };
        let VendorReply { value: answer, mut adjustments, request_id, quota_left } = reply;
        meter.quota_left(quota_left);
        adjustments.splice(0..0, call.adjustments);
        let mut usage = answer.usage;
        if usage.source == UsageSource::Unknown {
            usage = meter.estimate(estimate_answer_tokens(&answer.parts));
        }
        let facts = meter.answered(usage, answer.model, request_id, adjustments, answer.finish_reason);
        let keep_reasoning = call.keep_reasoning;
        let content = answer.parts.into_iter().filter(|part| keep_reasoning || !is_bare_reasoning(part));
        Ok(Response::new(v1::InvokeModelResponse {
            content: content.map(convert::part_to_proto).collect(),
            finish_reason: convert::finish_reason_to_proto(answer.finish_reason) as i32,
            vendor_finish_reason: answer.vendor_finish_reason,
            facts: Some(facts),
        }))
    }

    async fn stream_invoke_model(
        &self,
        request: Request<v1::StreamInvokeModelRequest>,
    ) -> Result<Response<MeteredStream>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let span =
            Span::server("signalbox.v1.ProviderService/StreamInvokeModel", request.metadata().as_ref());
        let request = request.into_inner().request.unwrap_or_default();
        let call = Call::prepare(&self.dependencies, request, true).map_err(|failure| to_status(&failure))?;
        let meter = Meter::start(&self.dependencies, &call, &span);
        let patience = call.first_content_timeout.map(Patience::start);
        let opened = call.vendor.stream(call.target(), &call.request.prompt);
        let opened = match &patience {
            Some(patience) => patience.bound(opened).await,
            None => opened.await,
        };
        match opened {
            Ok(mut reply) => {
                reply.adjustments.splice(0..0, call.adjustments);
                Ok(Response::new(MeteredStream::new(reply, meter, patience, call.keep_reasoning)))
            }
            Err(failure) => Err(meter.fail(&failure, None)),
        }
    }

    async fn invoke_embedding(
        &self,
        request: Request<v1::InvokeEmbeddingRequest>,
    ) -> Result<Response<v1::InvokeEmbeddingResponse>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let span = Span::server("signalbox.v1.ProviderService/InvokeEmbedding", request.metadata().as_ref());
        let (call, embed) = Call::prepare_embedding(&self.dependencies, request.into_inner())
            .map_err(|failure| to_status(&failure))?;
        let mut meter = Meter::start(&self.dependencies, &call, &span);
        let reply = match call.vendor.embed(call.target(), &embed).await {
            Ok(reply) => reply,
            Err(failure) => return Err(meter.fail(&failure, None)),
        };
        meter.quota_left(reply.quota_left);
        let mut usage = reply.value.usage;
        if usage.source == UsageSource::Unknown {
            usage = meter.estimate(0);
        }
        let embeddings =
            reply.value.embeddings.into_iter().map(|values| v1::EmbeddingVector { values }).collect();
        let facts = meter.embedded(usage, reply.value.model, reply.request_id, reply.adjustments);
        Ok(Response::new(v1::InvokeEmbeddingResponse { embeddings, facts: Some(facts) }))
    }

    async fn count_tokens(
        &self,
        request: Request<v1::CountTokensRequest>,
    ) -> Result<Response<v1::CountTokensResponse>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let v1::CountTokensRequest { target, request } = request.into_inner();
        let invoke = v1::InvokeModelRequest { target, request, ..Default::default() };
        let call = Call::prepare(&self.dependencies, invoke, false).map_err(|failure| to_status(&failure))?;
        let counted = call.vendor.count_tokens(call.target(), &call.request.prompt).await;
        let (tokens, source) = match counted.map_err(|failure| to_status(&failure))? {
            Some(tokens) => (tokens, v1::token_usage::Source::Vendor),
            None => (call.prompt_tokens, v1::token_usage::Source::Estimated),
        };
        Ok(Response::new(v1::CountTokensResponse { tokens, source: source as i32 }))
    }

    async fn watch_health(
        &self,
        request: Request<v1::WatchHealthRequest>,
    ) -> Result<Response<Self::WatchHealthStream>, Status> {
        require(&request, Identity::is_of_deployment)?;
        Ok(Response::new(self.dependencies.health.watch().map(Ok).boxed()))
    }

    async fn submit_vendor_batch(
        &self,
        request: Request<tonic::Streaming<v1::SubmitVendorBatchRequest>>,
    ) -> Result<Response<v1::SubmitVendorBatchResponse>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let span =
            Span::server("signalbox.v1.ProviderService/SubmitVendorBatch", request.metadata().as_ref());
        let submitted = batches::submit(&self.dependencies, request.into_inner()).await;
        ended(&span, submitted)
    }

    async fn get_vendor_batch(
        &self,
        request: Request<v1::GetVendorBatchRequest>,
    ) -> Result<Response<v1::GetVendorBatchResponse>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let span = Span::server("signalbox.v1.ProviderService/GetVendorBatch", request.metadata().as_ref());
        let batch = batches::get(&self.dependencies, request.into_inner())
            .await
            .map_err(|failure| to_status(&failure));
        ended(&span, batch.map(|batch| v1::GetVendorBatchResponse { batch: Some(batch) }))
    }

    async fn cancel_vendor_batch(
        &self,
        request: Request<v1::CancelVendorBatchRequest>,
    ) -> Result<Response<v1::CancelVendorBatchResponse>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let span =
            Span::server("signalbox.v1.ProviderService/CancelVendorBatch", request.metadata().as_ref());
        let batch = batches::cancel(&self.dependencies, request.into_inner())
            .await
            .map_err(|failure| to_status(&failure));
        ended(&span, batch.map(|batch| v1::CancelVendorBatchResponse { batch: Some(batch) }))
    }

    async fn stream_vendor_batch_results(
        &self,
        request: Request<v1::StreamVendorBatchResultsRequest>,
    ) -> Result<Response<batches::Results>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let span = Span::server(
            "signalbox.v1.ProviderService/StreamVendorBatchResults",
            request.metadata().as_ref(),
        );
        let results = batches::results(&self.dependencies, request.into_inner()).await;
        ended(&span, results.map_err(|failure| to_status(&failure)))
    }

    async fn delete_vendor_batch_files(
        &self,
        request: Request<v1::DeleteVendorBatchFilesRequest>,
    ) -> Result<Response<v1::DeleteVendorBatchFilesResponse>, Status> {
        require(&request, Identity::is_of_deployment)?;
        let span =
            Span::server("signalbox.v1.ProviderService/DeleteVendorBatchFiles", request.metadata().as_ref());
        let deleted = batches::delete_files(&self.dependencies, request.into_inner())
            .await
            .map_err(|failure| to_status(&failure));
        ended(&span, deleted.map(|deleted| v1::DeleteVendorBatchFilesResponse { deleted }))
    }
}

/// The end of a call that has a span of its own.
fn ended<T>(span: &Span, result: Result<T, Status>) -> Result<Response<T>, Status> {
    if let Err(status) = &result {
        // The reason alone: messages may quote the vendor, and the vendor what it was sent.
        span.fail(from_status(status).reason.name());
    }
    span.end();
    result.map(Response::new)
}

/// Reasoning that nobody asked to see and no vendor needs back.
fn is_bare_reasoning(part: &Part) -> bool {
    matches!(part, Part::Reasoning(reasoning) if reasoning.signature.is_none())
}
