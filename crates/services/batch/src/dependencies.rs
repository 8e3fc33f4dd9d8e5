//! What the lane works with.

use crate::Followers;
use signalbox_batching::{Room, Rules};
use signalbox_kit::{
    Clock, Hop,
    config::{BatchConfig, ConfigHandle},
};
use signalbox_ports::{Moderator, UsageLog, batches::BatchStore};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// As long as the budget service may take.
const SHORTEST_PLEDGE: Duration = Duration::from_secs(10);

/// What the service and its [`Lane`](crate::Lane) work with. Clones share it.
#[derive(Debug, Clone)]
pub struct Dependencies {
    /// The catalogue, for content policies.
    pub config: Arc<ConfigHandle>,
    /// Where jobs, items and results are kept.
    pub store: Arc<dyn BatchStore>,
    /// The way to the router, which prepares items.
    pub router: Hop,
    /// The way to the adapter, which calls vendors.
    pub adapter: Hop,
    /// The way to the budget service; `None` where no budgets are kept.
    pub budget: Option<Hop>,
    /// Where every item is accounted for.
    pub usage: Arc<dyn UsageLog>,
    /// The way to moderation endpoints, where there is one.
    pub moderator: Option<Arc<dyn Moderator>>,
    /// Who waits for results in this process.
    pub followers: Followers,
    /// Wall time.
    pub clock: Arc<dyn Clock>,
    /// This process's name in leases, unique among those that run.
    pub owner: String,
    /// Sizes and times.
    pub options: Options,
}

/// Sizes and times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How windows are filled.
    pub rules: Rules,
    /// Items of a job at most.
    pub max_job_items: usize,
    /// Bytes of a job's requests at most.
    pub max_job_bytes: u64,
    /// Largest message taken or sent, in bytes.
    pub max_message_bytes: usize,
    /// How long a job may take that does not say it.
    pub default_completion_window: Duration,
    /// How much longer than its completion window a job's money stays reserved: vendors may be late.
    pub reservation_margin: Duration,
    /// How long it may take to set a job's money aside and to keep the job. Then it is set free again.
    pub pledge: Duration,
    /// The first pause before a vendor is asked how far a batch is.
    pub poll_interval: Duration,
    /// The longest such pause.
    pub max_poll_interval: Duration,
    /// Calls under way at a time to a vendor that has no batch endpoint.
    pub concurrency: usize,
    /// Windows that this process works on at a time.
    pub windows_at_once: usize,
    /// Items of a job that the router prepares at a time.
    pub prepare_at_once: usize,
    /// How long a window is this process's without a word from it.
    pub lease: Duration,
    /// How long it waits before it looks again for what is due, where nothing was.
    pub idle: Duration,
    /// How long what is under way may take once the process is to end.
    pub drain: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&BatchConfig::default())
    }
}

impl Options {
    /// What is configured.
    pub fn of(config: &BatchConfig) -> Self {
        let batch = Room { items: config.max_window_items.into(), bytes: config.max_window_bytes };
        Self {
            rules: Rules {
                window_wait: config.window_wait.0,
                batch,
                vendors: BTreeMap::new(),
                usual: Room { items: 32, bytes: 4 << 20 },
                results_kept: config.results_kept.0,
            },
            max_job_items: usize::try_from(config.max_job_items).unwrap_or(usize::MAX),
            max_job_bytes: config.max_job_bytes,
            max_message_bytes: 32 << 20,
            default_completion_window: config.default_completion_window.0,
            reservation_margin: Duration::from_secs(2 * 24 * 60 * 60),
            pledge: (config.lease.0 * 3).max(SHORTEST_PLEDGE),
            poll_interval: config.poll_interval.0,
            max_poll_interval: config.max_poll_interval.0,
            concurrency: usize::try_from(config.concurrency).unwrap_or(usize::MAX),
            windows_at_once: 8,
            prepare_at_once: 16,
            lease: config.lease.0,
            idle: Duration::from_secs(1),
            drain: Duration::from_secs(10),
        }
    }
}
