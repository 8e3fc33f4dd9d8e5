//! `signalbox explain`: who would be asked, and why.

mod report;

use super::{CommandError, ask::AskArgs, connect::ServerArgs, failures, print};
use signalbox_api::{json, v1};

const HELP: &str = "\
Nobody is called and nothing is paid. Candidates are shown in the order in which they would be tried: the one drawn,
the other preferred ones by score, the secondary ones, and last the servers of your own at the end of a list.";

/// Which request to explain.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    ask: AskArgs,
    /// As for a streamed answer
    #[arg(long)]
    stream: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArgs,
}

/// Asks the server how it would route a request and prints that.
pub(crate) async fn run(args: ExplainArgs) -> Result<(), CommandError> {
    let request = args.ask.request()?;
    let request_id = request.request_id.clone();
    let request = v1::ExplainRouteRequest { request: Some(request), stream: args.stream };
    let mut client = args.server.router().await?;
    let answer = client.explain_route(request).await.map_err(|status| failures::from_call(&status))?;
    let answer = answer.into_inner();
    print(&if args.json { json::to_json(&answer)? } else { report::report(&answer, &request_id) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        args: ExplainArgs,
    }

    #[test]
    fn options_end_up_in_the_request() {
        let words =
            ["explain", "Hi", "-m", "smart", "--task-type", "headline", "--tenant", "t", "--system", "s"];
        let words = words.into_iter().chain(["--request-id", "r", "--temperature", "0.9"]);
        let request = Cli::try_parse_from(words).unwrap().args.ask.request().unwrap();
        let names =
            [&request.model, &request.task_type, &request.tenant_id, &request.system, &request.request_id];
        assert_eq!(names, ["smart", "headline", "t", "s", "r"]);
        assert_eq!(request.sampling.and_then(|sampling| sampling.temperature), Some(0.9));
        assert_eq!(request.messages[0].content[0].part, Some(v1::part::Part::Text("Hi".into())));
    }
}
