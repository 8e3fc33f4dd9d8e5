//! The tables, by version. A version that was released is never edited: a change is a new one.

use crate::{
    database::{Database, Session},
    engine::Engine,
    failure::Failure,
};
use sqlx::{
    AssertSqlSafe, SqlSafeStr,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
};
use std::borrow::Cow;

/// Tables of one connector.
#[derive(Debug, Clone, Copy)]
pub struct Migrations {
    /// In order: version, what it is about, and the statements, which say in braces what the engines name differently.
    pub steps: &'static [(i64, &'static str, &'static str)],
    /// Where it is kept which were made: other programs that keep tables here must not take ours for theirs.
    pub table: &'static str,
    /// A number that nobody else uses for a lock of a whole PostgreSQL database.
    pub lock: i64,
}

/// Brings the tables to this version, all of it or nothing. Other processes that want the same wait.
///
/// # Errors
/// See [`Failure`]; also where a newer version made them.
pub async fn migrate(database: &Database, migrations: &Migrations) -> Result<(), Failure> {
    let migrated = database.run(migrations, |session, migrations| Box::pin(run(session, migrations)));
    migrated.await?.map_err(|reason| Failure::tables(database.place(), reason))
}

async fn run(session: &mut Session<'_>, migrations: &Migrations) -> sqlx::Result<Result<(), String>> {
    if session.engine == Engine::Postgres {
        let lock = session.query("SELECT pg_advisory_xact_lock($1)").bind(migrations.lock);
        lock.execute(&mut *session.connection).await?;
    }
    match migrator(session.engine, migrations).run_direct(None, &mut *session.connection, false).await {
        Ok(()) => Ok(Ok(())),
        Err(MigrateError::VersionMissing(version) | MigrateError::VersionMismatch(version)) => {
            Ok(Err(format!(
                "its tables were made by a newer Signalbox (migration {version} is not known here): run that version, \
                 or restore the backup made before the upgrade"
            )))
        }
        Err(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => Err(error),
        Err(other) => Err(sqlx::Error::Migrate(Box::new(other))),
    }
}

fn migrator(engine: Engine, migrations: &Migrations) -> Migrator {
    let steps = migrations.steps.iter().map(|(version, about, sql)| {
        let sql = AssertSqlSafe(engine.schema(sql)).into_sql_str();
        Migration::new(*version, (*about).into(), MigrationType::Simple, sql, false)
    });
    let table_name = Cow::Borrowed(migrations.table);
    // The transaction's own lock does, and goes with it.
    Migrator { migrations: Cow::Owned(steps.collect()), locking: false, table_name, ..Migrator::DEFAULT }
}
