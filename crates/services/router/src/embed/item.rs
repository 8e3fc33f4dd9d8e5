//! An item of a batch job that asks for vectors: prepared as a caller's request is, and not made here.

use super::{check, decision, prepare};
use crate::{budget::Purse, service::Dependencies};
use signalbox_api::{convert, status::to_status, v1};
use signalbox_kit::catalog::Catalog;
use signalbox_pricing::{Day, estimate_input_tokens};
use signalbox_types::{Capability, Lane, ModelRef};
use tonic::Status;

/// Answers `PrepareBatchItem` for vectors. `key_id`: by which the job came.
pub(crate) async fn prepare_item(
    dependencies: &Dependencies,
    catalog: &Catalog,
    mut wire: v1::EmbedRequest,
    key_id: &str,
) -> Result<v1::PrepareBatchItemResponse, Status> {
    wire.timeout = None;
    let selector = check(&mut wire)?;
    let allowed = |purse: Option<&Purse>| purse.map_or(Ok(()), |purse| purse.allows(Lane::Batch));
    let prepared = prepare(dependencies, catalog, selector, &mut wire, key_id, allowed).await?;
    let model = &prepared.model;
    let lane = lane(catalog, model);
    let (prices, day) = (catalog.prices(), Day::of(dependencies.clock.now()));
    let prompt_tokens = estimate_input_tokens(&wire.inputs);
    let worst = prices.worst_case_in(lane, model, prompt_tokens, 0, day);
    prepared.ceiling(worst).map_err(|failure| to_status(&failure))?;
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
        decision: Some(decision(model, catalog.version())),
        content_findings: prepared.findings,
        max_invalid_retries: 0,
    })
}

/// How the model is called: as usual where its vendor takes no batches for it.
fn lane(catalog: &Catalog, model: &ModelRef) -> Lane {
    let takes_batches =
        catalog.model(model).is_some_and(|known| known.facts.capabilities.has(Capability::Batch));
    if takes_batches { Lane::Batch } else { Lane::Interactive }
}
