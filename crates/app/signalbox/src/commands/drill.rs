//! `signalbox drill`: faults injected on purpose, and whether users would notice.

mod report;
mod run;
mod wanted;

use super::{
    CommandError,
    connect::{ServerArgs, Way},
    failures, pages, print,
};
use signalbox_api::{json, v1};
use v1::admin_service_client::AdminServiceClient;
use wanted::WantedArgs;

const HELP: &str = "\
A drill hits calls that the router process at --server makes, and no others: with several replicas, address one of
them. It ends by itself. Off unless `drills: {enabled: true}` is in the configuration of the router and its adapters.";

/// What to do with drills.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct DrillArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Start a drill, wait for its end, and say whether it passed. Exit code 1 when it did not
    Run(StartArgs),
    /// Start a drill and come back at once
    Start(StartArgs),
    /// End a drill early
    Stop(StopArgs),
    /// Show the drills that run or ran, newest first
    List(ListArgs),
}

#[derive(Debug, clap::Args)]
struct StartArgs {
    #[command(flatten)]
    wanted: WantedArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct StopArgs {
    /// The drill's name, as in `drill-1f3a9c2e`
    name: String,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct OutputArgs {
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

impl OutputArgs {
    fn print(&self, drill: &v1::Drill) -> Result<(), CommandError> {
        print(&if self.json { json::to_json(drill)? } else { report::one(drill) })
    }
}

/// Does what was asked.
pub(crate) async fn run(args: DrillArgs) -> Result<(), CommandError> {
    match args.action {
        Action::Run(args) => run::run(args).await,
        Action::Start(args) => {
            let mut client = args.output.server.admin().await?;
            args.output.print(&start(&mut client, args.wanted.drill()).await?)
        }
        Action::Stop(args) => {
            let mut client = args.output.server.admin().await?;
            args.output.print(&stop(&mut client, args.name).await?)
        }
        Action::List(ListArgs { output }) => {
            let found = every_page(&mut output.server.admin().await?).await?;
            print(&if output.json { json::to_json(&found)? } else { report::all(&found.drills) })
        }
    }
}

async fn start(client: &mut AdminServiceClient<Way>, drill: v1::Drill) -> Result<v1::Drill, CommandError> {
    let request = v1::StartDrillRequest { drill: Some(drill) };
    let answer = client.start_drill(request).await.map_err(|status| failures::from_call(&status))?;
    Ok(answer.into_inner().drill.unwrap_or_default())
}

async fn stop(client: &mut AdminServiceClient<Way>, name: String) -> Result<v1::Drill, CommandError> {
    let request = v1::StopDrillRequest { name };
    let answer = client.stop_drill(request).await.map_err(|status| failures::from_call(&status))?;
    Ok(answer.into_inner().drill.unwrap_or_default())
}

async fn every_page(client: &mut AdminServiceClient<Way>) -> Result<v1::ListDrillsResponse, CommandError> {
    let drills = pages::all(async |page_size, page_token| {
        let answer = client.list_drills(v1::ListDrillsRequest { page_size, page_token }).await;
        let page = answer.map_err(|status| failures::from_call(&status))?.into_inner();
        Ok((page.drills, page.next_page_token))
    });
    Ok(v1::ListDrillsResponse { drills: drills.await?, next_page_token: String::new() })
}
