//! What the store is given, and what it gives back.

use signalbox_batching::{ItemKey, JobState, Kind, Level, Outcome, Trail, WindowKey, WindowState};
use std::{sync::Arc, time::SystemTime};

/// Money that is about to be set aside for a job that is not kept yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pledge {
    /// Its id, never used for another.
    pub pledge_id: String,
    /// What the service has to know to set it free again. The store does not look into it.
    pub details: Vec<u8>,
    /// When whoever made it must be dead, unless the job is kept by then.
    pub due: SystemTime,
}

/// A job to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// Whose.
    pub tenant_id: String,
    /// The tenant's id of it.
    pub job_id: String,
    /// What the service wants to know of it later: its settings, who pays. The store does not look into it.
    pub details: Vec<u8>,
    /// What was reserved for it, nano-EUR.
    pub reserved: i64,
    /// The pledge by which that was set aside, which goes once the job is kept; empty without.
    pub pledge_id: String,
    /// When it was handed in.
    pub create_time: SystemTime,
    /// When its time is over.
    pub complete_by: SystemTime,
}

/// An item to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// The tenant's id of it, unique in the job.
    pub item_id: String,
    /// What it asks for.
    pub kind: Kind,
    /// Who may serve it.
    pub trail: Trail,
    /// What is asked. Removed when the item ends.
    pub request: Vec<u8>,
}

/// What came of handing a job in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// It is kept.
    New(Job),
    /// The tenant has a job under this id already: this one.
    Exists(Job),
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The store's number of it, rising; never used again.
    pub number: i64,
    /// Whose.
    pub tenant_id: String,
    /// The tenant's id of it.
    pub job_id: String,
    /// [`NewJob::details`].
    pub details: Vec<u8>,
    /// How far it is.
    pub state: JobState,
    /// Its items.
    pub counts: Counts,
    /// What was reserved for it, nano-EUR.
    pub reserved: i64,
    /// What its items that have ended cost.
    pub cost: Spent,
    /// When it was handed in.
    pub create_time: SystemTime,
    /// When its time is over.
    pub complete_by: SystemTime,
    /// When its last item ended.
    pub end_time: Option<SystemTime>,
    /// When its results are removed.
    pub expire_time: Option<SystemTime>,
}

/// Items by how far they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All.
    pub total: u64,
    /// In windows that nobody has yet.
    pub queued: u64,
    /// At vendors.
    pub running: u64,
    /// Ended with an answer.
    pub succeeded: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Stopped.
    pub cancelled: u64,
    /// Not answered in time.
    pub expired: u64,
}

/// What something cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// What is known of it, nano-EUR.
    pub nano_eur: i64,
    /// Not all of it is known.
    pub unknown: bool,
}

/// Which jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobQuery {
    /// Whose; `None` for everybody's.
    pub tenant_id: Option<String>,
    /// Only in these states; empty for all.
    pub states: Vec<JobState>,
    /// Only jobs before the one with this number.
    pub before: Option<i64>,
    /// At most so many.
    pub most: usize,
}

/// A window as a job sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobWindow {
    /// It.
    pub window: Window,
    /// Items of the job that joined it and have not gone on to another.
    pub items: u64,
}

/// Items that travel together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its id, a UUID: never used for another window, in this store or any other.
    pub window_id: String,
    /// What its items have in common.
    pub key: WindowKey,
    /// How far it is.
    pub state: WindowState,
    /// Items and bytes that joined it.
    pub level: Level,
    /// When its first item joined.
    pub open_time: SystemTime,
    /// When it is to be looked at again: handed over, or asked about.
    pub due: SystemTime,
    /// When the vendor was first asked to take it, or the first usual call was made.
    pub hand_time: Option<SystemTime>,
    /// The vendor's id; empty before the vendor has it, and for usual calls.
    pub vendor_batch_id: String,
    /// When the vendor took it.
    pub submit_time: Option<SystemTime>,
    /// When the vendor gives up on it.
    pub expire_time: Option<SystemTime>,
    /// The vendor was asked to stop it.
    pub cancel_asked: bool,
    /// When it was over.
    pub end_time: Option<SystemTime>,
    /// Why the vendor refused it whole; empty otherwise.
    pub error_reason: String,
}

/// Shows that a process holds a window.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The window.
    pub window_id: String,
    /// Rises with each claim.
    pub number: i64,
}

/// A window that is this process's now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Shows that it is.
    pub lease: Lease,
    /// The window: being handed over, or at the vendor.
    pub window: Window,
    /// Somebody may have begun to hand it over before, not before this time.
    pub maybe_since: Option<SystemTime>,
    /// Nobody waits for any of its items: their jobs are being cancelled, or their time is over.
    pub unwanted: bool,
    /// When the time of the first of its jobs is over; `None` where it has no items.
    pub complete_by: Option<SystemTime>,
}

/// Which waiting items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingQuery {
    /// Only of this job: its number.
    pub job: Option<i64>,
    /// Items whose time is over by now are among them.
    pub now: SystemTime,
    /// At most so many.
    pub most: usize,
}

/// An item that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Names it among all items; as text, to a vendor.
    pub key: ItemKey,
    /// What is to be known of its job.
    pub job: Arc<JobHead>,
    /// [`NewItem::item_id`].
    pub item_id: String,
    /// What it asks for.
    pub kind: Kind,
    /// Where it is, where it has been.
    pub trail: Trail,
    /// [`NewItem::request`].
    pub request: Vec<u8>,
    /// [`Step::Go`]'s `history` of its last step; empty before the first.
    pub history: Vec<u8>,
    /// What was noted of it when its window was handed over.
    pub note: Vec<u8>,
}

/// What is to be known of the job of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobHead {
    /// [`Job::number`].
    pub number: i64,
    /// Whose.
    pub tenant_id: String,
    /// The tenant's id of it.
    pub job_id: String,
    /// [`NewJob::details`].
    pub details: Vec<u8>,
    /// How far it is.
    pub state: JobState,
    /// When it was handed in.
    pub create_time: SystemTime,
    /// When its time is over.
    pub complete_by: SystemTime,
}

/// A window was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handed {
    /// The vendor's id.
    pub vendor_batch_id: String,
    /// When the vendor took it.
    pub submit_time: SystemTime,
    /// When the vendor gives up on it.
    pub expire_time: Option<SystemTime>,
    /// When the vendor is first asked about it.
    pub due: SystemTime,
    /// What is to be noted of items: given back by [`BatchStore::notes`](super::BatchStore::notes) and with the items.
    pub notes: Vec<(ItemKey, Vec<u8>)>,
}

/// A window waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Until then.
    pub due: SystemTime,
    /// When the vendor gives up on it, where that is known now.
    pub expire_time: Option<SystemTime>,
    /// The vendor was asked to stop it.
    pub cancel_asked: bool,
    /// The vendor certainly has nothing of it: the next hand-over is like the first.
    pub not_taken: bool,
}

/// What becomes of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It has ended.
    End(ItemEnd),
    /// It goes to the window of another target.
    Go {
        /// Where.
        trail: Trail,
        /// What is to be known of the way until now. The store does not look into it.
        history: Vec<u8>,
    },
}

/// The end of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemEnd {
    /// How.
    pub outcome: Outcome,
    /// What the tenant is given.
    pub result: Vec<u8>,
    /// Its account, to be told.
    pub event: Vec<u8>,
    /// What it cost, all tries together.
    pub cost: Spent,
}

/// A window is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowEnd {
    /// When.
    pub end_time: SystemTime,
    /// Why the vendor refused it whole; `None` where it did not.
    pub refused: Option<String>,
}

/// Results of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results {
    /// They, in the order in which they came.
    pub results: Vec<StoredResult>,
    /// The job had ended when they were read: where they are fewer than asked for, no more will come.
    pub ended: bool,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResult {
    /// Its place in the order in which they came, from 1.
    pub sequence: u64,
    /// The tenant's id of the item.
    pub item_id: String,
    /// How it ended.
    pub outcome: Outcome,
    /// [`ItemEnd::result`].
    pub result: Vec<u8>,
    /// When it ended.
    pub end_time: SystemTime,
}

/// An account that nobody has told yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untold {
    /// The store's number of it.
    pub number: i64,
    /// [`ItemEnd::event`].
    pub event: Vec<u8>,
}

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gauges {
    /// Items in windows that nobody has yet.
    pub queued: u64,
    /// Items at vendors.
    pub running: u64,
    /// Windows that are not over, by state and vendor.
    pub windows: Vec<(WindowState, String, u64)>,
    /// When the oldest window that nobody has yet was opened.
    pub oldest_queued: Option<SystemTime>,
    /// Accounts that nobody has told yet.
    pub untold: u64,
    /// Jobs that have not ended and are late ([`signalbox_batching::late`]).
    pub late_jobs: u64,
}
