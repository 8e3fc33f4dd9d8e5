//! Items of batch jobs: prepared as callers' requests are, for the batch lane to hand over.

use crate::{
    admission::{self, Admitted},
    budget::Purse,
    embed, estimate,
    plan::{self, Planned, Refused},
    service::Dependencies,
};
use signalbox_api::{
    convert,
    status::to_status,
    v1::{self, prepare_batch_item_request::Request, prepare_batch_item_response::Request as Prepared},
};
use signalbox_kit::{catalog::Catalog, content::Content};
use signalbox_types::{Failure, Lane};
use tokio::time::Instant;
use tonic::Status;

/// Answers `PrepareBatchItem`.
pub(crate) async fn prepare(
    dependencies: &Dependencies,
    asked: v1::PrepareBatchItemRequest,
) -> Result<v1::PrepareBatchItemResponse, Status> {
    let catalog = dependencies.config.catalog();
    match asked.request {
        Some(Request::Generate(request)) => generate(dependencies, &catalog, request, &asked.key_id).await,
        Some(Request::Embed(request)) => {
            embed::prepare_item(dependencies, &catalog, request, &asked.key_id).await
        }
        None => Err(to_status(&Failure::invalid("request", "is required: generate or embed"))),
    }
}

async fn generate(
    dependencies: &Dependencies,
    catalog: &Catalog,
    mut wire: v1::GenerateRequest,
    key_id: &str,
) -> Result<v1::PrepareBatchItemResponse, Status> {
    (wire.lane, wire.timeout) = (v1::Lane::Batch.into(), None);
    let admitted = admission::admit(wire, key_id, None, catalog, Instant::now());
    let mut admitted = admitted.map_err(|failure| to_status(&failure))?;
    // Those of a task type are for callers who wait.
    (admitted.request.timeout, admitted.deadline) = (None, None);
    let purse = Purse::open(dependencies, catalog, &mut admitted).await;
    let purse = purse.map_err(|failure| to_status(&failure))?;
    let allowed = purse.as_ref().map_or(Ok(()), |purse| purse.allows(Lane::Batch));
    allowed.map_err(|failure| to_status(&failure))?;
    let content = Content::admit(dependencies.means(), catalog, &mut admitted.request).await?;
    let planned = plan(dependencies, catalog, &mut admitted).map_err(|mut refused| {
        if let Some(purse) = &purse {
            refused.failure = purse.named(refused.failure, refused.too_dear);
        }
        refused.into_status(&admitted.request.request_id)
    })?;
    let (candidates, _) = estimate::candidates(dependencies, catalog, &admitted, &planned);
    Ok(v1::PrepareBatchItemResponse {
        lane: convert::lane_to_proto(admitted.request.lane).into(),
        candidates,
        decision: Some(planned.decision),
        content_findings: content.map(|mut content| content.take_findings()).unwrap_or_default(),
        max_invalid_retries: admitted.max_invalid_retries,
        request: Some(Prepared::Generate(convert::generate_request_to_proto(admitted.request))),
    })
}

/// Models that take batches; where none can serve, those that are called as usual.
fn plan(
    dependencies: &Dependencies,
    catalog: &Catalog,
    admitted: &mut Admitted,
) -> Result<Planned, Box<Refused>> {
    plan::make(dependencies, catalog, admitted, false).or_else(|_| {
        admitted.request.lane = Lane::Interactive;
        plan::make(dependencies, catalog, admitted, false)
    })
}
