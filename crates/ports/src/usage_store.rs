//! Where accounts are kept and counted.

use futures_util::stream::BoxStream;
use signalbox_api::v1::{UsageDimension, UsageEvent, UsageFilter, UsageRow, query_usage_request::Interval};
use std::{fmt, time::SystemTime};

/// The store of accounts. What is asked of it is checked before; what it answers is exact in counts and sums, and
/// true to about 1 % in quantiles.
///
/// An event counts at its `end_time`, when its cost is known; one that is stored after its month was closed counts at
/// the time it is stored. "When" below means that time.
#[async_trait::async_trait]
pub trait UsageStore: Send + Sync + fmt::Debug {
    /// Makes the tables, or brings them to this program's version. Safe to call again, and by several at once.
    ///
    /// # Errors
    /// See [`StoreFailure`].
    async fn migrate(&self) -> Result<(), StoreFailure>;

    /// Stores events, each once for its `event_id`: all of them, or none.
    ///
    /// # Errors
    /// See [`StoreFailure`]. After [`StoreFailure::Away`] it is not known whether they are stored: the same batch with
    /// the same token may be given again.
    async fn insert(&self, batch: &Batch) -> Result<Inserted, StoreFailure>;

    /// Sums over a window.
    ///
    /// # Errors
    /// See [`StoreFailure`].
    async fn query(&self, query: &Query) -> Result<Page<UsageRow>, StoreFailure>;

    /// Requests, newest first (when, then `event_id`, both descending).
    ///
    /// # Errors
    /// See [`StoreFailure`].
    async fn requests(&self, query: &Requests) -> Result<Page<Counted>, StoreFailure>;

    /// The events that count in a month, in a fixed order (when, `event_id`). Those of a closed month never change.
    ///
    /// # Errors
    /// See [`StoreFailure`].
    async fn export(&self, query: &Export) -> Result<Exported, StoreFailure>;

    /// Closes months (first instants, UTC) that ended before `before`: later events of them count in the month they
    /// come in. A closed month stays closed. Where that closes any, until when all are closed now.
    ///
    /// # Errors
    /// See [`StoreFailure`].
    async fn close_months(&self, before: SystemTime) -> Result<Option<SystemTime>, StoreFailure>;

    /// What the store's own clock says; `None` where it has none but this process's.
    ///
    /// # Errors
    /// See [`StoreFailure`].
    async fn time(&self) -> Result<Option<SystemTime>, StoreFailure> {
        Ok(None)
    }

    /// Calls of each vendor and model in each minute that began in the window, oldest first, then by vendor and model:
    /// what anomalies are found from. A call counts when its event does; see [`calls`](crate::usage_facts::calls).
    ///
    /// # Errors
    /// See [`StoreFailure`].
    async fn minutes(&self, window: Window) -> Result<Vec<Minute>, StoreFailure>;
}

/// Events to be stored together.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Names the batch: the same events in the same order have the same token.
    pub token: String,
    /// The events, checked, with different `event_id`s.
    pub events: Vec<UsageEvent>,
    /// `event_id`s among them that may be stored already.
    pub suspects: Vec<String>,
}

/// What came of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inserted {
    /// New ones.
    pub stored: usize,
    /// Those that were there before.
    pub repeated: usize,
}

/// A half-open window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// In.
    pub start: SystemTime,
    /// Out.
    pub end: SystemTime,
}

/// Asks for sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// When.
    pub window: Window,
    /// Which.
    pub filter: UsageFilter,
    /// By what.
    pub group_by: Vec<UsageDimension>,
    /// In buckets of what length.
    pub interval: Interval,
    /// Most rows.
    pub limit: usize,
    /// Rows to pass over.
    pub offset: usize,
}

/// Asks for requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Requests {
    /// When.
    pub window: Window,
    /// Which.
    pub filter: UsageFilter,
    /// Only with this `request_id`; empty for any.
    pub request_id: String,
    /// Most of them.
    pub limit: usize,
    /// Only those after this one in the order of the answer: when it counts, and its `event_id`.
    pub after: Option<(SystemTime, String)>,
}

/// A page of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// There are more.
    pub more: bool,
    /// Rows the store read to answer.
    pub rows_read: u64,
    /// When the newest event that is stored counts.
    pub newest: Option<SystemTime>,
}

/// Asks for a month.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// The month.
    pub month: Window,
    /// Whose; empty for all.
    pub tenant_id: String,
}

/// A month.
pub struct Exported {
    /// When it was closed.
    pub closed_at: Option<SystemTime>,
    /// How many events.
    pub total: u64,
    /// They.
    pub events: BoxStream<'static, Result<Counted, StoreFailure>>,
}

/// An event, and when it counts: at its end, or when it was stored if its month was closed then.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// When it counts, to the microsecond at least.
    pub when: SystemTime,
    /// The event as it was given.
    pub event: UsageEvent,
}

impl fmt::Debug for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exported")
            .field("closed_at", &self.closed_at)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}

/// Calls of one vendor and model in one minute.
#[derive(Debug, Clone, PartialEq)]
pub struct Minute {
    /// Its beginning.
    pub start: SystemTime,
    /// Vendor entry.
    pub vendor: String,
    /// Model.
    pub model: String,
    /// Calls.
    pub calls: u64,
    /// Of these, failed by the vendor's fault.
    pub failed: u64,
    /// Requests that were first sent here and served by another candidate.
    pub fell_back: u64,
    /// Requests that were first sent here, without probes.
    pub first_choices: u64,
    /// Structured answers.
    pub structured: u64,
    /// Of these, not valid.
    pub invalid: u64,
    /// Cost of the calls whose cost is known, nano-EUR.
    pub cost_nano_eur: i64,
    /// Calls whose cost is known.
    pub priced: u64,
    /// Answer tokens of the calls that answered, where known.
    pub output_tokens: u64,
    /// Calls that answered and whose tokens are known.
    pub answered: u64,
}

/// Why the store did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreFailure {
    /// It cannot be reached or is overloaded: worth another try.
    #[error("the usage store is away: {0}")]
    Away(String),
    /// It refuses this, and will again.
    #[error("the usage store refuses: {0}")]
    Refused(String),
}
