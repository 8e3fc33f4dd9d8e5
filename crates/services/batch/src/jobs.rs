//! What a tenant asks of its jobs.

use crate::{
    Dependencies,
    failure::{no_such_job, of_store},
    job::{self, state_from_proto},
    lane::end_waiting,
    pages::{self, Question},
    submit::{of_tenant, which},
};
use signalbox_api::{convert::Violations, v1};
use signalbox_ports::{Identity, batches::JobQuery};
use signalbox_types::Failure;

/// Answers `GetBatchJob`.
pub(crate) async fn get(
    dependencies: &Dependencies,
    caller: &Identity,
    asked: &v1::GetBatchJobRequest,
) -> Result<v1::GetBatchJobResponse, Failure> {
    let tenant_id = which(caller, &asked.tenant_id, &asked.job_id)?;
    Ok(v1::GetBatchJobResponse { job: Some(told(dependencies, &tenant_id, &asked.job_id).await?) })
}

/// A job with its windows.
async fn told(dependencies: &Dependencies, tenant_id: &str, job_id: &str) -> Result<v1::BatchJob, Failure> {
    let found = dependencies.store.job(tenant_id, job_id).await.map_err(|error| of_store(&error))?;
    let (job, windows) = found.ok_or_else(|| no_such_job(job_id))?;
    job::to_proto(&job, &windows)
}

/// Answers `ListBatchJobs`.
pub(crate) async fn list(
    dependencies: &Dependencies,
    caller: &Identity,
    asked: &v1::ListBatchJobsRequest,
) -> Result<v1::ListBatchJobsResponse, Failure> {
    let tenant_id = caller.tenant(&asked.tenant_id)?;
    of_tenant(tenant_id)?;
    // The tenant counts as it was meant: a page token is of one tenant's jobs.
    let question =
        Question::jobs(&v1::ListBatchJobsRequest { tenant_id: tenant_id.to_owned(), ..asked.clone() });
    let mut violations = Violations::default();
    let size = pages::size(asked.page_size, &mut violations);
    let before = match &*asked.page_token {
        "" => None,
        token => {
            let read = question.read(token).and_then(|number| i64::try_from(number).ok());
            let problem = || "is not one that this question was answered with";
            violations.check(read.is_some(), || "page_token", problem);
            read
        }
    };
    let mut states = Vec::with_capacity(asked.states.len());
    for (index, wire) in asked.states.iter().enumerate() {
        let state = v1::batch_job::State::try_from(*wire).ok().and_then(state_from_proto);
        violations.check(state.is_some(), || format!("states[{index}]"), || "is no state of a job");
        states.extend(state);
    }
    violations.into_result()?;
    let tenant_id = (!tenant_id.is_empty()).then(|| tenant_id.to_owned());
    let query = JobQuery { tenant_id, states, before, most: size + 1 };
    let mut jobs = dependencies.store.jobs(&query).await.map_err(|error| of_store(&error))?;
    let more = jobs.len() > size;
    jobs.truncate(size);
    let last = jobs.last().filter(|_| more).and_then(|last| u64::try_from(last.number).ok());
    Ok(v1::ListBatchJobsResponse {
        jobs: jobs.iter().map(|job| job::to_proto(job, &[])).collect::<Result<_, _>>()?,
        next_page_token: last.map(|last| question.token(last)).unwrap_or_default(),
    })
}

/// Answers `CancelBatchJob`: what waits ends at once, what vendors have follows.
pub(crate) async fn cancel(
    dependencies: &Dependencies,
    caller: &Identity,
    asked: &v1::CancelBatchJobRequest,
) -> Result<v1::CancelBatchJobResponse, Failure> {
    let tenant_id = which(caller, &asked.tenant_id, &asked.job_id)?;
    let now = dependencies.clock.now();
    let stopped = dependencies.store.cancel(&tenant_id, &asked.job_id, now).await;
    let stopped = stopped.map_err(|error| of_store(&error))?.ok_or_else(|| no_such_job(&asked.job_id))?;
    end_waiting(dependencies, Some(stopped.number)).await.map_err(|error| of_store(&error))?;
    dependencies.followers.work();
    Ok(v1::CancelBatchJobResponse { job: Some(told(dependencies, &tenant_id, &asked.job_id).await?) })
}
