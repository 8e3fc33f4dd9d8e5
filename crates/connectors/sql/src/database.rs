//! Transactions, begun anew where the database had to break one off.

use crate::{
    engine::Engine,
    failure::{Failure, OpenError},
    patience::Patience,
};
use signalbox_kit::{config::postgres, tls::check_authorities};
use sqlx::{
    Any, AnyConnection, AssertSqlSafe, Connection, Executor,
    any::{AnyArguments, AnyConnectOptions, AnyPoolOptions},
    pool::PoolConnection,
    query::Query,
};
use std::{
    fmt,
    future::ready,
    path::Path,
    pin::Pin,
    str::FromStr,
    sync::{Arc, Mutex, MutexGuard, Once, PoisonError},
    time::{Duration, Instant},
};
use tokio::time::{sleep, timeout};

/// Connections to PostgreSQL. More would wait for the same rows.
const CONNECTIONS: u32 = 10;
/// How long is waited for a connection: a server that is away is noticed, one that has restarted is found.
const CONNECTED_WITHIN: Duration = Duration::from_secs(4);
/// How often a transaction is begun anew after others were in its way.
const COLLISIONS: u32 = 8;

/// A database, connected when it is needed.
pub struct Database {
    engine: Engine,
    patience: Patience,
    place: String,
    pool: sqlx::AnyPool,
    found_read_only: FoundReadOnly,
}

/// When the server was last found to be one that can be read and not written. After a failover the name leads to another
/// server, which only a new connection finds: those made before then are not used again.
type FoundReadOnly = Arc<Mutex<Option<Instant>>>;

/// A connection within a transaction, or one for a single look.
#[derive(Debug)]
pub struct Session<'c> {
    /// Which of the two.
    pub engine: Engine,
    /// The connection.
    pub connection: &'c mut AnyConnection,
}

/// What is done with a connection and with what was asked for. (An async closure that borrows what was asked for could
/// not be shown to be `Send`.)
pub trait Work<A: ?Sized, T>: for<'s> Fn(&'s mut Session<'_>, &'s A) -> Working<'s, T> + Send + Sync {}

impl<A: ?Sized, T, F> Work<A, T> for F where
    F: for<'s> Fn(&'s mut Session<'_>, &'s A) -> Working<'s, T> + Send + Sync
{
}

/// Work under way.
pub type Working<'s, T> = Pin<Box<dyn Future<Output = sqlx::Result<T>> + Send + 's>>;

impl Session<'_> {
    /// A statement that takes no text from anybody but as arguments.
    pub fn query(&self, sql: impl Into<String>) -> Query<'static, Any, AnyArguments> {
        sqlx::query(AssertSqlSafe(sql.into()))
    }
}

impl Database {
    /// The database at `postgres://…`, or the file at `sqlite:PATH`, which is made where it is missing. Nothing is
    /// connected yet.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(url: &str, patience: Patience) -> Result<Self, OpenError> {
        static DRIVERS: Once = Once::new();
        DRIVERS.call_once(sqlx::any::install_default_drivers);
        let (engine, place, url) = match url.split_once(':') {
            Some(("sqlite", rest)) => sqlite(rest.trim_start_matches("//"))?,
            Some(("postgres" | "postgresql", _)) => (Engine::Postgres, String::new(), url.to_owned()),
            _ => return Err(OpenError::Scheme),
        };
        let options = AnyConnectOptions::from_str(&url);
        let options = options.map_err(|error| OpenError::Unreadable(error.to_string()))?;
        if engine == Engine::Postgres {
            check_options(&url)?;
        }
        let place = if place.is_empty() { server(&options) } else { place };
        let found_read_only = FoundReadOnly::default();
        let pool = pool(engine, patience, found_read_only.clone()).connect_lazy_with(options);
        Ok(Self { engine, patience, place, pool, found_read_only })
    }

    /// Where it is, without user and password.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Does some work in one transaction.
    ///
    /// # Errors
    /// See [`Failure`]. Where the database was silent or broke off while it committed, all of it may be done.
    pub async fn run<A: ?Sized, T>(&self, ask: &A, work: impl Work<A, T>) -> Result<T, Failure> {
        let mut collisions = 0;
        loop {
            let mut connection = self.connect().await?;
            let done = timeout(self.patience.transaction, self.transact(&mut connection, ask, &work)).await;
            match self.judge(done, connection) {
                Err(failure) if failure.is_collision() && collisions < COLLISIONS => {
                    collisions += 1;
                    sleep(Duration::from_millis(5 << collisions)).await;
                }
                other => return other,
            }
        }
    }

    /// Looks at something.
    ///
    /// # Errors
    /// See [`Failure`].
    pub async fn read<A: ?Sized, T>(&self, ask: &A, work: impl Work<A, T>) -> Result<T, Failure> {
        let mut connection = self.connect().await?;
        let mut session = Session { engine: self.engine, connection: &mut connection };
        let done = timeout(self.patience.transaction, work(&mut session, ask)).await;
        self.judge(done, connection)
    }

    async fn transact<A: ?Sized, T>(
        &self,
        connection: &mut AnyConnection,
        ask: &A,
        work: &impl Work<A, T>,
    ) -> sqlx::Result<T> {
        let mut transaction = connection.begin_with(self.engine.begin()).await?;
        let done = work(&mut Session { engine: self.engine, connection: &mut transaction }, ask).await?;
        transaction.commit().await?;
        Ok(done)
    }

    async fn connect(&self) -> Result<PoolConnection<Any>, Failure> {
        self.pool.acquire().await.map_err(|error| Failure::database(&self.place, error))
    }

    /// What came of it. A connection that says nothing is closed: to wait for it would use up all of them.
    fn judge<T>(
        &self,
        done: Result<sqlx::Result<T>, tokio::time::error::Elapsed>,
        connection: PoolConnection<Any>,
    ) -> Result<T, Failure> {
        match done {
            Ok(done) => {
                let done = done.map_err(|error| Failure::database(&self.place, error));
                if done.as_ref().is_err_and(Failure::is_read_only) {
                    *locked(&self.found_read_only) = Some(Instant::now());
                }
                done
            }
            Err(_) => {
                drop(connection.detach());
                Err(Failure::silent(&self.place, self.patience.transaction.as_secs()))
            }
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("place", &self.place).finish_non_exhaustive()
    }
}

/// What the driver would ignore, or notice only when it connects.
fn check_options(url: &str) -> Result<(), OpenError> {
    let file = postgres::trusted_file(url).map_err(OpenError::Options)?;
    let told = |problem| OpenError::Options(format!("names an `sslrootcert` that is of no use: {problem}"));
    file.map_or(Ok(()), |path| check_authorities(&path).map_err(told))
}

fn pool(engine: Engine, patience: Patience, found_read_only: FoundReadOnly) -> AnyPoolOptions {
    let options = AnyPoolOptions::new()
        .after_connect(move |connection, _| {
            Box::pin(
                async move { connection.execute(AssertSqlSafe(engine.set_up(patience))).await.map(|_| ()) },
            )
        })
        // SQLite rolls a transaction back by itself when the disk is full or fails. The driver's own rollback then
        // fails, it takes the transaction for open, and would begin no other on this connection.
        .before_acquire(move |connection, made| {
            let suspect = locked(&found_read_only).is_some_and(|found| found.elapsed() <= made.age);
            Box::pin(ready(Ok(!suspect && !connection.is_in_transaction())))
        });
    match engine {
        Engine::Postgres => options.max_connections(CONNECTIONS).acquire_timeout(CONNECTED_WITHIN),
        // One after the other, in the order they came: SQLite would let them wait by chance.
        Engine::Sqlite => {
            options.max_connections(1).acquire_timeout(patience.turn).idle_timeout(None).max_lifetime(None)
        }
    }
}

fn locked(found: &FoundReadOnly) -> MutexGuard<'_, Option<Instant>> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file: its folder is made, and so is it.
fn sqlite(path: &str) -> Result<(Engine, String, String), OpenError> {
    if path == ":memory:" {
        return Ok((Engine::Sqlite, path.to_owned(), "sqlite::memory:".to_owned()));
    }
    let folder = Path::new(path).parent().unwrap_or_else(|| Path::new(""));
    std::fs::create_dir_all(folder).map_err(|error| OpenError::Folder {
        path: folder.display().to_string(),
        reason: error.to_string(),
    })?;
    let escaped = path.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    Ok((Engine::Sqlite, path.to_owned(), format!("sqlite://{escaped}?mode=rwc")))
}

/// Host, port and database of a URL, without user, password and options.
fn server(options: &AnyConnectOptions) -> String {
    let url = &options.database_url;
    let host = url.host_str().unwrap_or("localhost");
    format!("postgres://{host}:{}{}", url.port().unwrap_or(5432), url.path())
}
