//! `signalbox cache`: what is kept, why an answer is or is not shared, and how to be rid of some.

mod explain;
mod invalidate;
mod report;

use super::{CommandError, connect::ServerArgs, failures, print};
use signalbox_api::{convert::duration_to_proto, json, v1};
use std::time::Duration;
use tonic::{Code, Status};

/// What to do with the cache.
#[derive(Debug, clap::Args)]
pub(crate) struct CacheArgs {
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
    /// What the cache holds, does and saves
    Stats(StatsArgs),
    /// Why two requests would or would not share an answer
    Explain(explain::ExplainArgs),
    /// Let answers not be given any more
    Invalidate(invalidate::InvalidateArgs),
}

/// Which figures.
#[derive(Debug, clap::Args)]
struct StatsArgs {
    /// Whose; all tenants together where left out, for admin keys
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Only this kind of work
    #[arg(long, value_name = "NAME")]
    task_type: Option<String>,
    /// How many hours back
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=168))]
    hours: u64,
}

fn failed(status: Status) -> CommandError {
    let error = failures::from_call(&status);
    let elsewhere = (status.code() == Code::Unimplemented)
        .then(|| "ask a process with the role cache, as peers.cache of the routers lists them".to_owned());
    error.with_details(elsewhere)
}

/// Does what was asked.
pub(crate) async fn run(args: CacheArgs) -> Result<(), CommandError> {
    let mut client = args.server.cache().await?;
    match args.action {
        Action::Stats(stats) => {
            let answer = client.get_cache_stats(stats.request()).await.map_err(failed)?.into_inner();
            print(&if args.json { json::to_json(&answer)? } else { report::stats(&answer) })
        }
        Action::Explain(explain) => {
            let answer = client.explain_cache(explain.request()?).await.map_err(failed)?.into_inner();
            print(&if args.json { json::to_json(&answer)? } else { report::explained(&answer) })
        }
        Action::Invalidate(which) => {
            let request = which.request();
            let answer = client.invalidate(request.clone()).await.map_err(failed)?.into_inner();
            print(&if args.json { json::to_json(&answer)? } else { report::invalidated(&request, &answer) })
        }
    }
}

impl StatsArgs {
    fn request(self) -> v1::GetCacheStatsRequest {
        v1::GetCacheStatsRequest {
            tenant_id: self.tenant.unwrap_or_default(),
            task_type: self.task_type.unwrap_or_default(),
            window: Some(duration_to_proto(Duration::from_secs(self.hours * 3600))),
        }
    }
}

#[cfg(test)]
mod tests;
