//! A job is paid for and kept: both, or neither.

use super::{
    check::Head,
    money::{self, Reserved},
    prepare::Prepared,
};
use crate::{
    Dependencies,
    failure::of_store,
    stored::{Details, Hold, read},
};
use prost::Message as _;
use signalbox_api::v1::{
    self, budget_service_client::BudgetServiceClient, prepare_batch_item_response::Request,
};
use signalbox_batching::{Kind, Lane, Target, Trail};
use signalbox_ports::batches::{BatchStoreError, Job, NewItem, NewJob, Submitted};
use signalbox_types::{ErrorReason, Failure, shown};
use std::time::Duration;
use tokio::time::sleep;

/// How often the store is asked to keep a job.
const TRIES: u32 = 3;
/// The pause before it is asked again.
const PAUSE: Duration = Duration::from_millis(200);

/// Reserves what a job can cost and keeps it.
pub(super) async fn keep(
    dependencies: Dependencies,
    head: Head,
    prepared: Vec<Prepared>,
) -> Result<Job, Failure> {
    let Reserved { nano_eur, holds } = money::reserve(&dependencies, &head, &prepared).await?;
    let (job, details) = new_job(&dependencies, head, nano_eur, holds);
    let items = match items(prepared) {
        Ok(items) => items,
        Err(failure) => {
            release(&dependencies, &job, details);
            return Err(failure);
        }
    };
    match submit(&dependencies, &job, &items).await {
        Ok(Submitted::New(kept)) => {
            dependencies.followers.work();
            Ok(kept)
        }
        // It came meanwhile, under the same id; or it is this one, and the first answer was lost.
        Ok(Submitted::Exists(other)) => {
            if !is_same(&other, &details) {
                release(&dependencies, &job, details.clone());
            }
            same(&other, &details.digest)?;
            Ok(other)
        }
        Err(error) => {
            tokio::spawn(clear_up(dependencies, job, details));
            Err(of_store(&error))
        }
    }
}

fn new_job(dependencies: &Dependencies, head: Head, reserved: i64, holds: Vec<Hold>) -> (NewJob, Details) {
    let now = dependencies.clock.now();
    let details = Details {
        scene: head.scene,
        reference: head.reference,
        key_id: head.key_id,
        trace_id: head.trace_id,
        holds,
        digest: head.digest,
    };
    let job = NewJob {
        tenant_id: head.tenant_id,
        job_id: head.job_id,
        details: details.encode_to_vec(),
        reserved,
        create_time: now,
        complete_by: now + head.completion_window,
    };
    (job, details)
}

async fn submit(
    dependencies: &Dependencies,
    job: &NewJob,
    items: &[NewItem],
) -> Result<Submitted, BatchStoreError> {
    let mut tries = 1;
    loop {
        match dependencies.store.submit(job, items, &dependencies.options.rules).await {
            Err(_) if tries < TRIES => tries += 1,
            outcome => return outcome,
        }
        sleep(PAUSE).await;
    }
}

/// It is not known whether the job was kept: that is found out, and what was reserved for it is set free where not.
async fn clear_up(dependencies: Dependencies, job: NewJob, details: Details) {
    loop {
        match dependencies.store.job(&job.tenant_id, &job.job_id).await {
            Ok(Some((kept, _))) if is_same(&kept, &details) => return,
            Ok(_) => return release(&dependencies, &job, details),
            Err(_) => sleep(dependencies.options.idle).await,
        }
    }
}

fn release(dependencies: &Dependencies, job: &NewJob, details: Details) {
    if let Some(budget) = &dependencies.budget {
        money::release(&BudgetServiceClient::new(budget.clone()), &job.tenant_id, details.holds);
    }
}

/// Refuses what is handed in under the id of another job.
pub(super) fn same(kept: &Job, digest: &[u8]) -> Result<(), Failure> {
    if read::<Details>(&kept.details)?.digest == digest {
        return Ok(());
    }
    let message = format!(
        "job_id: the job `{}` exists already, and was handed in with other settings or items; give this one another \
         job_id",
        shown(&kept.job_id)
    );
    Err(Failure::new(ErrorReason::AlreadyExists, message))
}

/// Whether a job is paid for by the same reservations.
fn is_same(kept: &Job, details: &Details) -> bool {
    read::<Details>(&kept.details).is_ok_and(|kept| kept == *details)
}

fn items(prepared: Vec<Prepared>) -> Result<Vec<NewItem>, Failure> {
    prepared.into_iter().map(item).collect()
}

fn item(Prepared { item_id, item }: Prepared) -> Result<NewItem, Failure> {
    let lane = match item.lane() {
        v1::Lane::Batch => Lane::Batch,
        v1::Lane::Interactive | v1::Lane::Unspecified => Lane::Usual,
    };
    let kind = match &item.request {
        Some(Request::Generate(_)) => Some(Kind::Generate),
        Some(Request::Embed(_)) => Some(Kind::Embed),
        None => None,
    };
    let target = |candidate: &v1::CandidateEstimate| Target {
        vendor: candidate.vendor.clone(),
        model: candidate.model.clone(),
        lane,
    };
    let trail = Trail::new(item.candidates.iter().map(target).collect());
    let (Some(kind), Some(trail)) = (kind, trail) else {
        let message = "the router prepared an item without a request or without anybody to serve it";
        return Err(Failure::new(ErrorReason::Internal, message));
    };
    Ok(NewItem { item_id, kind, trail, request: item.encode_to_vec() })
}
