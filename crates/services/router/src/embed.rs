//! Embeddings: one model, no failover to another, since vectors of different models cannot be compared.

mod call;
mod choose;
mod item;

pub(crate) use item::prepare_item;

use crate::{
    account::Account,
    attempts::failover_rules,
    budget::{BudgetState, Purse},
    caller::Caller,
    route::RouteLog,
    service::Dependencies,
};
use call::Embedding;
use choose::choose;
use signalbox_api::{
    convert,
    status::to_status,
    v1::{self, provider_service_client::ProviderServiceClient},
};
use signalbox_kit::{
    Hop,
    catalog::Catalog,
    content::{Content, ErrorTexts},
    telemetry::trace::Span,
};
use signalbox_ports::{Payer, RatesLeft, Worst};
use signalbox_pricing::{Day, estimate_input_tokens};
use signalbox_resilience::{Attempts, Reconnect};
use signalbox_types::{Failure, FallbackPolicy, ModelRef, ModelSelector, Money};
use std::time::Duration;
use tokio::time::Instant;
use tonic::Status;
use uuid::Uuid;

/// Answers `Embed`.
pub(crate) async fn embed(
    dependencies: &Dependencies,
    adapter: ProviderServiceClient<Hop>,
    (caller, mut wire): (Caller, v1::EmbedRequest),
    grpc_timeout: Option<Duration>,
    started: Instant,
    span: &Span,
) -> Result<(RatesLeft, v1::EmbedResponse), Status> {
    caller.spends_as(&mut wire.tenant_id)?;
    let selector = check(&mut wire)?;
    let wanted = wire.timeout.and_then(convert::duration_from_proto);
    let timeout = [wanted, grpc_timeout].into_iter().flatten().min();
    let deadline = timeout.and_then(|timeout| started.checked_add(timeout));
    let catalog = dependencies.config.catalog();
    let mut account = Account::of_embedding(dependencies, &wire, caller.key_id(), deadline, started, span);
    let admitted = admit(dependencies, &catalog, selector, (&mut wire, caller.key_id()), &mut account).await;
    let Admitted { model, findings, ceiling } = match admitted {
        Ok(admitted) => admitted,
        Err(status) => return Err(account.refuse(status)),
    };
    let rates = account.rates();
    let mut log = RouteLog::new(account);
    log.found(findings);
    dependencies.health.on_request();
    let under_way = Embedding {
        dependencies,
        error_texts: ErrorTexts::of(&catalog, &wire.tenant_id),
        attempts: Attempts::new(failover_rules(&catalog, FallbackPolicy::Default), [model.vendor.clone()]),
        reconnect: Reconnect::new(catalog.failover().adapter_patience.0),
        wire,
        model,
        ceiling,
        deadline,
        span,
        log,
    };
    under_way.run(adapter).await.map(|answer| (rates, answer))
}

/// A request that may be made, and is paid.
struct Admitted {
    model: ModelRef,
    findings: Vec<v1::ContentFinding>,
    /// What a call costs at most, where that is counted.
    ceiling: Money,
}

/// Makes sure that a request may be made, and has it paid.
async fn admit(
    dependencies: &Dependencies,
    catalog: &Catalog,
    selector: ModelSelector,
    (wire, key_id): (&mut v1::EmbedRequest, &str),
    account: &mut Account,
) -> Result<Admitted, Status> {
    // Vectors are not cached, so that a budget which pays for no calls pays for none of them.
    let allowed = |purse: Option<&Purse>| {
        account.looked_into(purse)?;
        purse.map_or(Ok(()), Purse::allows_calls)
    };
    let prepared = prepare(dependencies, catalog, selector, wire, key_id, allowed).await?;
    let (tokens, day) = (estimate_input_tokens(&wire.inputs), Day::of(dependencies.clock.now()));
    let worst = catalog.prices().worst_case(&prepared.model, tokens, 0, day);
    let ceiling = prepared.ceiling(worst).map_err(|failure| to_status(&failure))?;
    let Prepared { model, findings, purse, .. } = prepared;
    account.planned(decision(&model, catalog.version()), tokens);
    if let Some(purse) = purse {
        let taken = purse.take(dependencies, Worst { cost: ceiling, tokens }, false).await;
        account.paid_by(taken.map_err(|short| to_status(&short.failure))?);
    }
    Ok(Admitted { model, findings, ceiling })
}

/// Checks a request, and gives it an id if it has none.
fn check(wire: &mut v1::EmbedRequest) -> Result<ModelSelector, Status> {
    if wire.request_id.is_empty() {
        wire.request_id = Uuid::now_v7().to_string();
    }
    convert::check_embed_request(wire).map_err(|failure| to_status(&failure))
}

/// A request of which it is known who makes its vectors.
struct Prepared {
    model: ModelRef,
    findings: Vec<v1::ContentFinding>,
    /// Who pays; `None` where nothing is counted.
    purse: Option<Box<Purse>>,
    budget: BudgetState,
}

impl Prepared {
    /// What it costs at most, where that is counted, if it may cost that much.
    fn ceiling(&self, worst: Option<Money>) -> Result<Money, Failure> {
        let Some(purse) = &self.purse else { return Ok(Money::ZERO) };
        self.budget.pays(&self.model, worst).map_err(|failure| purse.named(failure, worst))
    }
}

/// Finds out what budgets leave and whether that is `allowed`, finds the model, and applies the tenant's content policy.
async fn prepare(
    dependencies: &Dependencies,
    catalog: &Catalog,
    selector: ModelSelector,
    wire: &mut v1::EmbedRequest,
    key_id: &str,
    allowed: impl FnOnce(Option<&Purse>) -> Result<(), Failure>,
) -> Result<Prepared, Status> {
    let payer =
        || Payer { tenant_id: wire.tenant_id.clone(), key_id: key_id.to_owned(), scene: wire.scene.clone() };
    let opened = Purse::open_for_vectors(dependencies, catalog, payer).await;
    let (purse, budget) = opened.map_err(|failure| to_status(&failure))?;
    let model = allowed(purse.as_deref())
        .and_then(|()| choose(dependencies, catalog, selector, &wire.tenant_id, &budget))
        .map_err(|failure| to_status(&failure))?;
    let findings = admit_texts(dependencies, catalog, wire).await?;
    Ok(Prepared { model, findings, purse, budget })
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
