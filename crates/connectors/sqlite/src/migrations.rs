//! The tables, by version. A version that was released is never edited: a change is a new one.

use crate::database::begin;
use sqlx::{
    SqlSafeStr, SqliteConnection,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
};
use std::borrow::Cow;

/// In order, each with what it is about.
const MIGRATIONS: [(i64, &str, &str); 1] = [(1, "usage", include_str!("../migrations/usage/0001_usage.sql"))];

/// Why the tables are not in this version.
#[derive(Debug)]
pub(crate) enum Error {
    /// A migration was applied that is not known here.
    TooNew(i64),
    /// It has tables, and none of ours.
    Foreign(String),
    /// SQLite refuses.
    Failed(sqlx::Error),
}

/// Brings the tables to this version, all of it or nothing. Other processes that want the same wait.
pub(crate) async fn run(connection: &mut SqliteConnection) -> Result<(), Error> {
    let mut transaction = begin(connection).await?;
    if let Some(table) = foreign(&mut transaction).await? {
        return Err(Error::Foreign(table));
    }
    migrator().run_direct(None, &mut *transaction, false).await?;
    transaction.commit().await?;
    Ok(())
}

/// A table of a file that is another program's, or another store's.
async fn foreign(connection: &mut SqliteConnection) -> sqlx::Result<Option<String>> {
    let sql =
        "SELECT min(name) FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
        AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'usage_events')";
    sqlx::query_scalar(sql).fetch_one(connection).await
}

fn migrator() -> Migrator {
    let migrations = MIGRATIONS.map(|(version, about, sql)| {
        Migration::new(version, about.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator { migrations: Cow::Owned(migrations.into()), ..Migrator::DEFAULT }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<MigrateError> for Error {
    fn from(error: MigrateError) -> Self {
        match error {
            MigrateError::VersionMissing(version) | MigrateError::VersionMismatch(version) => {
                Self::TooNew(version)
            }
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => Self::Failed(error),
            other => Self::Failed(sqlx::Error::Migrate(Box::new(other))),
        }
    }
}
