//! `signalbox chat`: one question, with the answer shown as it arrives.

mod screen;
mod summary;

use super::{CommandError, connect::ServerArgs, failures, read_text};
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
    /// What to ask; `-` reads it from standard input
    prompt: String,
    /// An alias as in `fast`, a tier as in `tier:economy`, or a model as in `openai/gpt-6-luna`
    #[arg(long, short)]
    model: Option<String>,
    /// Kind of work, as in `headline`; its models and defaults then apply
    #[arg(long, value_name = "NAME")]
    task_type: Option<String>,
    /// Standing instructions
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Whose budget, cache and rules apply
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Language of the answer, as in `it-IT`
    #[arg(long, value_name = "TAG")]
    locale: Option<String>,
    /// The article or job this is for
    #[arg(long)]
    reference: Option<String>,
    /// Most tokens to answer with
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_output_tokens: Option<i32>,
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
    let prompt = if args.prompt == "-" { read_text("-")? } else { args.prompt.clone() };
    let mut client = args.server.router().await?;
    let mut screen = Screen::new(io::stdout(), io::stderr(), args.json);
    match client.stream_generate(request(&args, prompt)).await {
        Ok(events) => follow(events.into_inner(), &mut screen).await,
        Err(status) => Err(broken(&status, &mut screen)),
    }
}

fn request(args: &ChatArgs, prompt: String) -> v1::StreamGenerateRequest {
    let part = v1::Part { part: Some(v1::part::Part::Text(prompt)), ..v1::Part::default() };
    let message = v1::Message { role: v1::Role::User as i32, content: vec![part] };
    let text = |wish: &Option<String>| wish.clone().unwrap_or_default();
    let request = v1::GenerateRequest {
        messages: vec![message],
        system: text(&args.system),
        model: text(&args.model),
        task_type: text(&args.task_type),
        tenant_id: text(&args.tenant),
        locale: text(&args.locale),
        reference: text(&args.reference),
        max_output_tokens: args.max_output_tokens,
        include_reasoning: args.reasoning,
        ..v1::GenerateRequest::default()
    };
    v1::StreamGenerateRequest { request: Some(request) }
}

/// Shows events until the stream has ended.
async fn follow<A: Write, N: Write>(
    mut events: impl Stream<Item = Result<v1::StreamGenerateResponse, Status>> + Unpin,
    screen: &mut Screen<A, N>,
) -> Result<(), CommandError> {
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => screen.show(event)?,
            Err(status) => return Err(broken(&status, screen)),
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
