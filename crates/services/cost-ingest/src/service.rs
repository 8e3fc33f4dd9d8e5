//! The handlers. A tenant's key sees its own tenant, and needs not name it.

use crate::{Progress, SharedAlerts, Tail, export, own, read};
use futures_util::{StreamExt, stream::BoxStream};
use signalbox_api::{
    status::to_status,
    v1::{self, usage_service_server::UsageService},
};
use signalbox_kit::{
    Clock,
    access::{identity, require},
    config::ConfigHandle,
};
use signalbox_ports::{DeadLetters, Identity, usage_store::UsageStore};
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

/// A request as one about the caller's own, by what `confine` makes of it.
fn confined<T>(
    request: Request<T>,
    confine: fn(&Identity, &mut T) -> Result<(), Failure>,
) -> Result<T, Status> {
    let caller = identity(&request);
    let mut request = request.into_inner();
    confine(&caller, &mut request).map_err(|failure| to_status(&failure))?;
    Ok(request)
}

type Answer<T> = Result<Response<T>, Status>;

fn answer<T>(outcome: Result<T, Failure>) -> Answer<T> {
    outcome.map(Response::new).map_err(|failure| to_status(&failure))
}

#[tonic::async_trait]
impl UsageService for Usage {
    async fn query_usage(&self, request: Request<v1::QueryUsageRequest>) -> Answer<v1::QueryUsageResponse> {
        let request = confined(request, |caller, request| own::filter(caller, &mut request.filter))?;
        answer(read::query(&self.dependencies, request).await)
    }

    async fn get_request(&self, request: Request<v1::GetRequestRequest>) -> Answer<v1::GetRequestResponse> {
        let request = confined(request, |caller, request| own::tenant(caller, &mut request.tenant_id))?;
        answer(read::get_request(&self.dependencies, request).await)
    }

    async fn list_requests(
        &self,
        request: Request<v1::ListRequestsRequest>,
    ) -> Answer<v1::ListRequestsResponse> {
        let request = confined(request, |caller, request| own::filter(caller, &mut request.filter))?;
        answer(read::list_requests(&self.dependencies, request).await)
    }

    type StreamUsageStream = BoxStream<'static, Result<v1::StreamUsageResponse, Status>>;

    async fn stream_usage(
        &self,
        request: Request<v1::StreamUsageRequest>,
    ) -> Answer<Self::StreamUsageStream> {
        let request = confined(request, |caller, request| own::filter(caller, &mut request.filter))?;
        let filter = request.filter.unwrap_or_default();
        answer(self.dependencies.tail.follow(filter).map(|events| events.map(Ok).boxed()))
    }

    type ExportUsageStream = BoxStream<'static, Result<v1::ExportUsageResponse, Status>>;

    async fn export_usage(
        &self,
        request: Request<v1::ExportUsageRequest>,
    ) -> Answer<Self::ExportUsageStream> {
        let request = confined(request, |caller, request| own::tenant(caller, &mut request.tenant_id))?;
        let pieces = export::export(&self.dependencies, &request).await;
        let told = |piece: Result<_, Failure>| piece.map_err(|failure| to_status(&failure));
        answer(pieces.map(|pieces| pieces.map(told).boxed()))
    }

    async fn get_overage(&self, request: Request<v1::GetOverageRequest>) -> Answer<v1::GetOverageResponse> {
        let request = confined(request, |caller, request| own::tenant(caller, &mut request.tenant_id))?;
        answer(read::overage(&self.dependencies, request).await)
    }

    async fn list_alerts(&self, request: Request<v1::ListAlertsRequest>) -> Answer<v1::ListAlertsResponse> {
        require(&request, Identity::may_operate)?;
        answer(self.dependencies.alerts.page(request.get_ref()))
    }

    async fn list_dead_letters(
        &self,
        request: Request<v1::ListDeadLettersRequest>,
    ) -> Answer<v1::ListDeadLettersResponse> {
        require(&request, Identity::may_operate)?;
        answer(read::list_letters(&self.dependencies, request.into_inner()).await)
    }

    async fn replay_dead_letters(
        &self,
        request: Request<v1::ReplayDeadLettersRequest>,
    ) -> Answer<v1::ReplayDeadLettersResponse> {
        require(&request, Identity::may_operate)?;
        answer(read::replay_letters(&self.dependencies, request.into_inner()).await)
    }

    async fn discard_dead_letters(
        &self,
        request: Request<v1::DiscardDeadLettersRequest>,
    ) -> Answer<v1::DiscardDeadLettersResponse> {
        require(&request, Identity::may_operate)?;
        answer(read::discard_letters(&self.dependencies, request.into_inner()).await)
    }
}
