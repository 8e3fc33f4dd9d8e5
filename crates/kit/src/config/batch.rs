//! The file's section about work that can wait: where jobs are kept, how items are gathered, and what a job may hold.

use super::{
    budgets::PostgresConfig,
    check::Findings,
    sanity::{check_file, check_key_source},
    tree::Cursor,
    values::{Age, HumanDuration},
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{path::PathBuf, time::Duration};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Longer, and answers of the vendor lie there unseen.
const LONGEST_POLL: HumanDuration = HumanDuration::secs(3600);
/// Shorter, and a process would lose what it works on to a pause.
const SHORTEST_LEASE: HumanDuration = HumanDuration::secs(1);
/// Longer, and what a dead process worked on waits for too long.
const LONGEST_LEASE: HumanDuration = HumanDuration::secs(600);

/// Work that can wait, at the vendors' batch prices. Read at start only.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BatchConfig {
    /// Where jobs, items and results are kept.
    pub store: BatchStoreConfig,
    /// How long items are gathered for a vendor and model before they are handed over together.
    pub window_wait: HumanDuration,
    /// Items that are handed over together at most. A vendor may take fewer.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_window_items: u32,
    /// Bytes of requests that are handed over together at most. A vendor may take fewer.
    #[schemars(range(min = 65_536))]
    pub max_window_bytes: u64,
    /// Calls under way at a time to a vendor that has no batch endpoint.
    #[schemars(range(min = 1, max = 1000))]
    pub concurrency: u32,
    /// The first pause before a vendor is asked how far a batch is. Each next one is longer.
    pub poll_interval: HumanDuration,
    /// The longest such pause, at most 1h.
    pub max_poll_interval: HumanDuration,
    /// How long a batch that a process works on is left to it without a word from it; 1s to 10m.
    pub lease: HumanDuration,
    /// How long results are kept after the end of their job.
    pub results_kept: Age,
    /// Items of a job at most.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_job_items: u32,
    /// Bytes of a job's requests at most.
    #[schemars(range(min = 65_536))]
    pub max_job_bytes: u64,
    /// How long a job may take that does not say it.
    pub default_completion_window: Age,
}

impl Default for BatchConfig {
    fn default() -> Self {
        Self {
            store: BatchStoreConfig::default(),
            window_wait: HumanDuration::secs(60),
            max_window_items: 10_000,
            max_window_bytes: 64 << 20,
            concurrency: 4,
            poll_interval: HumanDuration::secs(30),
            max_poll_interval: HumanDuration::secs(600),
            lease: HumanDuration::secs(60),
            results_kept: Age(7 * DAY),
            max_job_items: 50_000,
            max_job_bytes: 256 << 20,
            default_completion_window: Age(DAY),
        }
    }
}

/// Where jobs, items and results are kept: in PostgreSQL where that is given, else in a file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BatchStoreConfig {
    /// A file, for one process.
    pub sqlite: Option<BatchFileConfig>,
    /// A PostgreSQL server, for any number of processes, which take turns.
    pub postgres: Option<PostgresConfig>,
}

/// A store of jobs in a file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BatchFileConfig {
    /// The file. Default: `batches.db` in the data directory.
    pub path: Option<PathBuf>,
}

pub(super) fn check(batch: &BatchConfig, at: &Cursor<'_>, findings: &mut Findings) {
    let store = at.key("store");
    let path = batch.store.sqlite.as_ref().and_then(|sqlite| sqlite.path.as_ref());
    check_file(path, &store.key("sqlite").key("path"), findings);
    if let Some(postgres) = &batch.store.postgres {
        check_key_source(postgres.password.as_ref(), &store.key("postgres").key("password"), findings);
        if batch.store.sqlite.is_some() {
            findings.fault(&store, "give either `sqlite` or `postgres`, not both");
        }
    }
    if batch.max_poll_interval > LONGEST_POLL {
        let message = format!("{} is more than {LONGEST_POLL}", batch.max_poll_interval);
        findings.fault(&at.key("max_poll_interval"), message);
    } else if batch.max_poll_interval < batch.poll_interval {
        let message =
            format!("{} is shorter than `poll_interval`, {}", batch.max_poll_interval, batch.poll_interval);
        findings.fault(&at.key("max_poll_interval"), message);
    }
    if !(SHORTEST_LEASE..=LONGEST_LEASE).contains(&batch.lease) {
        let message = format!("{} is not from {SHORTEST_LEASE} to {LONGEST_LEASE}", batch.lease);
        findings.fault(&at.key("lease"), message);
    }
    if batch.window_wait.0 >= batch.default_completion_window.0 {
        let message =
            format!("{} leaves no time within `default_completion_window` for the vendor", batch.window_wait);
        findings.fault(&at.key("window_wait"), message);
    }
}
