//! `signalbox usage`: what was used, by whom, for what and at what cost.

mod alerts;
mod export;
mod filter;
mod letters;
mod overage;
mod query;
mod requests;

use super::{
    CommandError,
    connect::{ServerArgs, Way},
    failures,
};
use signalbox_api::v1::usage_service_client::UsageServiceClient;
use tonic::Status;

type Client = UsageServiceClient<Way>;

/// What to ask of the accounts.
#[derive(Debug, clap::Args)]
pub(crate) struct UsageArgs {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
struct OutputArgs {
    /// Print the answer as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Sum up a window: requests, tokens, cost and times, grouped as you like
    Query(query::QueryArgs),
    /// One request: every model call, its tokens, cost and time, and why it went there
    Request(requests::RequestArgs),
    /// Requests, newest first, as by the article they were made for
    Requests(requests::RequestsArgs),
    /// Watch requests as they end
    Tail(requests::TailArgs),
    /// A month as a file, for billing
    Export(export::ExportArgs),
    /// What a tenant used beyond what its plan includes
    Overage(overage::OverageArgs),
    /// Models that behave unlike their own history
    Alerts(alerts::AlertsArgs),
    /// Events that could not be stored, and to discard them
    DeadLetters(letters::LettersArgs),
    /// Put such events on the bus again, as after an upgrade that can read them
    Replay(letters::ChosenArgs),
}

/// Does what was asked.
pub(crate) async fn run(args: UsageArgs) -> Result<(), CommandError> {
    let client = args.output.server.usage().await?;
    let json = args.output.json;
    match args.action {
        Action::Query(args) => query::run(client, args, json).await,
        Action::Request(args) => requests::one(client, args, json).await,
        Action::Requests(args) => requests::list(client, args, json).await,
        Action::Tail(args) => requests::tail(client, args, json).await,
        Action::Export(args) => export::run(client, args).await,
        Action::Overage(args) => overage::run(client, args, json).await,
        Action::Alerts(args) => alerts::run(client, args, json).await,
        Action::DeadLetters(args) => letters::run(client, args, json).await,
        Action::Replay(args) => letters::replay(client, args).await,
    }
}

/// Why a call failed, for people.
fn failed(status: Status) -> CommandError {
    failures::from_call(&status)
}
