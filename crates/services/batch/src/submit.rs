//! A job is handed in: gathered, checked, prepared by the router, paid for, and kept. Only then is it answered.

mod check;
mod digest;
mod gather;
mod keep;
mod money;
mod prepare;

#[cfg(test)]
mod killed;

pub(crate) use check::{of_tenant, which, whose};
pub(crate) use money::{closing, held};
pub(crate) use prepare::worst_case;

use crate::{Dependencies, failure::of_store, job};
use check::Order;
use futures_util::Stream;
use gather::Gathered;
use signalbox_api::v1;
use signalbox_ports::Identity;
use signalbox_types::{ErrorReason, Failure};
use tonic::Status;

/// Answers `SubmitBatchJob`.
pub(crate) async fn submit(
    dependencies: &Dependencies,
    caller: &Identity,
    trace_id: String,
    requests: impl Stream<Item = Result<v1::SubmitBatchJobRequest, Status>> + Unpin,
) -> Result<v1::SubmitBatchJobResponse, Failure> {
    let options = &dependencies.options;
    let gathered = gather::gather(requests, options, |job| {
        job.tenant_id = whose(caller, &job.tenant_id)?;
        check::settings(job, options)
    });
    let gathered = gathered.await?;
    if let Some(known) = known(dependencies, &gathered).await? {
        return Ok(v1::SubmitBatchJobResponse { job: Some(known) });
    }
    let order = Order::new(gathered, &caller.key_id, trace_id, options)?;
    let Order { head, items } = order;
    let prepared = prepare::prepare(dependencies, &head, items).await?;
    // On its own: whoever goes away now has handed it in.
    let keeping = tokio::spawn(keep::keep(dependencies.clone(), head, prepared));
    let kept = keeping.await.map_err(|error| Failure::new(ErrorReason::Internal, error.to_string()))?;
    Ok(v1::SubmitBatchJobResponse { job: Some(job::to_proto(&kept?, &[])?) })
}

/// The job that the tenant has under this id already, if the same was handed in.
async fn known(
    dependencies: &Dependencies,
    Gathered { settings, digest, .. }: &Gathered,
) -> Result<Option<v1::BatchJob>, Failure> {
    if settings.job_id.is_empty() {
        return Ok(None);
    }
    let found = dependencies.store.job(&settings.tenant_id, &settings.job_id).await;
    let found = found.map_err(|error| of_store(&error))?;
    let Some((job, windows)) = found else { return Ok(None) };
    keep::same(&job, digest)?;
    job::to_proto(&job, &windows).map(Some)
}
