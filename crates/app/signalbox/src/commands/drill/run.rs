//! `signalbox drill run`: one drill, watched to its end.

use super::{StartArgs, every_page, report, start, stop};
use crate::commands::{CommandError, connect::Way, print_aside};
use signalbox_api::v1;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use v1::{admin_service_client::AdminServiceClient, drill::State};

/// How often it is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long requests that are under way at its end are waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// Starts a drill and waits for its verdict. Ctrl-C ends it early.
pub(super) async fn run(args: StartArgs) -> Result<(), CommandError> {
    let mut client = args.output.server.admin().await?;
    let started = start(&mut client, args.wanted.drill()).await?;
    print_aside(&report::progress(&started))?;
    let ended = watch(&mut client, started).await?;
    args.output.print(&ended)?;
    let passed = ended.verdict.as_ref().is_some_and(|verdict| verdict.passed);
    if passed && report::is_final(&ended) {
        return Ok(());
    }
    Err(CommandError::new(format!("{} has not passed", ended.name)))
}

async fn watch(
    client: &mut AdminServiceClient<Way>,
    mut drill: v1::Drill,
) -> Result<v1::Drill, CommandError> {
    let mut over_at = None;
    let mut told = report::progress(&drill);
    while !report::is_final(&drill) {
        if drill.state() == State::Ended && over_at.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            break;
        }
        tokio::select! {
            () = sleep(LOOK_EVERY) => drill = find(client, &drill.name).await?,
            _ = tokio::signal::ctrl_c() => drill = stop(client, drill.name).await?,
        }
        let now = report::progress(&drill);
        if now != told {
            print_aside(&now)?;
            told = now;
        }
    }
    Ok(drill)
}

async fn find(client: &mut AdminServiceClient<Way>, name: &str) -> Result<v1::Drill, CommandError> {
    let drills = every_page(client).await?.drills;
    let found = drills.into_iter().find(|drill| drill.name == name);
    found.ok_or_else(|| CommandError::new(format!("the server no longer knows {name}: was it started anew?")))
}
