//! `make chaos`: kills processes while they account for requests, and counts what was stored.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program tells its user what it found"
)]

use clap::{Args, Parser, Subcommand, ValueEnum};
use signalbox_chaos::{Ledger, Mode, Publishing, Report, Wish, parts, run};
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs everybody, kills some and prints what was stored.
    Run(RunArgs),
    /// A publisher that forwards to NATS.
    Publish {
        #[command(flatten)]
        publisher: PublisherArgs,
        #[arg(long, value_delimiter = ',', required = true)]
        nats: Vec<String>,
    },
    /// A publisher that stores by itself.
    Embed {
        #[command(flatten)]
        publisher: PublisherArgs,
    },
    /// An ingester.
    Ingest {
        #[arg(long, value_delimiter = ',', required = true)]
        nats: Vec<String>,
        #[arg(long)]
        engine: String,
    },
}

#[derive(Debug, Args)]
struct RunArgs {
    #[arg(long)]
    mode: Way,
    /// Events in all.
    #[arg(long, default_value_t = 1_000_000)]
    events: u64,
    /// Kills in all.
    #[arg(long, default_value_t = 20)]
    kills: usize,
    /// Requests a second in all.
    #[arg(long, default_value_t = 10_000)]
    rate: u64,
    /// What events and kills follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Kill the store, too.
    #[arg(long)]
    store_dies: bool,
    /// Work here and leave everything there.
    #[arg(long)]
    dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Way {
    Nats,
    Cluster,
    Embedded,
}

#[derive(Debug, Args)]
struct PublisherArgs {
    #[arg(long)]
    dir: PathBuf,
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    publisher: u64,
    #[arg(long)]
    events: u64,
    #[arg(long)]
    until: i64,
    #[arg(long)]
    rate: u64,
}

impl From<PublisherArgs> for Publishing {
    fn from(args: PublisherArgs) -> Self {
        let PublisherArgs { dir, seed, publisher, events, until, rate } = args;
        Self { dir, ledger: Ledger { seed, publisher, events, until }, rate }
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => whole(args).await,
        Command::Publish { publisher, nats } => parts::publisher(publisher.into(), &nats).await,
        Command::Embed { publisher } => parts::embedded(publisher.into()).await,
        Command::Ingest { nats, engine } => parts::ingest(&nats, &engine).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("chaos: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn whole(args: RunArgs) -> Result<(), String> {
    let temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
    let dir = args.dir.clone().unwrap_or_else(|| temporary.path().to_owned());
    let mode = match args.mode {
        Way::Nats => Mode::Nats,
        Way::Cluster => Mode::Cluster,
        Way::Embedded => Mode::Embedded,
    };
    let RunArgs { events, kills, rate, seed, store_dies, .. } = args;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let wish = Wish { mode, events, kills, rate, seed, store_dies, program };
    let report = run(&wish, &dir).await?;
    print(&report);
    match report.problems.is_empty() {
        true => Ok(()),
        false => Err("accounts were lost, or counted more than once".to_owned()),
    }
}

fn print(report: &Report) {
    let Wish { mode, events, rate, seed, .. } = &report.wish;
    println!("{mode:?}: {events} events at {rate} a second, seed {seed}");
    let killed: Vec<String> =
        report.killed.iter().map(|(victim, times)| format!("{victim} {times}×")).collect();
    println!("  killed: {}", killed.join(", "));
    println!(
        "  all published after {:.1?}, all stored and settled after {:.1?}",
        report.published_after, report.settled_after
    );
    println!(
        "  longest wait of a request {:.1?}, longest stall of the bus {:.1?}",
        report.longest, report.stall
    );
    println!("  stored: {}", report.stored);
    for problem in &report.problems {
        println!("  WRONG: {problem}");
    }
}
