//! `signalbox batch get`, `list` and `cancel`: jobs, not what came of them.

use super::{Client, WhichArgs, failed, report};
use crate::commands::{CommandError, pages, print};
use signalbox_api::{json, v1};
use std::num::NonZeroUsize;
use v1::batch_job::State;

/// Which jobs.
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Whose; all that the key may see where left out
    #[arg(long, value_name = "ID", default_value = "")]
    tenant: String,
    /// Only those that are so far
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STATE")]
    state: Vec<Far>,
    /// Most to print
    #[arg(long, default_value = "50")]
    pub(super) limit: NonZeroUsize,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Far {
    /// Items wait or are at vendors
    Running,
    /// It is being stopped
    Cancelling,
    /// Every item has a result
    Ended,
}

impl Far {
    fn state(self) -> State {
        match self {
            Self::Running => State::Running,
            Self::Cancelling => State::Cancelling,
            Self::Ended => State::Ended,
        }
    }
}

impl ListArgs {
    pub(super) fn request(&self) -> v1::ListBatchJobsRequest {
        v1::ListBatchJobsRequest {
            tenant_id: self.tenant.clone(),
            states: self.state.iter().map(|far| far.state().into()).collect(),
            ..Default::default()
        }
    }
}

pub(super) async fn get(client: &mut Client, which: WhichArgs) -> Result<v1::BatchJob, CommandError> {
    let request = v1::GetBatchJobRequest { job_id: which.job_id, tenant_id: which.tenant };
    let answer = client.get_batch_job(request).await.map_err(failed)?;
    Ok(answer.into_inner().job.unwrap_or_default())
}

pub(super) async fn cancel(client: &mut Client, which: WhichArgs) -> Result<v1::BatchJob, CommandError> {
    let request = v1::CancelBatchJobRequest { job_id: which.job_id, tenant_id: which.tenant };
    let answer = client.cancel_batch_job(request).await.map_err(failed)?;
    Ok(answer.into_inner().job.unwrap_or_default())
}

/// Prints jobs, a line each.
pub(super) async fn list(client: &mut Client, args: ListArgs, as_json: bool) -> Result<(), CommandError> {
    let found = pages::up_to(args.limit.get(), async |page_size, page_token| {
        let request = v1::ListBatchJobsRequest { page_size, page_token, ..args.request() };
        let page = client.list_batch_jobs(request).await.map_err(failed)?.into_inner();
        Ok((page.jobs, page.next_page_token))
    });
    let (jobs, next_page_token) = found.await?;
    let found = v1::ListBatchJobsResponse { jobs, next_page_token };
    print(&if as_json { json::to_json(&found)? } else { report::all(&found.jobs) })
}
