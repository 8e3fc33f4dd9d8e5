//! Embeddings: one model, no failover to another, since vectors of different models cannot be compared.

use crate::{
    account::Account,
    budget::{BudgetState, Purse},
    caller::Caller,
    route::RouteLog,
    service::Dependencies,
    trace,
};
use signalbox_api::{
    convert,
    status::{from_status, to_status},
    v1::{self, attempt::Cause, provider_service_client::ProviderServiceClient},
};
use signalbox_kit::{
    Hop,
    catalog::{Catalog, CatalogModel},
    content::{Content, ErrorTexts},
    hop,
    telemetry::trace::Span,
};
use signalbox_ports::{Payer, RatesLeft, Worst};
use signalbox_pricing::{Day, estimate_input_tokens};
use signalbox_resilience::{Attempts, FailoverRules, Next, Reconnect};
use signalbox_types::{Capability, ErrorReason, Failure, Lane, ModelRef, ModelSelector, Money};
use std::time::Duration;
use tokio::time::Instant;
use tonic::{Request, Status};
use uuid::Uuid;

/// The alias used when a request names no model.
const DEFAULT_ALIAS: &str = "embedding";

pub(crate) async fn embed(
    dependencies: &Dependencies,
    adapter: ProviderServiceClient<Hop>,
    (caller, mut wire): (Caller, v1::EmbedRequest),
    grpc_timeout: Option<Duration>,
    started: Instant,
    span: &Span,
) -> Result<(RatesLeft, v1::EmbedResponse), Status> {
    caller.spends_as(&mut wire.tenant_id)?;
    if wire.request_id.is_empty() {
        wire.request_id = Uuid::now_v7().to_string();
    }
    let selector = convert::check_embed_request(&wire).map_err(|failure| to_status(&failure))?;
    let wanted = wire.timeout.and_then(convert::duration_from_proto);
    let timeout = [wanted, grpc_timeout].into_iter().flatten().min();
    let deadline = timeout.and_then(|timeout| started.checked_add(timeout));
    let catalog = dependencies.config.catalog();
    let mut account = Account::of_embedding(dependencies, &wire, caller.key_id(), deadline, started, span);
    let prepared = prepare(dependencies, &catalog, selector, &mut wire, &mut account).await;
    let Prepared { model, findings, purse, ceiling } = match prepared {
        Ok(prepared) => prepared,
        Err(status) => return Err(account.refuse(status)),
    };
    let prompt_tokens = estimate_input_tokens(&wire.inputs);
    account.planned(decision(&model, catalog.version()), prompt_tokens);
    if let Some(purse) = purse {
        let worst = Worst { cost: ceiling, tokens: prompt_tokens };
        match purse.take(dependencies, worst, false).await {
            Ok(taken) => account.paid_by(taken),
            Err(short) => return Err(account.refuse(to_status(&short.failure))),
        }
    }
    let rates = account.rates();
    let mut log = RouteLog::new(account);
    log.found(findings);
    dependencies.health.on_request();
    let attempts = Attempts::new(rules(&catalog), [model.vendor.clone()]);
    let reconnect = Reconnect::new(catalog.failover().adapter_patience.0);
    let error_texts = ErrorTexts::of(&catalog, &wire.tenant_id);
    let under_way = Embedding {
        dependencies,
        wire,
        model,
        ceiling,
        deadline,
        span,
        log,
        error_texts,
        attempts,
        reconnect,
    };
    under_way.run(adapter).await.map(|answer| (rates, answer))
}

/// A request for vectors that may be made.
struct Prepared {
    model: ModelRef,
    findings: Vec<v1::ContentFinding>,
    /// Who pays; `None` where nothing is counted.
    purse: Option<Box<Purse>>,
    /// What it costs at most, where that is counted.
    ceiling: Money,
}

/// Finds out what budgets leave, finds the model, and applies the tenant's content policy.
async fn prepare(
    dependencies: &Dependencies,
    catalog: &Catalog,
    selector: ModelSelector,
    wire: &mut v1::EmbedRequest,
    account: &mut Account,
) -> Result<Prepared, Status> {
    let opened = Purse::open_for_vectors(dependencies, catalog, || account.payer()).await;
    let (purse, budget) = opened.map_err(|failure| to_status(&failure))?;
    account.looked_into(purse.as_deref()).map_err(|failure| to_status(&failure))?;
    let found = choose(dependencies, catalog, selector, &wire.tenant_id, &budget);
    let model = found.map_err(|failure| to_status(&failure))?;
    let findings = admit_texts(dependencies, catalog, wire).await?;
    let day = Day::of(dependencies.clock.now());
    let worst = || catalog.prices().worst_case(&model, estimate_input_tokens(&wire.inputs), 0, day);
    let ceiling = purse.as_ref().map_or(Ok(Money::ZERO), |purse| {
        budget.pays(&model, worst()).map_err(|failure| purse.named(failure))
    });
    let ceiling = ceiling.map_err(|failure| to_status(&failure))?;
    Ok(Prepared { model, findings, purse, ceiling })
}

/// The same for an item of a batch job, which is not made here.
pub(crate) async fn prepare_item(
    dependencies: &Dependencies,
    catalog: &Catalog,
    mut wire: v1::EmbedRequest,
    key_id: &str,
) -> Result<v1::PrepareBatchItemResponse, Status> {
    if wire.request_id.is_empty() {
        wire.request_id = Uuid::now_v7().to_string();
    }
    wire.timeout = None;
    let selector = convert::check_embed_request(&wire).map_err(|failure| to_status(&failure))?;
    let payer =
        || Payer { tenant_id: wire.tenant_id.clone(), key_id: key_id.to_owned(), scene: wire.scene.clone() };
    let opened = Purse::open_for_vectors(dependencies, catalog, payer).await;
    let (purse, budget) = opened.map_err(|failure| to_status(&failure))?;
    let allowed = purse.as_ref().map_or(Ok(()), |purse| purse.allows(Lane::Batch));
    allowed.map_err(|failure| to_status(&failure))?;
    let found = choose(dependencies, catalog, selector, &wire.tenant_id, &budget);
    let model = found.map_err(|failure| to_status(&failure))?;
    let content_findings = admit_texts(dependencies, catalog, &mut wire).await?;
    let takes_batches =
        catalog.model(&model).is_some_and(|known| known.facts.capabilities.has(Capability::Batch));
    let lane = if takes_batches { Lane::Batch } else { Lane::Interactive };
    let (prices, day) = (catalog.prices(), Day::of(dependencies.clock.now()));
    let prompt_tokens = estimate_input_tokens(&wire.inputs);
    let worst = prices.worst_case_in(lane, &model, prompt_tokens, 0, day);
    if let Some(purse) = &purse {
        budget.pays(&model, worst).map_err(|failure| to_status(&purse.named(failure)))?;
    }
    let candidate = v1::CandidateEstimate {
        vendor: model.vendor.to_string(),
        model: model.model.to_string(),
        prompt_tokens,
        worst_case: Some(convert::cost_to_proto(worst, prices.price_version())),
        ..Default::default()
    };
    Ok(v1::PrepareBatchItemResponse {
        request: Some(v1::prepare_batch_item_response::Request::Embed(wire)),
        lane: convert::lane_to_proto(lane).into(),
        candidates: vec![candidate],
        decision: Some(decision(&model, catalog.version())),
        content_findings,
        max_invalid_retries: 0,
    })
}

/// Applies the tenant's content policy to the texts; gives what it found.
async fn admit_texts(
    dependencies: &Dependencies,
    catalog: &Catalog,
    wire: &mut v1::EmbedRequest,
) -> Result<Vec<v1::ContentFinding>, Status> {
    let Some(mut content) = Content::of(dependencies.means(), catalog, &wire.tenant_id) else {
        return Ok(Vec::new());
    };
    match content.admit_texts(&mut wire.inputs).await {
        Ok(()) => Ok(content.take_findings()),
        Err(failure) => Err(content.refusal(&failure, &wire.request_id)),
    }
}

/// There is one candidate.
fn decision(model: &ModelRef, catalog: &str) -> v1::Decision {
    let candidate = v1::Candidate {
        vendor: model.vendor.to_string(),
        model: model.model.to_string(),
        ..Default::default()
    };
    v1::Decision {
        requested: format!("model:{model}"),
        candidates: vec![candidate],
        catalog_version: catalog.to_owned(),
        ..Default::default()
    }
}

/// A request for vectors under way.
struct Embedding<'a> {
    dependencies: &'a Dependencies,
    wire: v1::EmbedRequest,
    model: ModelRef,
    /// What a call costs at most, where that is counted.
    ceiling: Money,
    deadline: Option<Instant>,
    span: &'a Span,
    log: RouteLog,
    error_texts: Option<ErrorTexts>,
    attempts: Attempts,
    reconnect: Reconnect,
}

impl Embedding<'_> {
    async fn run(mut self, mut adapter: ProviderServiceClient<Hop>) -> Result<v1::EmbedResponse, Status> {
        let mut cause = Cause::FirstChoice;
        loop {
            if let Err(failure) = self.log.begin(&self.model, cause, None) {
                return Err(self.log.failure(&failure));
            }
            let status = match adapter.invoke_embedding(self.request()).await {
                Ok(answer) => return Ok(self.answered(answer.into_inner())),
                Err(status) => status,
            };
            let mut failure = from_status(&status);
            if let Some(texts) = &self.error_texts {
                self.log.found(texts.look(&mut failure));
            }
            self.dependencies.holds.on_failure(&self.model, &failure);
            self.log.failed(&self.model, &failure, &status);
            let Some(wait) = self.wait_before_retry(&failure, &status) else {
                trace::failed(self.span, &self.log);
                return Err(self.log.failure(&failure));
            };
            if self.log.afford(self.ceiling).await.is_err() {
                trace::failed(self.span, &self.log);
                return Err(self.log.failure(&failure));
            }
            tokio::time::sleep(wait).await;
            cause = Cause::Retry;
        }
    }

    fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn wait_before_retry(&mut self, failure: &Failure, status: &Status) -> Option<Duration> {
        let left = self.time_left();
        if failure.reason == ErrorReason::Unavailable {
            let now = Instant::now().into_std();
            return self.reconnect.after_loss(hop::was_under_way(status), now, left);
        }
        match self.attempts.after(failure, false, left, || self.dependencies.health.may_retry()) {
            Next::Retry { after } => Some(after),
            // There is one candidate, so there is none to switch to.
            Next::Switch { .. } | Next::Stop => None,
        }
    }

    fn request(&self) -> Request<v1::InvokeEmbeddingRequest> {
        let Self { model, wire, .. } = self;
        let target = v1::Target { vendor: model.vendor.to_string(), model: model.model.to_string() };
        let left = self.time_left();
        let timeout = left.map(convert::duration_to_proto);
        let message =
            v1::InvokeEmbeddingRequest { target: Some(target), request: Some(wire.clone()), timeout };
        let mut request = Request::new(message);
        if let Some(left) = left {
            request.set_timeout(left);
        }
        self.span.inject(request.metadata_mut().as_mut());
        request
    }

    fn answered(self, answer: v1::InvokeEmbeddingResponse) -> v1::EmbedResponse {
        let facts = answer.facts.unwrap_or_default();
        self.dependencies.holds.on_success(&self.model, facts.quota_left);
        let served = self.log.served(&self.model, facts, v1::FinishReason::Unspecified.into());
        trace::served(self.span, &served.route);
        v1::EmbedResponse {
            request_id: self.wire.request_id,
            embeddings: answer.embeddings,
            usage: Some(served.usage),
            cost: Some(served.cost),
            route: Some(served.route),
        }
    }
}

fn rules(catalog: &Catalog) -> FailoverRules {
    let failover = catalog.failover();
    FailoverRules {
        quick_retry_delay: failover.quick_retry_delay.0,
        max_same_vendor_retries: failover.max_same_vendor_retries,
    }
}

/// The first target that is configured, served and open to the tenant; it must be an embedding model. To look further for one would let
/// the wrong name lead to some model, and vectors of different models cannot be compared.
fn choose(
    dependencies: &Dependencies,
    catalog: &Catalog,
    selector: ModelSelector,
    tenant: &str,
    budget: &BudgetState,
) -> Result<ModelRef, Failure> {
    let selector = match selector {
        ModelSelector::Unspecified => ModelSelector::Alias(DEFAULT_ALIAS.to_owned()),
        named => named,
    };
    let day = Day::of(dependencies.clock.now());
    let targets = catalog.resolve(&selector, "", tenant, day)?;
    let served = |target: &&ModelRef| dependencies.vendors.has(&target.vendor) && catalog.served(target, day);
    let known = |target| Some((target, catalog.model(target)?));
    let mut served = targets.preferred.iter().filter(served).filter_map(known);
    let access = [catalog.tenant(tenant).access(), budget.rules.access()];
    let denied = |(target, known): &(&ModelRef, &CatalogModel)| {
        access.iter().find_map(|access| access.exclusion(target, &known.labels))
    };
    let Some((first, known)) = served.clone().find(|target| denied(target).is_none()) else {
        let told = served.by_ref().filter_map(|target| Some(format!("{} {}", target.0, denied(&target)?)));
        return Err(nobody(&selector, &told.collect::<Vec<_>>()));
    };
    if known.facts.capabilities.has(Capability::Embeddings) {
        return Ok(first.clone());
    }
    let message = format!("`{selector}` leads to {first}, which lacks embeddings; try `{DEFAULT_ALIAS}`");
    Err(Failure::new(ErrorReason::NoCapableModel, message))
}

fn nobody(selector: &ModelSelector, denied: &[String]) -> Failure {
    if denied.is_empty() {
        let message = format!("`{selector}` leads to no model whose vendor is configured");
        return Failure::new(ErrorReason::NoCapableModel, message);
    }
    let message = format!("`{selector}` leads to no model that the tenant may use: {}", denied.join("; "));
    Failure::new(ErrorReason::PermissionDenied, message)
}
