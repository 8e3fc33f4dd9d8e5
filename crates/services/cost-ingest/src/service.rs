//! The handlers. Callers are not authenticated yet, so each is answered for the tenant that it names.

use crate::{Progress, SharedAlerts, Tail, export, read};
use futures_util::{StreamExt, stream::BoxStream};
use signalbox_api::{
    status::to_status,
    v1::{self, usage_service_server::UsageService},
};
use signalbox_kit::{Clock, config::ConfigHandle};
use signalbox_ports::{DeadLetters, usage_store::UsageStore};
use signalbox_types::Failure;
use std::sync::Arc;
use tonic::{Request, Response, Status};

/// What the service answers from.
#[derive(Debug, Clone)]
pub struct Dependencies {
    /// Plans and tenants.
    pub config: Arc<ConfigHandle>,
    /// What was used.
    pub store: Arc<dyn UsageStore>,
    /// What could not be stored.
    pub letters: Arc<dyn DeadLetters>,
    /// What the ingester of this process stores.
    pub tail: Tail,
    /// How far it is.
    pub progress: Progress,
    /// Models that behave unlike their history.
    pub alerts: SharedAlerts,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
}

/// [`UsageService`] over a store.
#[derive(Debug)]
pub struct Usage {
    dependencies: Dependencies,
}

impl Usage {
    pub(crate) fn new(dependencies: Dependencies) -> Self {
        Self { dependencies }
    }
}

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(outcome: Result<T, Failure>) -> Answer<T> {
    outcome.map(Response::new).map_err(|failure| to_status(&failure))
}

#[tonic::async_trait]
impl UsageService for Usage {
    async fn query_usage(&self, request: Request<v1::QueryUsageRequest>) -> Answer<v1::QueryUsageResponse> {
        answer(read::query(&self.dependencies, request.into_inner()).await)
    }

    async fn get_request(&self, request: Request<v1::GetRequestRequest>) -> Answer<v1::GetRequestResponse> {
        answer(read::get_request(&self.dependencies, request.into_inner()).await)
    }

    async fn list_requests(
        &self,
        request: Request<v1::ListRequestsRequest>,
    ) -> Answer<v1::ListRequestsResponse> {
        answer(read::list_requests(&self.dependencies, request.into_inner()).await)
    }

    type StreamUsageStream = BoxStream<'static, Result<v1::StreamUsageResponse, Status>>;

    async fn stream_usage(
        &self,
        request: Request<v1::StreamUsageRequest>,
    ) -> Answer<Self::StreamUsageStream> {
        let filter = request.into_inner().filter.unwrap_or_default();
        answer(self.dependencies.tail.follow(filter).map(|events| events.map(Ok).boxed()))
    }

    type ExportUsageStream = BoxStream<'static, Result<v1::ExportUsageResponse, Status>>;

    async fn export_usage(
        &self,
        request: Request<v1::ExportUsageRequest>,
    ) -> Answer<Self::ExportUsageStream> {
        let pieces = export::export(&self.dependencies, &request.into_inner()).await;
        let told = |piece: Result<_, Failure>| piece.map_err(|failure| to_status(&failure));
        answer(pieces.map(|pieces| pieces.map(told).boxed()))
    }

    async fn get_overage(&self, request: Request<v1::GetOverageRequest>) -> Answer<v1::GetOverageResponse> {
        answer(read::overage(&self.dependencies, request.into_inner()).await)
    }

    async fn list_alerts(&self, request: Request<v1::ListAlertsRequest>) -> Answer<v1::ListAlertsResponse> {
        answer(self.dependencies.alerts.page(request.get_ref()))
    }

    async fn list_dead_letters(
        &self,
        request: Request<v1::ListDeadLettersRequest>,
    ) -> Answer<v1::ListDeadLettersResponse> {
        answer(read::list_letters(&self.dependencies, request.into_inner()).await)
    }

    async fn replay_dead_letters(
        &self,
        request: Request<v1::ReplayDeadLettersRequest>,
    ) -> Answer<v1::ReplayDeadLettersResponse> {
        answer(read::replay_letters(&self.dependencies, request.into_inner()).await)
    }
}
