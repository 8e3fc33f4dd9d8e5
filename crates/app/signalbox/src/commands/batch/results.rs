//! `signalbox batch results`: what came of a job's items.

use super::{Client, WhichArgs, failed, report};
use crate::commands::{CommandError, print, print_aside};
use signalbox_api::{json, v1};

const HELP: &str = "\
Each result says where to go on after it: with --json in `resumeToken`; else the last one's is told at the end, on standard
error.";

/// Which results.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct ResultsArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Wait for those to come until the job has ended
    #[arg(long)]
    follow: bool,
    /// Only those after this one, as a result before told it
    #[arg(long, value_name = "TOKEN", default_value = "")]
    after: String,
}

impl ResultsArgs {
    pub(super) fn request(self) -> v1::StreamBatchResultsRequest {
        let Self { which: WhichArgs { job_id, tenant }, follow, after } = self;
        v1::StreamBatchResultsRequest { job_id, tenant_id: tenant, resume_token: after, follow }
    }
}

/// Prints each on a line as it comes.
pub(super) async fn follow(mut client: Client, args: ResultsArgs, as_json: bool) -> Result<(), CommandError> {
    let request = args.request();
    let mut last = request.resume_token.clone();
    let told = |last: &str| (!last.is_empty()).then(|| format!("those after these: --after {last}"));
    let mut results = client.stream_batch_results(request).await.map_err(failed)?.into_inner();
    loop {
        let message = results.message().await;
        let Some(message) = message.map_err(|status| failed(status).with_details(told(&last)))? else {
            break;
        };
        print(&if as_json {
            json::to_json_line(&message)?
        } else {
            report::result(&message.result.unwrap_or_default())
        })?;
        last = message.resume_token;
    }
    told(&last).filter(|_| !as_json).map_or(Ok(()), |told| print_aside(&told))
}
