//! `signalbox chat`: one question, with the answer shown as it arrives.

mod screen;
mod summary;

use super::{CommandError, ask::AskArgs, connect::ServerArgs, failures};
use futures_util::{Stream, StreamExt};
use screen::Screen;
use signalbox_api::v1;
use std::io::{self, Write};
use tonic::Status;

const HELP: &str = "\
The answer goes to standard output; who gave it, what it cost and how long it took, to standard error.";

/// What to ask, and whom.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    ask: AskArgs,
    /// Language of the answer, as in `it-IT`
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    /// The article or job this is for
    #[arg(long)]
    reference: Option<String>,
    /// Show the model's reasoning too, on standard error
    #[arg(long)]
    reasoning: bool,
    /// Print every event as a line of JSON instead
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Asks, and shows the answer.
pub(crate) async fn run(args: ChatArgs) -> Result<(), CommandError> {
    let mut screen = Screen::new(io::stdout(), io::stderr(), args.json);
    let server = args.server.clone();
    let request = request(args)?;
    let mut client = server.router().await?;
    match client.stream_generate(request).await {
        Ok(events) => follow(events.into_inner(), &mut screen).await,
        Err(status) => Err(broken(&status, &mut screen)),
    }
}

fn request(args: ChatArgs) -> Result<v1::StreamGenerateRequest, CommandError> {
    let request = v1::GenerateRequest {
        locale: args.locale.unwrap_or_default(),
        reference: args.reference.unwrap_or_default(),
        include_reasoning: args.reasoning,
        ..args.ask.request()?
    };
    Ok(v1::StreamGenerateRequest { request: Some(request) })
}

/// Shows events until the stream has ended or nobody looks any more.
async fn follow<A: Write, N: Write>(
    mut events: impl Stream<Item = Result<v1::StreamGenerateResponse, Status>> + Unpin,
    screen: &mut Screen<A, N>,
) -> Result<(), CommandError> {
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => screen.show(event)?,
            Err(status) => return Err(broken(&status, screen)),
        }
        if screen.is_closed() {
            return Ok(());
        }
    }
    if screen.is_done() {
        return Ok(());
    }
    Err(CommandError::new("the stream ended without its last event"))
}

fn broken<A: Write, N: Write>(status: &Status, screen: &mut Screen<A, N>) -> CommandError {
    screen.break_off(status).err().unwrap_or_else(|| failures::from_call(status))
}

#[cfg(test)]
mod tests;
