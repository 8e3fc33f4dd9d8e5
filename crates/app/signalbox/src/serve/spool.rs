//! The spool of this process: opened before anything is served, brought to the disk while it runs.

use super::budget;
use crate::roles::Role;
use signalbox_kit::{
    config::{ConfigHandle, SpoolConfig, data_dir},
    readiness::Readiness,
};
use signalbox_spool::{LEDGER, OpenError, Options, Spool};
use std::{io::ErrorKind, path::PathBuf, sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval};

/// Length at which a new file is begun: short enough that confirmed ones go soon.
const SEGMENT_BYTES: u64 = 32 << 20;
/// What `/readyz` calls it.
const CONDITION: &str = "usage spool";
/// How often it is looked whether requests can be accounted for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// An alarm is over once so much less waits, so that it does not flicker.
const CALM: f64 = 0.8;

/// Opens the spool of a process that has something to account for: requests, items of jobs, or heartbeats.
pub(crate) fn open(config: &ConfigHandle, roles: &[Role]) -> Result<Option<Arc<Spool>>, String> {
    if !account(roles) {
        return Ok(None);
    }
    let settings = config.loaded().config.usage.spool.clone();
    let options = Options {
        dir: dir(config, roles),
        max_bytes: settings.max_bytes,
        segment_bytes: SEGMENT_BYTES.min(settings.max_bytes / 4),
        readers: if settles(config, roles) { &[LEDGER] } else { &[] },
    };
    let spool = Spool::open(options).map_err(|error| not_opened(&error))?;
    Ok(Some(Arc::new(spool)))
}

/// A process that runs waits for room; one that starts cannot even note what it begins.
fn not_opened(error: &OpenError) -> String {
    let hint = match error {
        OpenError::Io { error, .. } if error.kind() == ErrorKind::StorageFull => {
            "; a process does not start on a full disk: make room, then start it again. What the one before had to account \
             for is kept"
        }
        _ => "",
    };
    format!("the usage spool: {error}{hint}")
}

/// Whether roles account for anything.
fn account(roles: &[Role]) -> bool {
    roles.iter().any(|role| matches!(role, Role::Router | Role::Adapter | Role::Batch))
}

/// Whether budgets pay for what is accounted for here.
fn settles(config: &ConfigHandle, roles: &[Role]) -> bool {
    // Heartbeats of adapters cost, too.
    account(roles) && budget::are_kept(&config.loaded().config, roles)
}

/// Where the spool is.
pub(crate) fn dir(config: &ConfigHandle, roles: &[Role]) -> PathBuf {
    let configured = config.loaded().config.usage.spool.dir.clone();
    configured.unwrap_or_else(|| default_dir(config, roles))
}

/// Roles that are started in one place without a word do not meet in one directory.
fn default_dir(config: &ConfigHandle, roles: &[Role]) -> PathBuf {
    let name = match roles {
        _ if roles.contains(&Role::Router) => "spool",
        _ if roles.contains(&Role::Adapter) => "spool-adapter",
        _ => "spool-batch",
    };
    data_dir(config.environment()).join(name)
}

/// Brings what was written to the disk, again and again, tries again what the disk refused, and says so when too much waits.
/// A router is not ready while no request could be accounted for. Runs until dropped.
pub(crate) async fn keep(spool: Arc<Spool>, settings: SpoolConfig, router: Option<Readiness>) {
    let ticker = |every: Duration| {
        let mut ticks = interval(every.max(Duration::from_millis(10)));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    };
    let (mut syncs, mut looks) = (ticker(settings.sync_interval.0), ticker(LOOK_EVERY));
    let mut alarm = Alarm { at: share(settings.max_bytes, settings.alarm_at), raised: false };
    let mut had_room = true;
    loop {
        tokio::select! {
            _ = syncs.tick() => sync(spool.clone()).await,
            _ = looks.tick() => {
                retry(spool.clone()).await;
                alarm.look(spool.waiting_bytes(), settings.max_bytes);
                let room = spool.check().map_err(|full| full.to_string());
                tell_room(&mut had_room, &room);
                if let Some(readiness) = &router {
                    readiness.set(CONDITION, room);
                }
            }
        }
    }
}

/// Says why requests are refused, which their callers are not told.
fn tell_room(had: &mut bool, room: &Result<(), String>) {
    if std::mem::replace(had, room.is_ok()) == room.is_ok() {
        return;
    }
    match room {
        Ok(()) => tracing::info!("requests can be accounted for again"),
        Err(why) => tracing::error!(why, "what cannot be accounted for is refused"),
    }
}

/// Once, beside the runtime. Accounts that are left are in memory alone.
async fn retry(spool: Arc<Spool>) -> usize {
    tokio::task::spawn_blocking(move || spool.retry()).await.unwrap_or_default()
}

/// When the process ends: what the disk refused is tried for the last time.
pub(crate) async fn finish(spool: Arc<Spool>) {
    let accounts = retry(spool.clone()).await;
    if accounts > 0 {
        tracing::error!(
            accounts,
            "the disk still refuses accounts: the next start tells them by their drafts, and those of refused requests \
             are lost"
        );
    }
    sync(spool).await;
}

/// Once, beside the runtime.
async fn sync(spool: Arc<Spool>) {
    match tokio::task::spawn_blocking(move || spool.sync()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, "the usage spool cannot be brought to the disk"),
        Err(error) => tracing::error!(%error, "bringing the usage spool to the disk was cut off"),
    }
}

/// Tells of a spool that fills up long before it is full.
struct Alarm {
    at: u64,
    raised: bool,
}

impl Alarm {
    fn look(&mut self, waiting: u64, most: u64) {
        if !self.raised && waiting >= self.at {
            self.raised = true;
            tracing::error!(
                waiting,
                most,
                "accounts pile up in the usage spool; when it is full no request is taken"
            );
        } else if self.raised && waiting < share(self.at, CALM) {
            self.raised = false;
            tracing::info!(waiting, "the usage spool drains again");
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a share of a size, which need not be exact"
)]
fn share(of: u64, share: f64) -> u64 {
    (of as f64 * share) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_on_a_full_disk_says_what_to_do() {
        let told = |kind: ErrorKind| {
            not_opened(&OpenError::Io { dir: "/data/spool".to_owned(), error: kind.into() })
        };
        let full = told(ErrorKind::StorageFull);
        assert!(
            full.starts_with("the usage spool: /data/spool: ")
                && full.contains("make room, then start it again"),
            "{full}"
        );
        assert!(!told(ErrorKind::PermissionDenied).contains("full disk"));
    }
}
