//! The handlers.

mod answer;
mod begin;

use crate::{
    SharedDrills, SharedHealth, SharedHolds,
    attempts::Hedges,
    batch,
    cache::{Cache, Replay},
    caller::Caller,
    catalog_pages, embed, estimate,
    metrics::RequestTimer,
    plan::{self, UsualCosts},
    rates,
    stream::AnswerStream,
    vendors::ConfiguredVendors,
};
use begin::{Arrival, Way};
use futures_util::future::Either;
use signalbox_api::{
    status::{self, grpc_timeout},
    v1::{self, provider_service_client::ProviderServiceClient, router_service_server::RouterService},
};
use signalbox_kit::{
    Clock, Hop,
    access::require,
    config::ConfigHandle,
    content::{self, Means},
    telemetry::trace::Span,
};
use signalbox_ports::{Admission, Identity, Moderator, RatesLeft, UsageLog};
use std::sync::Arc;
use tokio::time::Instant;
use tonic::{Request, Response, Status};

/// What the router works with.
#[derive(Debug, Clone)]
pub struct Dependencies {
    /// Models and names.
    pub config: Arc<ConfigHandle>,
    /// The way to the adapter.
    pub adapter: Hop,
    /// Vendors that the adapter can reach.
    pub vendors: ConfiguredVendors,
    /// Models whose vendors asked to wait.
    pub holds: SharedHolds,
    /// What was seen of each model lately.
    pub health: SharedHealth,
    /// Faults injected on purpose.
    pub drills: SharedDrills,
    /// What requests usually cost.
    pub usual_costs: UsualCosts,
    /// The way to moderation endpoints, where there is one.
    pub moderator: Option<Arc<dyn Moderator>>,
    /// Answers that were given before, where they are kept.
    pub cache: Option<Cache>,
    /// Where every request is accounted for.
    pub usage: Arc<dyn UsageLog>,
    /// What budgets and rates allow; [`signalbox_ports::Unlimited`] without any.
    pub admission: Arc<dyn Admission>,
    /// Wall time, for prices and shutdown dates.
    pub clock: Arc<dyn Clock>,
}

impl Dependencies {
    /// What content policies are applied with.
    pub(crate) fn means(&self) -> Means<'_> {
        Means { environment: self.config.environment(), moderator: self.moderator.as_ref() }
    }
}

/// [`RouterService`] over one adapter role.
#[derive(Debug)]
pub struct Router {
    dependencies: Dependencies,
    adapter: ProviderServiceClient<Hop>,
    hedges: Arc<Hedges>,
}

impl Router {
    pub(crate) fn new(dependencies: Dependencies, max_message_bytes: usize) -> Self {
        let adapter = ProviderServiceClient::new(dependencies.adapter.clone())
            .max_decoding_message_size(max_message_bytes)
            .max_encoding_message_size(max_message_bytes);
        Self { dependencies, adapter, hedges: Arc::default() }
    }
}

#[tonic::async_trait]
impl RouterService for Router {
    type StreamGenerateStream = Either<AnswerStream, Replay>;

    async fn generate(
        &self,
        request: Request<v1::GenerateRequest>,
    ) -> Result<Response<v1::GenerateResponse>, Status> {
        let started = Instant::now();
        let timer = RequestTimer::start("Generate", started);
        let span = Span::server("signalbox.v1.RouterService/Generate", request.metadata().as_ref());
        let arrival = Arrival::of(&request, false, started, &span);
        let mut rates = RatesLeft::default();
        let answer = match self.begin(request.into_inner(), arrival).await {
            Ok(Way::Asked(run)) => {
                rates = run.rates();
                self.answer(*run).await
            }
            Ok(Way::Known(hit)) => {
                rates = hit.rates;
                hit.trace(&span);
                Ok(hit.whole())
            }
            Err(status) => Err(status),
        };
        close(answer.as_ref().err(), timer, &span);
        answer.map(|answer| rates::with(rates, answer))
    }

    async fn stream_generate(
        &self,
        request: Request<v1::StreamGenerateRequest>,
    ) -> Result<Response<Self::StreamGenerateStream>, Status> {
        let started = Instant::now();
        let timer = RequestTimer::start("StreamGenerate", started);
        let span = Span::server("signalbox.v1.RouterService/StreamGenerate", request.metadata().as_ref());
        let arrival = Arrival::of(&request, true, started, &span);
        let request = request.into_inner().request.unwrap_or_default();
        let committed = match self.begin(request, arrival).await {
            Ok(Way::Asked(run)) => self.commit(*run).await,
            Ok(Way::Known(hit)) => {
                hit.trace(&span);
                return Ok(rates::with(hit.rates, Either::Right(hit.replay(timer, span))));
            }
            Err(status) => Err(status),
        };
        match committed {
            Ok((begun, run)) => {
                let rates = run.rates();
                Ok(rates::with(rates, Either::Left(AnswerStream::new(begun, run, timer, span))))
            }
            Err(status) => {
                close(Some(&status), timer, &span);
                Err(status)
            }
        }
    }

    async fn estimate_cost(
        &self,
        request: Request<v1::EstimateCostRequest>,
    ) -> Result<Response<v1::EstimateCostResponse>, Status> {
        let caller = Caller::of(&request);
        let request = caller.asking(request.into_inner().request)?;
        estimate::estimate(&self.dependencies, request, caller.key_id()).await.map(Response::new)
    }

    async fn explain_route(
        &self,
        request: Request<v1::ExplainRouteRequest>,
    ) -> Result<Response<v1::ExplainRouteResponse>, Status> {
        let caller = Caller::of(&request);
        let v1::ExplainRouteRequest { request, stream } = request.into_inner();
        let request = caller.asking(request)?;
        let catalog = self.dependencies.config.catalog();
        let admitted = estimate::admit(&self.dependencies, &catalog, request, caller.key_id()).await?;
        plan::explain(&self.dependencies, &catalog, &admitted, stream)
            .map(|mut explained| {
                let note = content::note(&catalog, &admitted.request.tenant_id, &admitted.request.prompt);
                explained.decision.iter_mut().for_each(|decision| decision.notes.extend(note.clone()));
                Response::new(explained)
            })
            .map_err(|refused| refused.into_status(&admitted.request.request_id))
    }

    async fn prepare_batch_item(
        &self,
        request: Request<v1::PrepareBatchItemRequest>,
    ) -> Result<Response<v1::PrepareBatchItemResponse>, Status> {
        require(&request, Identity::is_of_deployment)?;
        batch::prepare(&self.dependencies, request.into_inner()).await.map(Response::new)
    }

    async fn embed(&self, request: Request<v1::EmbedRequest>) -> Result<Response<v1::EmbedResponse>, Status> {
        let started = Instant::now();
        let timer = RequestTimer::start("Embed", started);
        let span = Span::server("signalbox.v1.RouterService/Embed", request.metadata().as_ref());
        let timeout = grpc_timeout(request.metadata().as_ref());
        let asked = (Caller::of(&request), request.into_inner());
        let adapter = self.adapter.clone();
        let answer = embed::embed(&self.dependencies, adapter, asked, timeout, started, &span).await;
        close(answer.as_ref().err(), timer, &span);
        answer.map(|(rates, answer)| rates::with(rates, answer))
    }

    async fn list_models(
        &self,
        request: Request<v1::ListModelsRequest>,
    ) -> Result<Response<v1::ListModelsResponse>, Status> {
        catalog_pages::list(&self.dependencies, &request.into_inner()).map(Response::new)
    }

    async fn get_model(
        &self,
        request: Request<v1::GetModelRequest>,
    ) -> Result<Response<v1::GetModelResponse>, Status> {
        catalog_pages::get(&self.dependencies, &request.into_inner().name).map(Response::new)
    }
}

fn close(failed: Option<&Status>, timer: RequestTimer, span: &Span) {
    match failed {
        None => timer.answered(),
        Some(status) => {
            span.fail(status::from_status(status).reason.name());
            timer.failed(status);
        }
    }
    span.end();
}
