//! The handlers.

use crate::Dependencies;
use futures_util::stream::BoxStream;
use signalbox_api::{
    status::unimplemented,
    v1::{self, batch_service_server::BatchService},
};
use tonic::{Request, Response, Status, Streaming};

/// [`BatchService`] over a store.
#[derive(Debug)]
pub struct BatchLane {
    _dependencies: Dependencies,
}

impl BatchLane {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { _dependencies: dependencies }
    }
}

type Answer<T> = Result<Response<T>, Status>;

#[tonic::async_trait]
impl BatchService for BatchLane {
    type StreamBatchResultsStream = BoxStream<'static, Result<v1::StreamBatchResultsResponse, Status>>;

    async fn submit_batch_job(
        &self,
        _: Request<Streaming<v1::SubmitBatchJobRequest>>,
    ) -> Answer<v1::SubmitBatchJobResponse> {
        Err(unimplemented("SubmitBatchJob"))
    }

    async fn get_batch_job(&self, _: Request<v1::GetBatchJobRequest>) -> Answer<v1::GetBatchJobResponse> {
        Err(unimplemented("GetBatchJob"))
    }

    async fn list_batch_jobs(
        &self,
        _: Request<v1::ListBatchJobsRequest>,
    ) -> Answer<v1::ListBatchJobsResponse> {
        Err(unimplemented("ListBatchJobs"))
    }

    async fn cancel_batch_job(
        &self,
        _: Request<v1::CancelBatchJobRequest>,
    ) -> Answer<v1::CancelBatchJobResponse> {
        Err(unimplemented("CancelBatchJob"))
    }

    async fn stream_batch_results(
        &self,
        _: Request<v1::StreamBatchResultsRequest>,
    ) -> Answer<Self::StreamBatchResultsStream> {
        Err(unimplemented("StreamBatchResults"))
    }
}
