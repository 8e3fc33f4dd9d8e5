//! A job is paid for and kept: both, or neither.
//!
//! What is to be set aside is pledged first, and the pledge goes with the transaction that keeps the job. Where there is
//! no job after all, or nobody lives who would keep it, the lane finds the pledge and sets the money free.

use super::{
    check::Head,
    money::{self, Bill, Unpaid},
    prepare::Prepared,
};
use crate::{
    Dependencies,
    failure::of_store,
    stored::{Details, Hold, Pledged, new_id, read},
};
use prost::Message as _;
use signalbox_api::v1::{self, prepare_batch_item_response::Request};
use signalbox_batching::{Kind, Lane, Target, Trail};
use signalbox_ports::batches::{BatchStoreError, Job, NewItem, NewJob, Pledge, Submitted};
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
    let bill = money::bill(&dependencies, &head, &prepared);
    let items = items(prepared)?;
    let pledge_id = pledge(&dependencies, &bill).await.map_err(|error| of_store(&error))?;
    let holds = match money::reserve(&dependencies, &bill).await {
        Ok(holds) => holds,
        Err(Unpaid { failure, perhaps_held }) => {
            give_up(&dependencies, &pledge_id, perhaps_held).await;
            return Err(failure);
        }
    };
    let (job, details) = new_job(&dependencies, head, bill.nano_eur, holds, &pledge_id);
    match submit(&dependencies, &job, &items).await {
        Ok(Submitted::New(kept)) => {
            dependencies.followers.work();
            Ok(kept)
        }
        // It came meanwhile, under the same id; or it is this one, and the first answer was lost.
        Ok(Submitted::Exists(other)) => {
            if !is_same(&other, &details) {
                give_up(&dependencies, &pledge_id, true).await;
            }
            same(&other, &details.digest)?;
            Ok(other)
        }
        Err(error) => {
            give_up(&dependencies, &pledge_id, true).await;
            Err(of_store(&error))
        }
    }
}

/// Notes what is about to be set aside; the pledge's id, empty where nothing is.
async fn pledge(dependencies: &Dependencies, bill: &Bill) -> Result<String, BatchStoreError> {
    if bill.asked.is_empty() {
        return Ok(String::new());
    }
    let pledge = Pledge {
        pledge_id: new_id(),
        details: Pledged { asked: bill.asked.clone() }.encode_to_vec(),
        due: dependencies.clock.now() + dependencies.options.pledge,
    };
    dependencies.store.pledge(&pledge).await?;
    Ok(pledge.pledge_id)
}

/// No job is kept. Where the store does not hear of it, the pledge is due in minutes by itself.
async fn give_up(dependencies: &Dependencies, pledge_id: &str, perhaps_held: bool) {
    if pledge_id.is_empty() {
        return;
    }
    let store = &dependencies.store;
    let done = match perhaps_held {
        true => store.give_up(pledge_id, dependencies.clock.now()).await,
        false => store.forget(pledge_id).await,
    };
    if let Err(error) = done {
        let _told = of_store(&error);
    }
}

fn new_job(
    dependencies: &Dependencies,
    head: Head,
    reserved: i64,
    holds: Vec<Hold>,
    pledge_id: &str,
) -> (NewJob, Details) {
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
        pledge_id: pledge_id.to_owned(),
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
            Err(BatchStoreError::Away(_)) if tries < TRIES => tries += 1,
            outcome => return outcome,
        }
        sleep(PAUSE).await;
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
