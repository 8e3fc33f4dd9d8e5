//! The file: one connection that writes, several that read.

use crate::migrations;
use sqlx::{
    Connection, Sqlite, SqliteConnection, SqlitePool, SqliteTransaction,
    pool::PoolConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use std::{
    fs,
    future::ready,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

/// How long a writer waits for another process that writes.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long a writer waits for its turn among those of this process.
const TURN: Duration = Duration::from_secs(60);
/// Readers at a time. More would wait for the same disk.
const READERS: u32 = 4;

/// A database file that is open, with its tables in this program's version. Several processes may open one.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    writer: SqlitePool,
    readers: SqlitePool,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is damaged, or another program's.
    #[error(
        "{path} is not a SQLite database or is damaged ({reason}): restore it from a backup, or move it away \
             and a new one is made"
    )]
    Damaged {
        /// The file.
        path: String,
        /// What SQLite says.
        reason: String,
    },
    /// It is a database of something else.
    #[error(
        "{path} is another program's database, or another store's (it has a table `{table}`): name another file"
    )]
    Foreign {
        /// The file.
        path: String,
        /// A table in it.
        table: String,
    },
    /// A newer version of Signalbox made or changed it.
    #[error(
        "{path} was written by a newer Signalbox (its migration {version} is not known here): run that version, \
             or restore the backup made before the upgrade"
    )]
    TooNew {
        /// The file.
        path: String,
        /// The migration that is not known.
        version: i64,
    },
    /// A table cannot be made or changed.
    #[error("{path}: {reason}")]
    Unusable {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
}

impl Database {
    /// Opens a file, makes it where it is missing, and brings its tables to this version.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(path: &Path) -> Result<Self, OpenError> {
        let unusable = |error: io::Error| unusable(path, &error.to_string());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(unusable)?;
        }
        let options = options(path);
        let writer = writer(options.clone());
        let connected = connect(&writer).await;
        migrate(path, &mut *connected.map_err(|error| open_error(path, &error))?).await?;
        let readers =
            SqlitePoolOptions::new().max_connections(READERS).connect_lazy_with(options.read_only(true));
        Ok(Self { path: path.to_owned(), writer, readers })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn readers(&self) -> &SqlitePool {
        &self.readers
    }

    /// The one connection that writes, when it is free.
    pub(crate) async fn writer(&self) -> sqlx::Result<PoolConnection<Sqlite>> {
        self.writer.acquire().await
    }

    /// Brings the tables to this version again.
    pub(crate) async fn migrate(&self) -> Result<(), OpenError> {
        let writer = self.writer().await;
        migrate(&self.path, &mut *writer.map_err(|error| open_error(&self.path, &error))?).await
    }
}

/// A transaction that writes: it waits for other processes now, not when it has read already and would have to fail.
pub(crate) async fn begin(connection: &mut SqliteConnection) -> sqlx::Result<SqliteTransaction<'_>> {
    connection.begin_with("BEGIN IMMEDIATE").await
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .busy_timeout(PATIENCE)
        .journal_mode(SqliteJournalMode::Wal)
        // Once it is stored here it is forgotten elsewhere: it must outlive a loss of power.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(false)
        .row_buffer_size(512)
        // Pages that many batches change are brought home once for all of them.
        .pragma("wal_autocheckpoint", "16384")
        // 8 MiB for each connection. Pages change where the last ones did: with eight times that 1.5 million events
        // were stored no faster. What is only read is mapped.
        .pragma("cache_size", "-8192")
        .pragma("mmap_size", "1073741824")
        .pragma("temp_store", "memory")
}

/// The connection that writes: one, so that nobody waits for another by chance.
fn writer(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(1)
        .acquire_timeout(TURN)
        .idle_timeout(None)
        .max_lifetime(None)
        // SQLite rolls a transaction back by itself when the disk is full or fails. The driver's own rollback then
        // fails, it takes the transaction for open, and would begin no other: such a connection is replaced.
        .before_acquire(|connection, _| Box::pin(ready(Ok(!connection.is_in_transaction()))))
        .connect_lazy_with(options)
}

/// Connects. Two processes that make the same file at once can get in each other's way however patient they are.
async fn connect(writer: &SqlitePool) -> sqlx::Result<PoolConnection<Sqlite>> {
    let mut attempts = 0;
    loop {
        match writer.acquire().await {
            Err(error) if attempts < 50 && crate::failure::is_busy(&error) => {
                attempts += 1;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            connected => return connected,
        }
    }
}

async fn migrate(path: &Path, writer: &mut SqliteConnection) -> Result<(), OpenError> {
    migrations::run(writer).await.map_err(|error| match error {
        migrations::Error::TooNew(version) => OpenError::TooNew { path: path.display().to_string(), version },
        migrations::Error::Foreign(table) => OpenError::Foreign { path: path.display().to_string(), table },
        migrations::Error::Failed(error) => open_error(path, &error),
    })
}

fn unusable(path: &Path, reason: &str) -> OpenError {
    OpenError::Unusable { path: path.display().to_string(), reason: reason.to_owned() }
}

fn open_error(path: &Path, error: &sqlx::Error) -> OpenError {
    if crate::failure::is_damage(error) {
        return OpenError::Damaged { path: path.display().to_string(), reason: error.to_string() };
    }
    unusable(path, &error.to_string())
}
