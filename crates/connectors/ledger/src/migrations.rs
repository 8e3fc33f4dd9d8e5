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

/// In order, each with what it is about.
const MIGRATIONS: [(i64, &str, &str); 2] = [
    (1, "ledger", include_str!("../migrations/0001_ledger.sql")),
    (2, "tenants", include_str!("../migrations/0002_tenants.sql")),
];
/// Other programs that keep tables here must not take ours for theirs.
const TABLE: &str = "ledger_migrations";
/// Any number that nobody else uses for a lock of a whole PostgreSQL database.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7245010393870412)";

/// Brings the tables to this version, all of it or nothing. Other processes that want the same wait.
pub(crate) async fn run(database: &Database) -> Result<(), Failure> {
    let migrated = database.run(&(), |session, ()| Box::pin(migrate(session))).await?;
    migrated.map_err(|reason| Failure::tables(database.place(), reason))
}

async fn migrate(session: &mut Session<'_>) -> sqlx::Result<Result<(), String>> {
    if session.engine == Engine::Postgres {
        session.query(LOCK).execute(&mut *session.connection).await?;
    }
    match migrator(session.engine).run_direct(None, &mut *session.connection, false).await {
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

fn migrator(engine: Engine) -> Migrator {
    let migrations = MIGRATIONS.map(|(version, about, sql)| {
        let sql = AssertSqlSafe(engine.schema(sql)).into_sql_str();
        Migration::new(version, about.into(), MigrationType::Simple, sql, false)
    });
    let migrations = Cow::Owned(migrations.into());
    // The transaction's own lock does, and goes with it.
    Migrator { migrations, locking: false, table_name: Cow::Borrowed(TABLE), ..Migrator::DEFAULT }
}
