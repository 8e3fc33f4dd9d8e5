//! `signalbox batch`: work that can wait, at the vendors' batch prices.

mod jobs;
mod report;
mod results;
mod submit;

use super::{
    CommandError,
    connect::{ServerArgs, Way},
    failures, print,
};
use signalbox_api::{json, v1};
use tonic::{Code, Status};
use v1::batch_service_client::BatchServiceClient;

/// What to do with jobs.
#[derive(Debug, clap::Args)]
pub(crate) struct BatchArgs {
    #[command(subcommand)]
    action: Action,
    /// Print the answer as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Hand in a job
    Submit(submit::SubmitArgs),
    /// One job, how far it is and where its items are
    Get(WhichArgs),
    /// List jobs, newest first
    List(jobs::ListArgs),
    /// Stop a job; what a vendor finishes all the same is kept and paid for
    Cancel(WhichArgs),
    /// Print what came of a job's items, in the order in which they ended
    Results(results::ResultsArgs),
}

/// Which job.
#[derive(Debug, clap::Args)]
struct WhichArgs {
    /// The job's id
    job_id: String,
    /// Whose; the key's own where left out
    #[arg(long, value_name = "ID", default_value = "")]
    tenant: String,
}

type Client = BatchServiceClient<Way>;

fn failed(status: Status) -> CommandError {
    let error = failures::from_call(&status);
    let elsewhere = (status.code() == Code::Unimplemented)
        .then(|| "ask a process with the role batch: --server, or SIGNALBOX_SERVER".to_owned());
    error.with_details(elsewhere)
}

/// Does what was asked.
pub(crate) async fn run(args: BatchArgs) -> Result<(), CommandError> {
    let server = &args.server;
    let job = match args.action {
        // What is in the file is looked at before anybody is called.
        Action::Submit(submit) => {
            let pieces = submit.pieces()?;
            submit::hand_in(&mut server.batch().await?, pieces).await?
        }
        Action::Get(which) => jobs::get(&mut server.batch().await?, which).await?,
        Action::Cancel(which) => jobs::cancel(&mut server.batch().await?, which).await?,
        Action::List(list) => return jobs::list(&mut server.batch().await?, list, args.json).await,
        Action::Results(results) => return results::follow(server.batch().await?, results, args.json).await,
    };
    print(&if args.json { json::to_json(&job)? } else { report::one(&job) })
}

#[cfg(test)]
mod tests;
