//! What the cache costs requests, and what it costs them while something is away: measured with the programs as they are
//! built, on this machine, with default time budgets.
//!
//! `bench-cache [ROOT]` writes its tables into `docs/performance.md` where ROOT is given as the repository's root; without
//! one it prints. A debug build only ever prints.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line program tells its user what it found"
)]

mod ask;
mod crowd;
mod direct;
mod field;
mod load;
mod single;
mod spread;
mod trouble;

use clap::{Parser, ValueEnum};
use std::{error::Error, fs, path::PathBuf, process::ExitCode};

const BEGIN: &str = "<!-- bench-cache:begin -->\n";
const END: &str = "<!-- bench-cache:end -->";

/// How much is measured.
#[derive(Debug, Parser)]
struct Cli {
    /// The repository's root, for the tables to be written into its docs
    root: Option<PathBuf>,
    /// What to measure
    #[arg(long, value_delimiter = ',', default_value = "single,crowd,trouble")]
    parts: Vec<Part>,
    /// Seconds of load in each state of the store
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Requests a second
    #[arg(long, default_value_t = 300)]
    rate: u64,
    /// Calls of each kind, one after the other, in one process
    #[arg(long, default_value_t = 5_000)]
    calls: usize,
    /// Identical requests at once
    #[arg(long, default_value_t = 1_000)]
    crowd: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// An exact hit in one process
    Single,
    /// Identical requests at once
    Crowd,
    /// The store and the embedder in trouble
    Trouble,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-cache: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> Result<(), Box<dyn Error>> {
    let mut tables = Vec::new();
    for part in cli.parts {
        tables.push(match part {
            Part::Single => single::table(cli.calls).await?,
            Part::Crowd => crowd::table(cli.crowd).await?,
            Part::Trouble => trouble::table(cli.seconds, cli.rate).await?,
        });
        eprintln!("{part:?} is measured");
    }
    let tables = tables.join("\n");
    match cli.root {
        Some(root) if !cfg!(debug_assertions) => write(root, &tables),
        _ => {
            println!("{tables}");
            Ok(())
        }
    }
}

fn write(root: PathBuf, tables: &str) -> Result<(), Box<dyn Error>> {
    let page = root.join("docs/performance.md");
    let text = fs::read_to_string(&page)?;
    let (head, rest) = text.split_once(BEGIN).ok_or("docs/performance.md has no place for the tables")?;
    let (_, tail) = rest.split_once(END).ok_or("docs/performance.md has no end of the tables")?;
    Ok(fs::write(page, format!("{head}{BEGIN}{tables}{END}{tail}"))?)
}
