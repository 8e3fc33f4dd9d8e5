//! The ledger of budgets, and tenants with their keys, in PostgreSQL or in one SQLite file.
//!
//! Both run the same statements; what they must say differently is in `signalbox-sql`.
//!
//! ```text
//! src/migrations.rs  the tables, by version
//! src/ledger/        where money moves
//! src/tenants/       tenants, keys, budgets, the audit trail, and what changed
//! ```

mod ledger;
mod migrations;
mod stored;
mod tenants;

use signalbox_kit::{Clock, SystemClock};
use signalbox_sql::{Database, Patience};
use std::{fmt, sync::Arc};

pub use signalbox_sql::OpenError;

/// The ledger and the tenant store of one database. Clones share its connections.
#[derive(Clone)]
pub struct SqlLedger {
    database: Arc<Database>,
    /// Dates the entries.
    clock: Arc<dyn Clock>,
}

impl SqlLedger {
    /// The database at `postgres://…`, or the file at `sqlite:PATH`, which is made where it is missing. Nothing is
    /// connected yet: a server that is away now is found when it is there.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(url: &str) -> Result<Self, OpenError> {
        Self::with_clock(url, Arc::new(SystemClock))
    }

    /// The same, with entries dated by a clock.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn with_clock(url: &str, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        Ok(Self { database: Arc::new(Database::open(url, Patience::SHORT)?), clock })
    }

    /// Where it is, without user and password.
    pub fn place(&self) -> &str {
        self.database.place()
    }

    fn now(&self) -> i64 {
        stored::nanos(self.clock.now())
    }
}

impl fmt::Debug for SqlLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlLedger").field("place", &self.place()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
