//! The handlers.

use crate::{
    SharedDrills, SharedHealth, SharedHolds,
    account::Account,
    admission,
    attempts::{Call, Hedges, Run, first_content},
    batch,
    budget::Purse,
    cache::{self, Answered, Asker, Cache, Hit, Met, Replay},
    caller::Caller,
    catalog_pages, embed, estimate,
    metrics::RequestTimer,
    plan::{self, UsualCosts},
    rates,
    stream::{AnswerStream, Begun, is_news_of_usage},
    vendors::ConfiguredVendors,
};
use futures_util::future::Either;
use signalbox_api::{
    status::{self, grpc_timeout, to_status},
    v1::{
        self, provider_service_client::ProviderServiceClient, router_service_server::RouterService,
        usage_event::Operation,
    },
};
use signalbox_kit::{
    Clock, Hop,
    access::require,
    config::ConfigHandle,
    content::{self, Content, Means, Withheld},
    telemetry::trace::Span,
};
use signalbox_ports::{Admission, Identity, Moderator, RatesLeft, UsageLog};
use signalbox_types::{ErrorReason, Failure};
use std::{sync::Arc, time::Duration};
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

    /// Checks, applies the tenant's content policy, plans, and is ready for the first attempt.
    async fn begin(
        &self,
        (caller, mut wire): (Caller, v1::GenerateRequest),
        grpc_timeout: Option<Duration>,
        stream: bool,
        started: Instant,
        span: &Span,
    ) -> Result<Way, Status> {
        let catalog = self.dependencies.config.catalog();
        caller.spends_as(&mut wire.tenant_id)?;
        admission::refuse_batch(&wire).map_err(|failure| to_status(&failure))?;
        let mut admitted = admission::admit(wire, caller.key_id(), grpc_timeout, &catalog, started)
            .map_err(|failure| to_status(&failure))?;
        let operation = if stream { Operation::StreamGenerate } else { Operation::Generate };
        let mut account = Account::of(&self.dependencies, &admitted, operation, started, span);
        let opened = Purse::open(&self.dependencies, &catalog, &mut admitted).await;
        account.in_locale(&admitted.request.locale);
        let looked = opened.and_then(|purse| account.looked_into(purse.as_deref()).map(|()| purse));
        let purse = match looked {
            Ok(purse) => purse,
            Err(failure) => return Err(account.refuse(to_status(&failure))),
        };
        let content = match Content::admit(self.dependencies.means(), &catalog, &mut admitted.request).await {
            Ok(content) => content,
            Err(status) => return Err(account.refuse(status)),
        };
        let asker = Asker {
            is_sensitive: content.as_ref().is_some_and(|content| content.has_found()),
            pays_nothing: purse.as_ref().is_some_and(|purse| purse.pays_nothing()),
        };
        let mut keep = match cache::look(&self.dependencies, &catalog, &admitted, asker, &mut account).await {
            Met::Miss(keep) => keep,
            Met::Hit(answer) => {
                let hit = Hit::admit(&self.dependencies, purse.as_deref(), content, *answer, account);
                return hit.await.map(|hit| Way::Known(Box::new(hit)));
            }
        };
        if let Some(Err(failure)) = purse.as_ref().map(|purse| purse.allows_calls()) {
            return Err(account.refuse(to_status(&failure)));
        }
        let planned = Purse::plan_for(purse, &self.dependencies, &catalog, &mut admitted, &mut account).await;
        let planned = match planned {
            Ok(planned) => planned,
            Err(refused) => {
                account.planned(refused.decision.clone(), 0);
                return Err(account.refuse(refused.into_status(&admitted.request.request_id)));
            }
        };
        keep.iter_mut().for_each(|keep| keep.planned(&planned, &self.dependencies.drills));
        let hedges = stream.then_some(&self.hedges);
        let run = Run::new(&self.dependencies, &catalog, admitted, planned, account, span.clone(), hedges);
        Ok(Way::Asked(Box::new(run.under(content).keeping(keep))))
    }

    async fn answer(&self, mut run: Run) -> Result<v1::GenerateResponse, Status> {
        loop {
            let call;
            (run, call) = run.start().await?;
            match self.adapter.clone().invoke_model(call.request).await {
                Ok(answer) => {
                    let mut answer = answer.into_inner();
                    match release(&mut run, &mut answer).await {
                        Ok(()) => return Ok(whole_answer(run, answer)),
                        Err(Withheld::Refused(failure)) => return Err(run.refused(&failure, answer.facts)),
                        Err(Withheld::Invalid(failure)) => {
                            let (finish, facts) = (answer.finish_reason(), answer.facts.unwrap_or_default());
                            run = run.after_invalid(failure, finish, facts).await?;
                        }
                    }
                }
                Err(status) => run = run.after(status).await?,
            }
        }
    }

    /// Makes attempts until one has sent its first event. Before that nothing has reached the client.
    async fn commit(&self, mut run: Run) -> Result<(Begun, Run), Status> {
        let limit = run.first_content_timeout;
        let open = |call| open(self.adapter.clone(), call, limit);
        loop {
            let call;
            (run, call) = run.start().await?;
            match first_content(&mut run, call, open).await {
                Ok(begun) => return Ok((begun, run)),
                Err(status) => run = run.after(status).await?,
            }
        }
    }
}

/// Where an answer comes from.
enum Way {
    /// Vendors are asked for it.
    Asked(Box<Run>),
    /// It was given before.
    Known(Box<Hit>),
}

/// The adapter gives up a silent vendor by itself, and counts that; one that says nothing for this much longer is given
/// up in turn.
const ADAPTER_MARGIN: Duration = Duration::from_millis(100);

/// Starts a streamed attempt and waits for its first content, for as long as the task type allows.
async fn open(
    adapter: ProviderServiceClient<Hop>,
    call: Call,
    limit: Option<Duration>,
) -> Result<Begun, Status> {
    let first = first_event(adapter, call);
    let Some(limit) = limit else { return first.await };
    tokio::time::timeout(limit + ADAPTER_MARGIN, first).await.unwrap_or_else(|_| {
        let message =
            format!("no content came within {} ms (first_byte_timeout of the task type)", limit.as_millis());
        Err(to_status(&Failure::new(ErrorReason::VendorTimeout, message)))
    })
}

async fn first_event(mut adapter: ProviderServiceClient<Hop>, call: Call) -> Result<Begun, Status> {
    let Call { request, seen } = call;
    let request = request.map(|request| v1::StreamInvokeModelRequest { request: Some(request) });
    let mut events = adapter.stream_invoke_model(request).await?.into_inner();
    while let Some(message) = events.message().await? {
        let Some(first) = message.event else { continue };
        seen.event(&first);
        if !is_news_of_usage(&first) {
            return Ok(Begun { first, events, seen });
        }
    }
    Err(to_status(&Failure::new(ErrorReason::StreamTruncated, "the adapter's stream ended before it began")))
}

/// Lets an answer out that the tenant's content policy allows, and that is what was asked for.
async fn release(run: &mut Run, answer: &mut v1::InvokeModelResponse) -> Result<(), Withheld> {
    let finish = answer.finish_reason();
    let Some(mut content) = run.take_content() else {
        let checked = run.gate().map_or(Ok(()), |gate| gate.check(&mut answer.content, finish));
        return checked.map_err(Withheld::Invalid);
    };
    let released = content.release(&mut answer.content, run.gate(), finish).await;
    run.keep_content(content);
    released
}

fn whole_answer(run: Run, answer: v1::InvokeModelResponse) -> v1::GenerateResponse {
    let finish_reason = answer.finish_reason();
    let (request_id, mut served) = run.served(answer.facts.unwrap_or_default(), answer.finish_reason);
    served.keep(|| Answered {
        content: answer.content.clone(),
        finish_reason,
        vendor_finish_reason: answer.vendor_finish_reason.clone(),
    });
    v1::GenerateResponse {
        request_id,
        content: answer.content,
        finish_reason: answer.finish_reason,
        vendor_finish_reason: answer.vendor_finish_reason,
        usage: Some(served.usage),
        cost: Some(served.cost),
        route: Some(served.route),
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
        let timeout = grpc_timeout(request.metadata().as_ref());
        let asked = (Caller::of(&request), request.into_inner());
        let mut rates = RatesLeft::default();
        let answer = match self.begin(asked, timeout, false, started, &span).await {
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
        let timeout = grpc_timeout(request.metadata().as_ref());
        let caller = Caller::of(&request);
        let request = request.into_inner().request.unwrap_or_default();
        let committed = match self.begin((caller, request), timeout, true, started, &span).await {
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
