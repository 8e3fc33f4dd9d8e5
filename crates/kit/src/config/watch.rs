//! The configuration in force, and changes to it while running.

use super::{CacheConfig, ConfigErrors, Environment, KeySource, Loaded, Problem, input::read_file, load};
use crate::{
    catalog::{Catalog, fingerprint},
    clock::Clock,
};
use arc_swap::ArcSwap;
use signalbox_pricing::Day;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::sync::{Mutex, watch};

/// How often the file's content is looked at.
const POLL_EVERY: Duration = Duration::from_secs(2);

/// How the configuration in force came about, for metrics and operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReloadStatus {
    /// Version of the catalogue in force.
    pub version: String,
    /// When it was loaded.
    pub loaded_at: SystemTime,
    /// When a load was last tried.
    pub last_attempt_at: SystemTime,
    /// What was wrong with the last try, one problem a line; `None` where it was good.
    pub last_error: Option<String>,
    /// Reloads that took effect.
    pub reloads: u64,
    /// Reloads that were refused.
    pub failures: u64,
}

/// The configuration in force. Share it by `Arc`; readers never wait.
///
/// A reload is taken over whole or not at all, and the last good configuration stays. The sections `server`,
/// `telemetry`, `peers`, `mtls`, `nats`, `access`, `budgets`, `redis`, `batch`, `usage`, `alerts` and, but for its
/// `defaults`, `cache` are read at start only: a change there is reported as a warning and waits for a restart.
#[derive(Debug)]
pub struct ConfigHandle {
    path: Option<PathBuf>,
    env: Environment,
    clock: Arc<dyn Clock>,
    current: ArcSwap<Loaded>,
    status: ArcSwap<ReloadStatus>,
    started_with: Arc<Loaded>,
    changes: watch::Sender<u64>,
    /// Content of the last try, so that a bad file is complained about once. Held during a reload.
    last_tried: Mutex<u64>,
}

impl ConfigHandle {
    /// Loads the configuration for the first time.
    pub fn start(
        path: Option<PathBuf>,
        env: Environment,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ConfigErrors> {
        let now = clock.now();
        // Taken before the load: a change in between is then seen by the first poll.
        let content = content(path.as_ref(), &[]);
        let loaded = Arc::new(load(path.as_deref(), &env, Day::of(now))?);
        let content = extend(content, &key_files(&loaded));
        let status = ReloadStatus {
            version: loaded.catalog.version().to_owned(),
            loaded_at: now,
            last_attempt_at: now,
            last_error: None,
            reloads: 0,
            failures: 0,
        };
        Ok(Self {
            path,
            env,
            clock,
            current: ArcSwap::new(loaded.clone()),
            status: ArcSwap::from_pointee(status),
            started_with: loaded,
            changes: watch::Sender::new(0),
            last_tried: Mutex::new(content),
        })
    }

    /// The catalogue in force.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.current.load().catalog.clone()
    }

    /// The whole configuration in force, with its warnings.
    pub fn loaded(&self) -> Arc<Loaded> {
        self.current.load_full()
    }

    /// How it came about.
    pub fn status(&self) -> Arc<ReloadStatus> {
        self.status.load_full()
    }

    /// The environment it is loaded with.
    pub fn environment(&self) -> &Environment {
        &self.env
    }

    /// Changes whenever a reload took effect; the value counts them.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Reloads whenever the content of the file, or of a key file it names, has changed. Runs until dropped.
    pub async fn watch(&self) {
        if self.path.is_none() {
            return std::future::pending().await;
        }
        let mut ticks = tokio::time::interval(POLL_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.reload_if_changed().await;
        }
    }

    /// Reads the file again now.
    pub async fn reload(&self) -> Result<Arc<Loaded>, ConfigErrors> {
        let mut last_tried = self.last_tried.lock().await;
        *last_tried = self.content().await;
        self.take_over().await
    }

    async fn reload_if_changed(&self) {
        let mut last_tried = self.last_tried.lock().await;
        let content = self.content().await;
        if std::mem::replace(&mut *last_tried, content) == content {
            return;
        }
        match self.take_over().await {
            Ok(loaded) => {
                tracing::info!(version = loaded.catalog.version(), "configuration reloaded");
                loaded.warning_lines().for_each(|warning| tracing::warn!("{warning}"));
            }
            Err(errors) => tracing::error!("configuration not reloaded, the last good one stays:\n{errors}"),
        }
    }

    /// A fingerprint of everything that a load reads from disk.
    async fn content(&self) -> u64 {
        let (path, keys) = (self.path.clone(), key_files(&self.current.load()));
        off_the_runtime(move || content(path.as_ref(), &keys)).await.unwrap_or_default()
    }

    async fn take_over(&self) -> Result<Arc<Loaded>, ConfigErrors> {
        let now = self.clock.now();
        let (path, env) = (self.path.clone(), self.env.clone());
        let outcome = off_the_runtime(move || load(path.as_deref(), &env, Day::of(now))).await;
        let outcome = outcome.unwrap_or_else(|| Err(self.stopped()));
        let before = self.status();
        let mut status = ReloadStatus { last_attempt_at: now, last_error: None, ..(*before).clone() };
        let outcome = outcome.map(|mut loaded| {
            loaded.warnings.extend(self.needs_restart(&loaded));
            status.version = loaded.catalog.version().to_owned();
            status.loaded_at = now;
            status.reloads += 1;
            let loaded = Arc::new(loaded);
            self.current.store(loaded.clone());
            loaded
        });
        if let Err(errors) = &outcome {
            status.failures += 1;
            status.last_error = Some(errors.to_string());
        }
        let reloads = status.reloads;
        self.status.store(Arc::new(status));
        if outcome.is_ok() {
            self.changes.send_replace(reloads);
        }
        outcome
    }

    /// Sections that differ from those the process started with and are read at start only.
    fn needs_restart(&self, loaded: &Loaded) -> Vec<Problem> {
        let (old, new) = (&self.started_with.config, &loaded.config);
        let sections = [
            ("server", old.server != new.server),
            ("telemetry", old.telemetry != new.telemetry),
            ("peers", old.peers != new.peers),
            ("mtls", old.mtls != new.mtls),
            ("nats", old.nats != new.nats),
            ("access", old.access != new.access),
            ("budgets", old.budgets != new.budgets),
            ("redis", old.redis != new.redis),
            // What holds for tasks takes effect at once.
            ("cache", old.cache != CacheConfig { defaults: old.cache.defaults.clone(), ..new.cache.clone() }),
            ("batch", old.batch != new.batch),
            ("usage", old.usage != new.usage),
            ("alerts", old.alerts != new.alerts),
        ];
        let changed = sections.into_iter().filter(|(_, changed)| *changed);
        changed
            .map(|(section, _)| Problem {
                at: super::Position::START,
                field: section.to_owned(),
                message: "has changed, which takes effect at the next start".to_owned(),
            })
            .collect()
    }

    fn stopped(&self) -> ConfigErrors {
        let message = "the process is stopping".to_owned();
        let problem = Problem { at: super::Position::START, field: String::new(), message };
        ConfigErrors::new(self.path.clone().map(Arc::new), vec![problem])
    }
}

/// Runs work that reads files or takes long beside the runtime; `None` while that is shutting down.
async fn off_the_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

fn key_files(loaded: &Loaded) -> Vec<PathBuf> {
    let vendors = loaded.config.vendors.values().filter_map(|vendor| vendor.api_key.as_ref());
    let moderations = loaded.config.content_policies.values().filter_map(|policy| policy.moderation.as_ref());
    let sources = vendors.chain(moderations.filter_map(|moderation| moderation.api_key.as_ref()));
    sources.filter_map(|KeySource { file, .. }| file.clone()).collect()
}

fn content(path: Option<&PathBuf>, keys: &[PathBuf]) -> u64 {
    let file = path.map_or_else(Vec::new, |path| read(path));
    extend(fingerprint([file.as_slice()]), keys)
}

/// A fingerprint with that of more files.
fn extend(before: u64, files: &[PathBuf]) -> u64 {
    files.iter().fold(before, |hash, path| fingerprint([hash.to_le_bytes().as_slice(), &read(path)]))
}

/// The content of a file, or the reason why there is none.
fn read(path: &Path) -> Vec<u8> {
    read_file(path).unwrap_or_else(String::into_bytes)
}
