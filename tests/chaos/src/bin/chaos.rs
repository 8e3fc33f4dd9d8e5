//! `make chaos`: kills processes while they account for requests, and counts what was stored.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program tells its user what it found"
)]

use clap::{Args, Parser, Subcommand, ValueEnum};
use signalbox_chaos::{
    BudgetWish, Ledger, Mode, Publishing, Wish, budget_table, parts, run, run_budget, table,
    up::{UpReport, UpWish, run_up, up_table},
};
use signalbox_local::{Folder, Stack};
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
    /// How, one after the other; `up` strikes the system that `make up` has started, and none of its own.
    #[arg(long, value_delimiter = ',', default_value = "nats,cluster,embedded,budget")]
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
    /// Requests that the budget pays for, where budgets are kept, or that are answered by the system that is up.
    #[arg(long, default_value_t = 5_000)]
    requests: u64,
    /// What events and kills follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Kill the store, too.
    #[arg(long)]
    store_dies: bool,
    /// Where the system lies that is up.
    #[arg(long, default_value = ".local", env = "SIGNALBOX_LOCAL_FOLDER")]
    folder: PathBuf,
    /// Work here and leave everything there.
    #[arg(long)]
    dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Way {
    Nats,
    Cluster,
    Embedded,
    Budget,
    Up,
}

impl RunArgs {
    /// What is asked of those who account; `None` where it is others.
    fn wish(&self, way: Way) -> Result<Option<Wish>, String> {
        let (mode, share) = match way {
            Way::Budget | Way::Up => return Ok(None),
            Way::Nats => (Mode::Nats, 1),
            // Three copies of all on one disk.
            Way::Cluster => (Mode::Cluster, 5),
            Way::Embedded => (Mode::Embedded, 1),
        };
        Ok(Some(Wish {
            mode,
            events: self.events / share,
            kills: self.kills / usize::try_from(share).unwrap_or(1),
            rate: if mode == Mode::Cluster { self.rate / 2 } else { self.rate },
            seed: self.seed,
            store_dies: self.store_dies,
            nats_dies: true,
            program: std::env::current_exe().map_err(|error| error.to_string())?,
        }))
    }

    fn budget(&self) -> BudgetWish {
        BudgetWish { requests: self.requests, kills: self.kills, clients: 64, seed: self.seed }
    }

    fn up(&self) -> Result<UpWish, String> {
        let folder = Folder::at(&self.folder)?;
        let stack = Stack::load(&folder)?;
        let stack =
            stack.ok_or_else(|| format!("nothing is up in {}: `make up`", folder.path().display()))?;
        let requests = usize::try_from(self.requests).unwrap_or(usize::MAX);
        Ok(UpWish { stack, requests, kills: self.kills, seed: self.seed })
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
    let (mut reports, mut budgets, mut ups) = (Vec::new(), Vec::new(), Vec::<UpReport>::new());
    for way in &args.mode {
        let temporary = tempfile::tempdir().map_err(|error| error.to_string())?;
        let dir =
            |name: &str| args.dir.as_ref().map_or_else(|| temporary.path().to_owned(), |dir| dir.join(name));
        match args.wish(*way)? {
            Some(wish) => {
                let name = wish.mode.to_string();
                let report = run(&wish, &dir(&name)).await.map_err(|problem| format!("{name}: {problem}"))?;
                report.problems.iter().for_each(|problem| eprintln!("{name}: {problem}"));
                reports.push(report);
            }
            None if *way == Way::Up => {
                let report = run_up(&args.up()?).await.map_err(|problem| format!("up: {problem}"))?;
                report.verdict.problems.iter().for_each(|problem| eprintln!("up: {problem}"));
                ups.push(report);
            }
            None => {
                let report = run_budget(&args.budget(), &dir("budget")).await;
                let report = report.map_err(|problem| format!("budget: {problem}"))?;
                report.verdict.problems.iter().for_each(|problem| eprintln!("budget: {problem}"));
                budgets.push(report);
            }
        }
    }
    if !reports.is_empty() {
        println!("Requests come at {} a second, seed {}.\n\n{}", args.rate, args.seed, table(&reports));
    }
    if !budgets.is_empty() {
        println!("64 clients call, seed {}.\n\n{}", args.seed, budget_table(&budgets));
    }
    if !ups.is_empty() {
        println!("16 clients call, seed {}.\n\n{}", args.seed, up_table(&ups));
    }
    let exact = reports.iter().all(|report| report.problems.is_empty())
        && budgets.iter().all(|report| report.verdict.problems.is_empty())
        && ups.iter().all(|report| report.verdict.problems.is_empty());
    exact
        .then_some(())
        .ok_or_else(|| "something was lost, counted more than once, or passed its limit".to_owned())
}
