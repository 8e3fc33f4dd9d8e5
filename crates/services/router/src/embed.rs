//! Embeddings: one model, no failover to another, since vectors of different models cannot be compared.

use crate::{content::Content, route::RouteLog, service::Dependencies, trace};
use signalbox_api::{
    convert,
    status::{from_status, to_status},
    v1::{self, provider_service_client::ProviderServiceClient},
};
use signalbox_kit::{
    Hop,
    catalog::{Catalog, CatalogModel},
    hop,
    telemetry::trace::Span,
};
use signalbox_pricing::Day;
use signalbox_resilience::{Attempts, FailoverRules, Next, Reconnect};
use signalbox_types::{Capability, ErrorReason, Failure, ModelRef, ModelSelector};
use std::time::Duration;
use tokio::time::Instant;
use tonic::{Request, Status};
use uuid::Uuid;

/// The alias used when a request names no model.
const DEFAULT_ALIAS: &str = "embedding";

pub(crate) async fn embed(
    dependencies: &Dependencies,
    mut adapter: ProviderServiceClient<Hop>,
    mut wire: v1::EmbedRequest,
    grpc_timeout: Option<Duration>,
    started: Instant,
    span: &Span,
) -> Result<v1::EmbedResponse, Status> {
    if wire.request_id.is_empty() {
        wire.request_id = Uuid::now_v7().to_string();
    }
    let selector = convert::check_embed_request(&wire).map_err(|failure| to_status(&failure))?;
    let catalog = dependencies.config.catalog();
    let model =
        choose(dependencies, &catalog, selector, &wire.tenant_id).map_err(|failure| to_status(&failure))?;
    let mut content = Content::of(dependencies, &catalog, &wire.tenant_id);
    if let Some(content) = &mut content {
        let admitted = content.admit_texts(&mut wire.inputs).await;
        admitted.map_err(|failure| content.refusal(&failure, &wire.request_id))?;
    }
    let wanted = wire.timeout.and_then(convert::duration_from_proto);
    let timeout = [wanted, grpc_timeout].into_iter().flatten().min();
    let mut log = RouteLog::for_embedding(wire.request_id.clone(), started, &model, catalog.version());
    log.found(content.map(|mut content| content.take_findings()).unwrap_or_default());
    let mut attempts = Attempts::new(rules(&catalog), [model.vendor.clone()]);
    let mut reconnect = Reconnect::new(catalog.failover().adapter_patience.0);
    let mut cause = v1::attempt::Cause::FirstChoice;
    dependencies.health.on_request();
    loop {
        let left = timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
        let status = match adapter.invoke_embedding(request(&wire, &model, left, span)).await {
            Ok(answer) => {
                let answer = answer.into_inner();
                let quota_left = answer.facts.as_ref().and_then(|facts| facts.quota_left);
                dependencies.holds.on_success(&model, quota_left);
                let answer = whole(wire.request_id, answer, log, &model, cause);
                if let Some(route) = &answer.route {
                    trace::served(span, route);
                }
                return Ok(answer);
            }
            Err(status) => status,
        };
        let failure = from_status(&status);
        dependencies.holds.on_failure(&model, &failure);
        log.failed(&model, cause, &failure, &status);
        let left = timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
        let wait = if failure.reason == ErrorReason::Unavailable {
            reconnect.after_loss(hop::was_under_way(&status), Instant::now().into_std(), left)
        } else {
            match attempts.after(&failure, false, left, || dependencies.health.may_retry()) {
                Next::Retry { after } => Some(after),
                // There is one candidate, so there is none to switch to.
                Next::Switch { .. } | Next::Stop => None,
            }
        };
        let Some(wait) = wait else {
            trace::failed(span, &log);
            return Err(log.failure(&failure));
        };
        tokio::time::sleep(wait).await;
        cause = v1::attempt::Cause::Retry;
    }
}

fn rules(catalog: &Catalog) -> FailoverRules {
    let failover = catalog.failover();
    FailoverRules {
        quick_retry_delay: failover.quick_retry_delay.0,
        max_same_vendor_retries: failover.max_same_vendor_retries,
    }
}

fn whole(
    request_id: String,
    answer: v1::InvokeEmbeddingResponse,
    log: RouteLog,
    model: &ModelRef,
    cause: v1::attempt::Cause,
) -> v1::EmbedResponse {
    let served = log.served(model, cause, answer.facts.unwrap_or_default());
    v1::EmbedResponse {
        request_id,
        embeddings: answer.embeddings,
        usage: Some(served.usage),
        cost: Some(served.cost),
        route: Some(served.route),
    }
}

fn request(
    wire: &v1::EmbedRequest,
    model: &ModelRef,
    left: Option<Duration>,
    span: &Span,
) -> Request<v1::InvokeEmbeddingRequest> {
    let target = v1::Target { vendor: model.vendor.to_string(), model: model.model.to_string() };
    let timeout = left.map(convert::duration_to_proto);
    let mut request = Request::new(v1::InvokeEmbeddingRequest {
        target: Some(target),
        request: Some(wire.clone()),
        timeout,
    });
    if let Some(left) = left {
        request.set_timeout(left);
    }
    span.inject(request.metadata_mut().as_mut());
    request
}

/// The first target that is configured, served and open to the tenant; it must be an embedding model. To look further for one would let
/// the wrong name lead to some model, and vectors of different models cannot be compared.
fn choose(
    dependencies: &Dependencies,
    catalog: &Catalog,
    selector: ModelSelector,
    tenant: &str,
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
    let access = catalog.tenant(tenant).access();
    let denied = |(target, known): &(&ModelRef, &CatalogModel)| access.exclusion(target, &known.labels);
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
