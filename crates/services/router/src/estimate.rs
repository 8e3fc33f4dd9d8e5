//! What a request would cost, without calling anyone.

use crate::{
    admission::{self, Admitted},
    budget::Purse,
    plan::{self, Choice, Planned},
    service::Dependencies,
};
use signalbox_api::{convert::cost_to_proto, status::to_status, v1};
use signalbox_kit::{catalog::Catalog, content};
use signalbox_pricing::Day;
use signalbox_types::{ModelRef, Money};
use tokio::time::Instant;
use tonic::Status;

/// A request that is not made: held to what budgets leave, of which it takes nothing.
pub(crate) async fn admit(
    dependencies: &Dependencies,
    catalog: &Catalog,
    request: v1::GenerateRequest,
    key_id: &str,
) -> Result<Admitted, Status> {
    let admitted = admission::admit(request, key_id, None, catalog, Instant::now());
    let mut admitted = admitted.map_err(|failure| to_status(&failure))?;
    let opened = Purse::open(dependencies, catalog, &mut admitted).await;
    let lane = admitted.request.lane;
    let allowed = opened.and_then(|purse| purse.map_or(Ok(()), |purse| purse.allows(lane)));
    allowed.map(|()| admitted).map_err(|failure| to_status(&failure))
}

pub(crate) async fn estimate(
    dependencies: &Dependencies,
    request: v1::GenerateRequest,
    key_id: &str,
) -> Result<v1::EstimateCostResponse, Status> {
    let catalog = dependencies.config.catalog();
    let admitted = admit(dependencies, &catalog, request, key_id).await?;
    let planned = plan::make(dependencies, &catalog, &admitted, false)
        .map_err(|refused| refused.into_status(&admitted.request.request_id))?;
    let (candidates, dearest) = candidates(dependencies, &catalog, &admitted, &planned);
    let worst_case = Some(cost_to_proto(dearest, catalog.prices().price_version()));
    let notes = content::note(&catalog, &admitted.request.tenant_id, &admitted.request.prompt);
    Ok(v1::EstimateCostResponse { candidates, worst_case, notes: notes.into_iter().collect() })
}

/// What each of a plan's candidates costs at most, and the dearest of them.
pub(crate) fn candidates(
    dependencies: &Dependencies,
    catalog: &Catalog,
    admitted: &Admitted,
    planned: &Planned,
) -> (Vec<v1::CandidateEstimate>, Option<Money>) {
    let (prices, day) = (catalog.prices(), Day::of(dependencies.clock.now()));
    let request = &admitted.request;
    let mut dearest = Some(Money::ZERO);
    let mut candidates = Vec::with_capacity(planned.candidates.len());
    for Choice { model, bound, .. } in &planned.candidates {
        let wanted = request.prompt.max_output_tokens;
        let most = bound.map_or_else(|| most_output(catalog, model, wanted), |bound| bound.max_output);
        let cost = prices.worst_case_in(request.lane, model, planned.prompt_tokens, most, day);
        // One unknown price makes the worst case unknown: it is not zero.
        dearest = dearest.zip(cost).map(|(dearest, cost)| dearest.max(cost));
        candidates.push(v1::CandidateEstimate {
            vendor: model.vendor.to_string(),
            model: model.model.to_string(),
            prompt_tokens: planned.prompt_tokens,
            max_output_tokens: most,
            worst_case: Some(cost_to_proto(cost, prices.price_version())),
            must_be_told: bound.is_some_and(|bound| bound.cap.is_some()),
        });
    }
    (candidates, dearest)
}

/// The most a model could answer with.
pub(crate) fn most_output(catalog: &Catalog, model: &ModelRef, wanted: Option<u32>) -> u64 {
    let limit = catalog.model(model).map_or(0, |known| known.facts.max_output_tokens);
    match wanted {
        Some(wanted) if limit == 0 => u64::from(wanted),
        Some(wanted) => u64::from(wanted.min(limit)),
        None => u64::from(limit),
    }
}
