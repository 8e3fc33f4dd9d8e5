//! The simulated vendors as the adapter shows them to a router.

use crate::{
    scenario::PROMPT_TOKENS,
    world::{Call, Reply, World},
};
use futures_util::{
    Stream, StreamExt,
    stream::{self, BoxStream, Empty},
};
use signalbox_api::{
    convert,
    status::to_status,
    v1::{self, provider_service_server::ProviderService},
};
use signalbox_types::{ErrorReason, Failure};
use std::sync::Arc;
use tokio::time::sleep_until;
use tonic::{Request, Response, Status};

/// The prefix of request ids: their number follows.
const PREFIX: &str = "sim-";

/// The id of a request.
pub(crate) fn request_id(number: u64) -> String {
    format!("{PREFIX}{number}")
}

/// The adapter that one router calls.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedFleet {
    world: Arc<World>,
    /// Which router that is.
    caller: usize,
}

impl SimulatedFleet {
    pub(crate) fn new(world: Arc<World>, caller: usize) -> Self {
        Self { world, caller }
    }

    fn call(&self, request: v1::InvokeModelRequest) -> Result<Call, Failure> {
        let vendors = &self.world.scenario.vendors;
        let target = request.target.unwrap_or_default();
        let id = request.request.unwrap_or_default().request_id;
        let vendor = vendors.iter().position(|vendor| vendor.name == target.vendor);
        let number = id.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
        let (Some(vendor), Some(request_number)) = (vendor, number) else {
            return Err(Failure::new(ErrorReason::Internal, "no request of this simulation"));
        };
        let timeout = request.timeout.and_then(convert::duration_from_proto);
        Ok(Call { vendor, request: request_number, caller: self.caller, timeout })
    }
}

#[tonic::async_trait]
impl ProviderService for SimulatedFleet {
    type StreamInvokeModelStream = Empty<Result<v1::StreamInvokeModelResponse, Status>>;
    type WatchHealthStream = BoxStream<'static, Result<v1::WatchHealthResponse, Status>>;
    type StreamVendorBatchResultsStream =
        BoxStream<'static, Result<v1::StreamVendorBatchResultsResponse, Status>>;

    async fn invoke_model(
        &self,
        request: Request<v1::InvokeModelRequest>,
    ) -> Result<Response<v1::InvokeModelResponse>, Status> {
        let call = self.call(request.into_inner()).map_err(|failure| to_status(&failure))?;
        let reply = self.world.call(call).await.map_err(|failure| to_status(&failure))?;
        Ok(Response::new(answer(reply)))
    }

    async fn stream_invoke_model(
        &self,
        _: Request<v1::StreamInvokeModelRequest>,
    ) -> Result<Response<Self::StreamInvokeModelStream>, Status> {
        Err(Status::unimplemented("streams of the simulation"))
    }

    async fn invoke_embedding(
        &self,
        _: Request<v1::InvokeEmbeddingRequest>,
    ) -> Result<Response<v1::InvokeEmbeddingResponse>, Status> {
        Err(Status::unimplemented("embeddings of the simulation"))
    }

    async fn count_tokens(
        &self,
        _: Request<v1::CountTokensRequest>,
    ) -> Result<Response<v1::CountTokensResponse>, Status> {
        Err(Status::unimplemented("token counts of the simulation"))
    }

    async fn watch_health(
        &self,
        _: Request<v1::WatchHealthRequest>,
    ) -> Result<Response<Self::WatchHealthStream>, Status> {
        Ok(Response::new(reports(self.world.clone()).map(Ok).boxed()))
    }

    async fn submit_vendor_batch(
        &self,
        _: Request<tonic::Streaming<v1::SubmitVendorBatchRequest>>,
    ) -> Result<Response<v1::SubmitVendorBatchResponse>, Status> {
        Err(Status::unimplemented("a simulated fleet takes no batches"))
    }

    async fn get_vendor_batch(
        &self,
        _: Request<v1::GetVendorBatchRequest>,
    ) -> Result<Response<v1::GetVendorBatchResponse>, Status> {
        Err(Status::unimplemented("a simulated fleet takes no batches"))
    }

    async fn cancel_vendor_batch(
        &self,
        _: Request<v1::CancelVendorBatchRequest>,
    ) -> Result<Response<v1::CancelVendorBatchResponse>, Status> {
        Err(Status::unimplemented("a simulated fleet takes no batches"))
    }

    async fn stream_vendor_batch_results(
        &self,
        _: Request<v1::StreamVendorBatchResultsRequest>,
    ) -> Result<Response<Self::StreamVendorBatchResultsStream>, Status> {
        Err(Status::unimplemented("a simulated fleet takes no batches"))
    }

    async fn delete_vendor_batch_files(
        &self,
        _: Request<v1::DeleteVendorBatchFilesRequest>,
    ) -> Result<Response<v1::DeleteVendorBatchFilesResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

/// A report on every vendor, again and again.
fn reports(world: Arc<World>) -> impl Stream<Item = v1::WatchHealthResponse> {
    let every = world.scenario.report_every;
    stream::unfold((world, every), move |(world, due)| async move {
        sleep_until(world.instant(due)).await;
        let round: Vec<_> =
            (0..world.scenario.vendors.len()).filter_map(|vendor| world.report(vendor)).collect();
        Some((stream::iter(round), (world, due + every)))
    })
    .flatten()
}

fn answer(reply: Reply) -> v1::InvokeModelResponse {
    let usage = v1::TokenUsage {
        input_tokens: PROMPT_TOKENS,
        output_tokens: reply.tokens,
        source: v1::token_usage::Source::Vendor as i32,
        ..Default::default()
    };
    let facts = v1::CallFacts {
        usage: Some(usage),
        cost: Some(v1::Cost { nano_eur: reply.nano_eur, ..Default::default() }),
        latency: Some(convert::duration_to_proto(reply.took)),
        ..Default::default()
    };
    v1::InvokeModelResponse {
        finish_reason: v1::FinishReason::Stop as i32,
        facts: Some(facts),
        ..Default::default()
    }
}
