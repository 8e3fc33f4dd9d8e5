//! Where jobs of the batch lane are kept, with their items, windows and results.
//!
//! The store decides nothing: `signalbox-batching` says when a window is closed and where an item goes on, the service
//! says how an item ended. The store keeps it, whole or not at all, and each item's end once.

mod records;

use std::{
    fmt,
    time::{Duration, SystemTime},
};

pub use records::*;
pub use signalbox_batching::{
    ItemKey, JobState, Kind, Lane, Level, Outcome, Room, Rules, Target, Trail, WindowKey, WindowState,
    window::alike,
};

/// The store. Every method is one transaction: after an error nothing has changed, or, after
/// [`BatchStoreError::Away`], all or nothing has. Every method may be called again with the same arguments.
///
/// A window is worked on by the process that holds its lease. Whatever that process writes, it shows its [`Lease`], and
/// is refused with [`BatchStoreError::LeaseLost`] once another holds it: a process that stood still undoes nobody's work.
#[async_trait::async_trait]
pub trait BatchStore: Send + Sync + fmt::Debug {
    /// Makes the tables, or brings them to this program's version. Safe to call again, and by several at once.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn migrate(&self) -> Result<(), BatchStoreError>;

    /// Writes a word that nobody needs: shows that the store can be written, and is not read only or full.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn beat(&self, now: SystemTime) -> Result<(), BatchStoreError>;

    /// Notes money that is about to be set aside for a job, so that it is set free again if the job is never kept.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn pledge(&self, pledge: &Pledge) -> Result<(), BatchStoreError>;

    /// No job may be kept for a pledge any more, and it is due now. Nothing happens where it is gone: its job is kept.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn give_up(&self, pledge_id: &str, now: SystemTime) -> Result<(), BatchStoreError>;

    /// Pledges that are due, at most so many: no job may be kept for them any more. They are due again at `again`, for
    /// whoever asks then.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn given_up(
        &self,
        now: SystemTime,
        again: SystemTime,
        most: usize,
    ) -> Result<Vec<Pledge>, BatchStoreError>;

    /// Nothing is set aside by a pledge any more.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn forget(&self, pledge_id: &str) -> Result<(), BatchStoreError>;

    /// Keeps a job with its items, which join windows that are open and have room, or new ones. A job that the tenant
    /// has under this id already is left as it is, and so is the pledge then. Where the pledge was given up, nothing is
    /// kept: [`BatchStoreError::PledgeLost`].
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn submit(
        &self,
        job: &NewJob,
        items: &[NewItem],
        rules: &Rules,
    ) -> Result<Submitted, BatchStoreError>;

    /// A tenant's job, with the windows its items are or were in, oldest first.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn job(
        &self,
        tenant_id: &str,
        job_id: &str,
    ) -> Result<Option<(Job, Vec<JobWindow>)>, BatchStoreError>;

    /// Jobs, newest first.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn jobs(&self, query: &JobQuery) -> Result<Vec<Job>, BatchStoreError>;

    /// Stops a job, if it is running: nothing of it is handed over from now on, and windows that nobody wants any more
    /// are due at once. Items that wait are ended by whoever takes them from [`waiting`](Self::waiting). `None` where the
    /// tenant has no such job.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn cancel(
        &self,
        tenant_id: &str,
        job_id: &str,
        now: SystemTime,
    ) -> Result<Option<Job>, BatchStoreError>;

    /// Items in open windows that are to end there: their job is being cancelled, or their time is over.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Item>, BatchStoreError>;

    /// Ends items in open windows; what is in an open window no more, or has ended, stays as it is. How many ended.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn end_waiting(
        &self,
        ends: &[(ItemKey, ItemEnd)],
        now: SystemTime,
        rules: &Rules,
    ) -> Result<u64, BatchStoreError>;

    /// Takes the window that has been due for longest, if any is: open and full or waited for long enough, being handed
    /// over by a process whose lease is over, or at the vendor and to be asked about. A window that was open is being
    /// handed over from now on.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn claim(
        &self,
        owner: &str,
        now: SystemTime,
        lease: Duration,
    ) -> Result<Option<Claim>, BatchStoreError>;

    /// Keeps a lease until then.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn keep(&self, lease: &Lease, until: SystemTime) -> Result<(), BatchStoreError>;

    /// Items of a window that have not ended, in the order of their keys, after one of them: as many as fit into so many
    /// bytes of requests, at least one. Empty at the end.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn items(
        &self,
        window_id: &str,
        after: Option<ItemKey>,
        bytes: u64,
    ) -> Result<Vec<Item>, BatchStoreError>;

    /// Those of the items that are in the window and have not ended, in the order of their keys.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn find(&self, window_id: &str, keys: &[ItemKey]) -> Result<Vec<Item>, BatchStoreError>;

    /// What was noted of items of a window when it was handed over, where something was.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn notes(&self, window_id: &str) -> Result<Vec<(ItemKey, Vec<u8>)>, BatchStoreError>;

    /// The vendor has the window. Ends the lease; the window is due again at `handed.due`.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn handed(&self, lease: &Lease, handed: &Handed) -> Result<(), BatchStoreError>;

    /// Nothing more can be done about the window now. Ends the lease; the window is due again at `pause.due`.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn put_back(&self, lease: &Lease, pause: &Pause) -> Result<(), BatchStoreError>;

    /// Items of the window end or go on to windows for other targets. An item that is not in the window or has ended
    /// stays as it is. How many steps were taken.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn step(
        &self,
        lease: &Lease,
        steps: &[(ItemKey, Step)],
        now: SystemTime,
        rules: &Rules,
    ) -> Result<u64, BatchStoreError>;

    /// The window is over; ends the lease. First its items must have ended or gone on, else
    /// [`BatchStoreError::ItemsLeft`].
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn close(&self, lease: &Lease, end: &WindowEnd) -> Result<(), BatchStoreError>;

    /// The vendor refused the window, for what may be the fault of one item: its items go into two new windows that nobody
    /// else joins, and it is over; ends the lease. `false` where it is not divided
    /// ([`signalbox_batching::split`]), and stays as it is.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn split(&self, lease: &Lease, end: &WindowEnd) -> Result<bool, BatchStoreError>;

    /// A tenant's results after one of them, in the order in which they came. `None` where the tenant has no such job.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn results(
        &self,
        tenant_id: &str,
        job_id: &str,
        after: u64,
        most: usize,
    ) -> Result<Option<Results>, BatchStoreError>;

    /// Accounts that nobody has told yet, oldest first.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn untold(&self, most: usize) -> Result<Vec<Untold>, BatchStoreError>;

    /// These accounts are told.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn told(&self, numbers: &[i64]) -> Result<(), BatchStoreError>;

    /// Jobs that have ended with all their accounts told, and whose reservation is not closed yet, oldest first.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn unsettled(&self, most: usize) -> Result<Vec<Job>, BatchStoreError>;

    /// The reservation of an ended job is closed.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn settled(&self, job: i64) -> Result<(), BatchStoreError>;

    /// Removes settled jobs whose results need not be kept any more, with everything of theirs, at most so many. How many.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn remove_expired(&self, now: SystemTime, most: usize) -> Result<u64, BatchStoreError>;

    /// What there is, for metrics.
    ///
    /// # Errors
    /// See [`BatchStoreError`].
    async fn gauges(&self, now: SystemTime) -> Result<Gauges, BatchStoreError>;
}

/// The store did not do as it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchStoreError {
    /// It cannot be reached, or failed. It is not known whether it was done: ask again.
    #[error("the batch store is away: {0}")]
    Away(String),
    /// Another process holds the window now, or it is over: let it be.
    #[error("another process holds the window")]
    LeaseLost,
    /// What was set aside for the job is being set free again, since it took too long to keep it: hand it in again.
    #[error("the job was not kept in time")]
    PledgeLost,
    /// A window cannot be over while it has items.
    #[error("{0} items of the window have not ended")]
    ItemsLeft(u64),
}
