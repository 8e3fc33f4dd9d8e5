//! The handlers: who may call each, and where it is answered.

use crate::{Dependencies, jobs, results, submit};
use futures_util::stream::BoxStream;
use signalbox_api::{
    status::to_status,
    v1::{self, batch_service_server::BatchService},
};
use signalbox_kit::access::{identity, require};
use signalbox_ports::Identity;
use signalbox_types::Failure;
use tonic::{Request, Response, Status, Streaming};

/// [`BatchService`] over a store.
#[derive(Debug)]
pub struct BatchLane {
    dependencies: Dependencies,
}

impl BatchLane {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies }
    }
}

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(outcome: Result<T, Failure>) -> Answer<T> {
    outcome.map(Response::new).map_err(|failure| to_status(&failure))
}

/// The trace that a call belongs to, by its `traceparent`; empty without.
fn trace_id<T>(request: &Request<T>) -> String {
    let parent = request.metadata().get("traceparent").and_then(|parent| parent.to_str().ok());
    let id = parent.and_then(|parent| parent.split('-').nth(1)).unwrap_or_default();
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { id.to_owned() } else { String::new() }
}

#[tonic::async_trait]
impl BatchService for BatchLane {
    type StreamBatchResultsStream = BoxStream<'static, Result<v1::StreamBatchResultsResponse, Status>>;

    async fn submit_batch_job(
        &self,
        request: Request<Streaming<v1::SubmitBatchJobRequest>>,
    ) -> Answer<v1::SubmitBatchJobResponse> {
        let caller = require(&request, Identity::may_spend)?;
        let trace_id = trace_id(&request);
        answer(submit::submit(&self.dependencies, &caller, trace_id, request.into_inner()).await)
    }

    async fn get_batch_job(
        &self,
        request: Request<v1::GetBatchJobRequest>,
    ) -> Answer<v1::GetBatchJobResponse> {
        let caller = identity(&request);
        answer(jobs::get(&self.dependencies, &caller, &request.into_inner()).await)
    }

    async fn list_batch_jobs(
        &self,
        request: Request<v1::ListBatchJobsRequest>,
    ) -> Answer<v1::ListBatchJobsResponse> {
        let caller = identity(&request);
        answer(jobs::list(&self.dependencies, &caller, &request.into_inner()).await)
    }

    async fn cancel_batch_job(
        &self,
        request: Request<v1::CancelBatchJobRequest>,
    ) -> Answer<v1::CancelBatchJobResponse> {
        let caller = require(&request, Identity::may_spend)?;
        answer(jobs::cancel(&self.dependencies, &caller, &request.into_inner()).await)
    }

    async fn stream_batch_results(
        &self,
        request: Request<v1::StreamBatchResultsRequest>,
    ) -> Answer<Self::StreamBatchResultsStream> {
        let caller = identity(&request);
        answer(results::stream(&self.dependencies, &caller, request.into_inner()).await)
    }
}
