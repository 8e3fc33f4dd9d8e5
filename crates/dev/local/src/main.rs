//! `make up` and `make down`: the whole distributed system on one machine.

#![expect(clippy::print_stderr, reason = "a command-line program talks to its user")]

use clap::{Parser, Subcommand};
use serde::de::DeserializeOwned;
use serde_json::Value;
use signalbox_local::{Folder, Kind, Shape, Stack, down, facts, fit, refit, roll, rotate, status, up};
use std::{
    fmt::Display,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Instant,
};

/// The whole distributed system on one machine, without containers.
#[derive(Debug, Parser)]
struct Cli {
    /// Where everything lies: state, logs, configuration, certificates
    #[arg(long, global = true, default_value = ".local", env = "SIGNALBOX_LOCAL_FOLDER")]
    folder: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start what does not run, wait until all is ready, and say where it is
    Up {
        /// The first of its 200 ports, 21000 where left out; 0 takes free ones
        #[arg(long)]
        base_port: Option<u16>,
        /// Let roles speak in the clear
        #[arg(long)]
        no_mtls: bool,
        /// Configuration to lay over that of every role, as JSON
        #[arg(long, value_name = "FILE")]
        overlay: Option<PathBuf>,
    },
    /// End everything and remove the folder
    Down,
    /// What runs, and how it does
    Status,
    /// Replace all certificates by those of a new authority, while everything runs
    Rotate,
    /// Restart all roles at once, with something different for whoever has the system for a while, or as they were
    /// made; and say where they are, as JSON
    Fit {
        /// Configuration to lay over that of every role, and their environment, as JSON
        #[arg(long, value_name = "FILE")]
        with: Option<PathBuf>,
        /// Do not restart them: let them take over the configuration while they run
        #[arg(long, requires = "with")]
        running: bool,
    },
    /// Restart a role, or all of them, one process at a time
    Roll {
        /// A role, or `all`
        role: String,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(Cli::parse()).await {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("local: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn say(what: impl Display) {
    // Whoever does not read it does not need it.
    let _nobody_reads = writeln!(io::stdout(), "{what}");
}

async fn run(cli: Cli) -> Result<ExitCode, String> {
    let folder = Folder::at(&cli.folder)?;
    match cli.command {
        Command::Up { base_port, no_mtls, overlay } => {
            let overlay = overlay.map_or(Ok(Value::Null), |file| read(&file))?;
            let shape = Shape { mtls: !no_mtls, overlay, ..Shape::default() };
            start(&folder, base_port, shape).await?;
        }
        Command::Down => match down(&folder).await? {
            true => say("down: nothing is left"),
            false => say("nothing was up"),
        },
        Command::Status => {
            let (text, all_ready) = status(&load(&folder)?).await;
            say(text);
            return Ok(if all_ready { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Command::Rotate => rotate(&load(&folder)?, |step| say(step)).await?,
        Command::Fit { with, running } => {
            let mut stack = load(&folder)?;
            match with.map(|file| read(&file)).transpose()? {
                Some(wanted) if running => refit(&mut stack, wanted)?,
                wanted => fit(&mut stack, wanted).await?,
            }
            say(facts(&stack));
        }
        Command::Roll { role } => {
            let kind = if role == "all" { None } else { Some(Kind::role(&role)?) };
            roll(&load(&folder)?, kind, |part| say(format!("{part} is back"))).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn start(folder: &Folder, wanted: Option<u16>, shape: Shape) -> Result<(), String> {
    let began = Instant::now();
    let base_port = wanted.unwrap_or(shape.base_port);
    let outcome = up(folder, Shape { base_port, ..shape }).await?;
    if let Some(elsewhere) = outcome.stack.elsewhere(wanted) {
        say(elsewhere);
    }
    let all = outcome.started.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match &*outcome.started {
        [] => say("It is up.\n"),
        _ => say(format!("Up after {:.1} s: {all}.\n", began.elapsed().as_secs_f64())),
    }
    say(outcome.stack);
    Ok(())
}

fn read<T: DeserializeOwned>(file: &Path) -> Result<T, String> {
    let told = |problem: &dyn Display| format!("{}: {problem}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| told(&error))?;
    serde_json::from_str(&text).map_err(|error| told(&error))
}

fn load(folder: &Folder) -> Result<Stack, String> {
    Stack::load(folder)?.ok_or_else(|| format!("nothing is up in {}: `make up`", folder.path().display()))
}
