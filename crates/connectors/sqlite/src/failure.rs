//! What SQLite's errors mean.

use signalbox_ports::usage_store::StoreFailure;
use std::path::Path;

/// Primary result codes, as in <https://www.sqlite.org/rescode.html>.
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const CORRUPT: i32 = 11;
const TOO_BIG: i32 = 18;
const CONSTRAINT: i32 = 19;
const MISMATCH: i32 = 20;
const NOT_A_DATABASE: i32 = 26;

/// The failure that an error is to those who store and ask. Only what an event itself causes is a refusal: a damaged
/// file or a full disk is repaired, and the events must wait for that.
pub(crate) fn store_failure(path: &Path, error: &sqlx::Error) -> StoreFailure {
    let message = format!("{}: {error}", path.display());
    match code(error) {
        Some(TOO_BIG | CONSTRAINT | MISMATCH) => StoreFailure::Refused(message),
        Some(CORRUPT | NOT_A_DATABASE) => {
            StoreFailure::Away(format!("{message}; the file is damaged: restore it from a backup"))
        }
        _ => StoreFailure::Away(message),
    }
}

/// Another process is in the way.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(BUSY | LOCKED))
}

/// The file is no database, or not a whole one.
pub(crate) fn is_damage(error: &sqlx::Error) -> bool {
    matches!(code(error), Some(CORRUPT | NOT_A_DATABASE))
}

/// The primary result code of an error of SQLite.
fn code(error: &sqlx::Error) -> Option<i32> {
    let extended: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(extended & 0xFF)
}
