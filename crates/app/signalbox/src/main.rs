//! The one binary: every role, and the operator's commands.
#![expect(clippy::print_stderr, reason = "a command-line program talks to its user")]

mod arrows;
mod commands;
mod metrics;
mod roles;
mod serve;
mod vendors;
mod wire;

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;
use rustix::fs::Mode;
use std::process::ExitCode;

/// A call makes many small allocations: with this allocator a tenth more calls fit into a second of processor time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Signalbox, a router between applications and LLM vendors.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve gRPC: all roles, or those named.
    Serve(serve::ServeArgs),
    /// Ask a model and watch the answer arrive.
    Chat(commands::chat::ChatArgs),
    /// Show who would be asked and why, without asking.
    Explain(commands::explain::ExplainArgs),
    /// List models and aliases.
    Models(commands::models::ModelsArgs),
    /// Inject faults for a while and see whether users would notice.
    Drill(commands::drill::DrillArgs),
    /// Hand in work that can wait, at batch prices, and fetch what came of it.
    Batch(Box<commands::batch::BatchArgs>),
    /// Show what was used, by whom, for what and at what cost.
    Usage(Box<commands::usage::UsageArgs>),
    /// Add, show and change tenants.
    Tenant(Box<commands::tenant::TenantArgs>),
    /// Make, list and revoke API keys.
    Key(commands::key::KeyArgs),
    /// Set what tenants may spend, and show where they stand.
    Budget(commands::budget::BudgetArgs),
    /// Show what the cache does and why, and let answers not be given any more.
    Cache(Box<commands::cache::CacheArgs>),
    /// Compare the ledger of budgets with the usage store.
    Reconcile(commands::reconcile::ReconcileArgs),
    /// Make the tables of the stores, or bring them to this version.
    Migrate(commands::migrate::MigrateArgs),
    /// Ask whether a server serves; the exit status says it.
    Health(commands::health::HealthArgs),
    /// List the metrics that a process has for Prometheus, and what they mean.
    Metrics(commands::metrics::MetricsArgs),
    /// Check a configuration file and say what is wrong with it, and where.
    CheckConfig(commands::check_config::CheckConfigArgs),
    /// Show how a captured vendor answer, stream or error is read.
    Decode(commands::decode::DecodeArgs),
    /// Show the HTTP request that would be sent to a vendor.
    Encode(commands::encode::EncodeArgs),
}

impl Command {
    /// Whether it makes files of ours, and none that are for its user.
    fn keeps_data(&self) -> bool {
        matches!(self, Self::Serve(_) | Self::Migrate(_))
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.command.keeps_data() {
        // Accounts, budgets and hashes of keys are nobody else's on this machine.
        rustix::process::umask(Mode::RWXG | Mode::RWXO);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("cannot start a runtime: {error}")),
    };
    match runtime.block_on(dispatch(cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => fail(&problem),
    }
}

async fn dispatch(command: Command) -> Result<(), String> {
    match command {
        Command::Serve(args) => serve::run(args).await,
        Command::Chat(args) => commands::chat::run(args).await.map_err(|error| error.to_string()),
        Command::Explain(args) => commands::explain::run(args).await.map_err(|error| error.to_string()),
        Command::Models(args) => commands::models::run(args).await.map_err(|error| error.to_string()),
        Command::Drill(args) => commands::drill::run(args).await.map_err(|error| error.to_string()),
        Command::Batch(args) => commands::batch::run(*args).await.map_err(|error| error.to_string()),
        Command::Usage(args) => commands::usage::run(*args).await.map_err(|error| error.to_string()),
        Command::Tenant(args) => commands::tenant::run(*args).await.map_err(|error| error.to_string()),
        Command::Key(args) => commands::key::run(args).await.map_err(|error| error.to_string()),
        Command::Budget(args) => commands::budget::run(args).await.map_err(|error| error.to_string()),
        Command::Cache(args) => commands::cache::run(*args).await.map_err(|error| error.to_string()),
        Command::Reconcile(args) => commands::reconcile::run(args).await.map_err(|error| error.to_string()),
        Command::Migrate(args) => commands::migrate::run(args).await.map_err(|error| error.to_string()),
        Command::Health(args) => commands::health::run(args).await.map_err(|error| error.to_string()),
        Command::Metrics(args) => commands::metrics::run(&args).map_err(|error| error.to_string()),
        Command::CheckConfig(args) => commands::check_config::run(args).map_err(|error| error.to_string()),
        Command::Decode(args) => commands::decode::run(args).map_err(|error| error.to_string()),
        Command::Encode(args) => commands::encode::run(args).map_err(|error| error.to_string()),
    }
}

fn fail(problem: &str) -> ExitCode {
    eprintln!("signalbox: {problem}");
    ExitCode::FAILURE
}
