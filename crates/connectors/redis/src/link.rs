//! The connection: made in the background, and made again whenever it is lost.

use crate::{ConnectError, Purpose, RedisOptions, metrics};
use redis::{AsyncConnectionConfig, Client, RedisError, aio::MultiplexedConnection};
use signalbox_kit::lag;
use std::{fmt, sync::Arc, time::Duration};
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};

/// How long one try to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// How often it is looked whether the server can still be written, so that it is noticed before it is needed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What a server says that answers and is of no use: it is another's replica, full, cannot save, lacks replicas or its
/// master, still loads, or wants a password.
const NO_USE: [&str; 7] = ["READONLY", "OOM", "MISCONF", "NOREPLICAS", "MASTERDOWN", "LOADING", "NOAUTH"];
/// The pause between two tries, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// A connection to Redis. Clones share it.
#[derive(Clone)]
pub struct Redis {
    state: watch::Receiver<State>,
    patience: Duration,
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("connected", &self.is_connected()).finish_non_exhaustive()
    }
}

/// Where the connection is at.
#[derive(Clone)]
enum State {
    /// About to be there: worth a short wait.
    Connecting,
    Up(Up),
    /// The last try failed.
    Away(Arc<str>),
}

#[derive(Clone)]
struct Up {
    connection: MultiplexedConnection,
    /// Told by who finds it broken.
    broken: Arc<Notify>,
}

impl Redis {
    /// Connects in the background, again and again, as long as a clone lives. Must be called inside the runtime that is
    /// to carry it.
    ///
    /// # Errors
    /// Where it could never connect.
    pub fn connect(options: &RedisOptions) -> Result<Self, ConnectError> {
        let client = options.client()?;
        let (told, state) = watch::channel(State::Connecting);
        tokio::spawn(keep(client, told, options.patience, options.purpose));
        Ok(Self { state, patience: options.patience })
    }

    /// Whether the server answers and can be written, as far as is known.
    pub fn is_connected(&self) -> bool {
        matches!(*self.state.borrow(), State::Up(_))
    }

    /// Asks the server something, and waits for the answer as long as it may take.
    pub(crate) async fn ask<T>(
        &self,
        ask: impl AsyncFnOnce(&mut MultiplexedConnection) -> Result<T, RedisError>,
    ) -> Result<T, String> {
        let asking = async {
            let mut up = self.up().await?;
            let answer = ask(&mut up.connection).await;
            answer.map_err(|error| {
                if ends_connection(&error) {
                    up.broken.notify_one();
                }
                told(&error)
            })
        };
        match lag::within(self.patience, asking).await {
            Ok(answer) => answer,
            Err(_) => {
                // Its answer could come at any time; a new connection tells whether the server is there.
                if let State::Up(up) = &*self.state.borrow() {
                    up.broken.notify_one();
                }
                Err(format!("no answer within {} ms", self.patience.as_millis()))
            }
        }
    }

    async fn up(&self) -> Result<Up, String> {
        let mut state = self.state.clone();
        let settled = state.wait_for(|state| !matches!(state, State::Connecting)).await;
        match settled.as_deref() {
            Ok(State::Up(up)) => Ok(up.clone()),
            Ok(State::Away(why)) => Err(why.to_string()),
            Ok(State::Connecting) | Err(_) => Err("the connection is closed".to_owned()),
        }
    }
}

/// Keeps a connection for as long as anybody wants it.
async fn keep(client: Client, state: watch::Sender<State>, patience: Duration, purpose: Purpose) {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_response_timeout(Some(patience.max(CONNECT_TIMEOUT)));
    let (first, longest) = PAUSES;
    let (mut pause, mut told_away) = (first, false);
    while !state.is_closed() {
        match connect(&client, &config, purpose).await {
            Ok(connection) => {
                tracing::info!(?purpose, "Redis connected");
                metrics::connected(purpose, true);
                (pause, told_away) = (first, false);
                let broken = Arc::new(Notify::new());
                state.send_replace(State::Up(Up { connection: connection.clone(), broken: broken.clone() }));
                until_lost(connection, purpose, &broken, &state).await;
                metrics::connected(purpose, false);
                state.send_replace(State::Connecting);
            }
            Err(error) => {
                if !std::mem::replace(&mut told_away, true) {
                    tracing::warn!(why = told(&error), "Redis is away: {}", purpose.without());
                }
                metrics::connected(purpose, false);
                state.send_replace(State::Away(told(&error).into()));
                tokio::select! {
                    () = sleep(pause) => {}
                    () = state.closed() => {}
                }
                pause = (pause * 2).min(longest);
            }
        }
    }
}

/// A connection to a server that can be written.
async fn connect(
    client: &Client,
    config: &AsyncConnectionConfig,
    purpose: Purpose,
) -> Result<MultiplexedConnection, RedisError> {
    let mut connection = client.get_multiplexed_async_connection_with_config(config).await?;
    try_to_write(&mut connection, purpose).await?;
    Ok(connection)
}

/// Overwrites a key that is not there: nothing changes, and a server that cannot be written refuses it all the same.
async fn try_to_write(connection: &mut MultiplexedConnection, purpose: Purpose) -> Result<(), RedisError> {
    let mut write = redis::cmd("SET");
    match write.arg(purpose.nobodys_key()).arg("").arg("XX").query_async::<()>(connection).await {
        Err(error) if ends_connection(&error) => Err(error),
        // What it has against this command it need not have against ours.
        _ => Ok(()),
    }
}

/// Returns when the connection is of no more use.
async fn until_lost(
    mut connection: MultiplexedConnection,
    purpose: Purpose,
    broken: &Notify,
    state: &watch::Sender<State>,
) {
    loop {
        tokio::select! {
            () = broken.notified() => return,
            () = state.closed() => return,
            () = sleep(LOOK_EVERY) => {}
        }
        let written = timeout(CONNECT_TIMEOUT, try_to_write(&mut connection, purpose)).await;
        if !matches!(written, Ok(Ok(()))) {
            return;
        }
    }
}

/// Whether another connection would help: also where the server behind this one is of no use, as after a failover.
fn ends_connection(error: &RedisError) -> bool {
    let no_use = error.code().is_some_and(|code| NO_USE.contains(&code));
    no_use || error.is_unrecoverable_error() || error.is_timeout()
}

/// What may be said of an error. None of the client's repeats the address or the password.
fn told(error: &RedisError) -> String {
    error.to_string()
}
