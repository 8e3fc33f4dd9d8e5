//! `make chaos`: kills processes while they account for requests, and counts what was stored.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program tells its user what it found"
)]

use clap::{Args, Parser, Subcommand, ValueEnum};
use signalbox_chaos::{Ledger, Mode, Publishing, Wish, parts, run, table};
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
}

#[derive(Debug, Args)]
struct RunArgs {
    /// How, one after the other.
    #[arg(long, value_delimiter = ',', default_value = "nats,cluster,embedded")]
    mode: Vec<Way>,
    /// Events in all, a fifth of it in a cluster.
    #[arg(long, default_value_t = 1_000_000)]
    events: u64,
    /// Kills in all, a fifth of it in a cluster.
    #[arg(long, default_value_t = 20)]
    kills: usize,
    /// Requests a second in all, half of it in a cluster.
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

impl RunArgs {
    fn wish(&self, way: Way) -> Result<Wish, String> {
        let (mode, share) = match way {
            Way::Nats => (Mode::Nats, 1),
            // Three copies of all on one disk.
            Way::Cluster => (Mode::Cluster, 5),
            Way::Embedded => (Mode::Embedded, 1),
        };
        Ok(Wish {
            mode,
            events: self.events / share,
            kills: self.kills / usize::try_from(share).unwrap_or(1),
            rate: if mode == Mode::Cluster { self.rate / 2 } else { self.rate },
            seed: self.seed,
            store_dies: self.store_dies,
            nats_dies: true,
            program: std::env::current_exe().map_err(|error| error.to_string())?,
        })
    }
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
    let mut reports = Vec::new();
    for way in &args.mode {
        let wish = args.wish(*way)?;
        let temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
        let dir = args
            .dir
            .as_ref()
            .map_or_else(|| temporary.path().to_owned(), |dir| dir.join(wish.mode.to_string()));
        let report = run(&wish, &dir).await.map_err(|problem| format!("{}: {problem}", wish.mode))?;
        report.problems.iter().for_each(|problem| eprintln!("{}: {problem}", wish.mode));
        reports.push(report);
    }
    println!("Requests come at {} a second, seed {}.\n\n{}", args.rate, args.seed, table(&reports));
    let exact = reports.iter().all(|report| report.problems.is_empty());
    exact.then_some(()).ok_or_else(|| "requests were lost, or counted more than once".to_owned())
}
