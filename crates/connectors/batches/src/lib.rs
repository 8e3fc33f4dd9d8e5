//! Jobs of the batch lane, in PostgreSQL or in one SQLite file, by the same statements.
//!
//! Every transaction locks windows first (a pledge before them), each that it changes or whose items it changes, then jobs, in the order of
//! their numbers. Open windows that are only to be joined are not waited for: where another process holds one, a new one
//! is opened. However much is moved, it takes a few statements: rows come as JSON, their bytes in one piece beside it.
//!
//! ```text
//! src/store.rs       the port, method by method
//! src/pledge.rs      money is set aside for a job that is not kept yet
//! src/submit.rs      a job comes in
//! src/join.rs        items are dealt to windows
//! src/window.rs      windows: claimed, kept, handed over, put back, closed
//! src/split.rs       a refused window is divided
//! src/item.rs        items are read
//! src/step.rs        items of a window end or go on
//! src/waiting.rs     items end before their window is handed over
//! src/end.rs         what an item's end leaves: a result, an account, a sum
//! src/share.rs       what of a job is in a window
//! src/job.rs         jobs are read, and cancelled
//! src/results.rs     results are read
//! src/outbox.rs      accounts to be told, jobs to be settled
//! src/remove.rs      what need not be kept goes
//! src/gauges.rs      what there is
//! src/pulse.rs       whether it can be written
//! src/pack.rs        bytes of many rows in one argument
//! src/codes.rs       states as numbers
//! ```

mod codes;
mod end;
mod gauges;
mod item;
mod job;
mod join;
mod outbox;
mod pack;
mod pledge;
mod pulse;
mod remove;
mod results;
mod share;
mod split;
mod step;
mod store;
mod submit;
mod waiting;
mod window;

use signalbox_sql::{Database, Migrations, Patience};
use std::sync::Arc;

pub use signalbox_sql::OpenError;

/// A version that was released is never edited: a change is a new one.
const MIGRATIONS: Migrations = Migrations {
    steps: &[
        (1, "batches", include_str!("../migrations/0001_batches.sql")),
        (2, "pledges", include_str!("../migrations/0002_pledges.sql")),
    ],
    table: "batch_migrations",
    lock: 7_245_010_393_870_413,
};

/// The batch store of one database. Clones share its connections.
#[derive(Debug, Clone)]
pub struct SqlBatches {
    database: Arc<Database>,
}

impl SqlBatches {
    /// The database at `postgres://…`, or the file at `sqlite:PATH`, which is made where it is missing. Nothing is
    /// connected yet: a server that is away now is found when it is there.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(url: &str) -> Result<Self, OpenError> {
        Ok(Self { database: Arc::new(Database::open(url, Patience::LONG)?) })
    }

    /// Where it is, without user and password.
    pub fn place(&self) -> &str {
        self.database.place()
    }
}

#[cfg(test)]
mod tests;
