//! What went wrong, told without a secret.

use signalbox_ports::{batches::BatchStoreError, ledger::LedgerError, tenants::TenantStoreError};

/// The database did not do as it was asked.
#[derive(Debug)]
pub struct Failure {
    place: String,
    cause: Cause,
}

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error(transparent)]
    Database(sqlx::Error),
    #[error("no answer within {0} s")]
    Silent(u64),
    #[error("{0}")]
    Tables(String),
}

/// A URL that names no database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It begins with neither `postgres://` nor `sqlite:`.
    #[error("a database's URL begins with `postgres://` or `sqlite:`, as in `sqlite:data/ledger.db`")]
    Scheme,
    /// It cannot be read. What it says is not repeated: it may hold a password.
    #[error("the database's URL cannot be read: {0}")]
    Unreadable(String),
    /// It asks for something that would be ignored, or for a file that is not there.
    #[error("the database's URL {0}")]
    Options(String),
    /// The file's folder cannot be made.
    #[error("{path}: {reason}")]
    Folder {
        /// The folder.
        path: String,
        /// Why.
        reason: String,
    },
}

impl Failure {
    pub(crate) fn database(place: &str, error: sqlx::Error) -> Self {
        Self { place: place.to_owned(), cause: Cause::Database(error) }
    }

    pub(crate) fn silent(place: &str, seconds: u64) -> Self {
        Self { place: place.to_owned(), cause: Cause::Silent(seconds) }
    }

    pub(crate) fn tables(place: &str, reason: String) -> Self {
        Self { place: place.to_owned(), cause: Cause::Tables(reason) }
    }

    /// Nothing was done, because others were in the way: the same again may well do.
    pub(crate) fn is_collision(&self) -> bool {
        /// PostgreSQL: serialization failure, deadlock, and what two who insert the same at once see. The last cannot
        /// happen again: the second finds it.
        const POSTGRES: [&str; 3] = ["40001", "40P01", "23505"];
        /// SQLite's primary codes: busy, locked.
        const SQLITE: [i32; 2] = [5, 6];
        let Cause::Database(error) = &self.cause else { return false };
        let Some(code) = error.as_database_error().and_then(sqlx::error::DatabaseError::code) else {
            return false;
        };
        POSTGRES.contains(&&*code) || code.parse().is_ok_and(|code: i32| SQLITE.contains(&(code & 0xFF)))
    }

    /// The server can be read and not written: it is a standby, or was one when the connection was made.
    pub(crate) fn is_read_only(&self) -> bool {
        let Cause::Database(error) = &self.cause else { return false };
        error
            .as_database_error()
            .and_then(sqlx::error::DatabaseError::code)
            .is_some_and(|code| code == "25006")
    }

    /// Its disk is full: nobody gets any further before there is room.
    pub(crate) fn is_full(&self) -> bool {
        /// PostgreSQL's `disk_full`.
        const POSTGRES: &str = "53100";
        /// SQLite's primary code.
        const SQLITE: i32 = 13;
        let Cause::Database(error) = &self.cause else { return false };
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        code.is_some_and(|code| code == POSTGRES || code.parse().is_ok_and(|code: i32| code & 0xFF == SQLITE))
    }

    fn message(&self) -> String {
        format!("{}: {}", self.place, self.cause)
    }
}

impl From<Failure> for LedgerError {
    fn from(failure: Failure) -> Self {
        if failure.is_full() { Self::Full(failure.message()) } else { Self::Away(failure.message()) }
    }
}

impl From<Failure> for TenantStoreError {
    fn from(failure: Failure) -> Self {
        if failure.is_full() { Self::Full(failure.message()) } else { Self::Away(failure.message()) }
    }
}

impl From<Failure> for BatchStoreError {
    fn from(failure: Failure) -> Self {
        Self::Away(failure.message())
    }
}
