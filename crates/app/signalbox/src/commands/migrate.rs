//! `signalbox migrate`: makes the tables of the stores, or brings them to this version.

use super::{CommandError, environment, print};
use crate::serve::{batch_store, budget_store, usage_store};
use signalbox_kit::{Clock, SystemClock, config::ConfigHandle};
use signalbox_ports::ledger::Ledger as _;
use std::{path::PathBuf, sync::Arc};

const HELP: &str = "\
All stores: that of usage, that of tenants, keys, budgets and their ledger, and that of batch jobs. Safe to run again, and
while processes with the roles ingest, budget and batch run: they do the same at their start. Run it before an upgrade where
they may not change tables themselves.";

/// Which configuration names the stores.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct MigrateArgs {
    /// Configuration file, laid over the built-in catalogue
    #[arg(long, env = "SIGNALBOX_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Applies the stores' migrations.
pub(crate) async fn run(args: MigrateArgs) -> Result<(), CommandError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let config = ConfigHandle::start(args.config, environment(), clock.clone())
        .map_err(|errors| CommandError::new(errors.to_string()))?;
    let opened = usage_store::open(&config, &clock).await.map_err(CommandError::new)?;
    opened.store.migrate().await.map_err(|failure| CommandError::new(failure.to_string()))?;
    print("the usage store has the tables of this version")?;
    let ledger = budget_store::open(&config, &clock).await.map_err(CommandError::new)?;
    ledger.migrate().await.map_err(|failure| CommandError::new(failure.to_string()))?;
    print("the store of budgets has the tables of this version")?;
    let batches = batch_store::open(&config).await.map_err(CommandError::new)?;
    batches.migrate().await.map_err(|failure| CommandError::new(failure.to_string()))?;
    print("the store of batch jobs has the tables of this version")
}
