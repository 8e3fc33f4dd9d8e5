//! The connection: made in the background, and made again whenever it is lost.

use crate::metrics;
use async_nats::{
    Client, ConnectOptions, Event, ServerAddr,
    connection::State,
    jetstream::{Context, context::ContextBuilder},
};
use std::{
    fmt,
    future::ready,
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// How long one try to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a silent server is asked for a sign of life; two missing ones end the connection.
const PING_EVERY: Duration = Duration::from_secs(5);
/// The longest pause between two tries.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// Where the servers are, and who asks. Never shown: it may hold a password.
#[derive(Clone, Default)]
pub struct NatsOptions {
    /// Servers of one cluster, as `nats://host:4222` or `tls://host:4222`.
    pub servers: Vec<String>,
    /// File with a user's JWT and seed.
    pub credentials_file: Option<PathBuf>,
    /// User and password.
    pub login: Option<(String, String)>,
    /// File with certificates to trust in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// What operators of the servers see as the connection's name.
    pub name: String,
}

impl fmt::Debug for NatsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why there cannot be a connection, whether or not the servers are there.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// A server's address cannot be read. It is not repeated, since it may hold a password.
    #[error("an address is not of the form nats://host:4222")]
    Address,
    /// The credentials cannot be read or used.
    #[error("credentials file {path}: {error}")]
    Credentials {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: io::Error,
    },
    /// The certificates to trust cannot be read.
    #[error("certificates {path}: {error}")]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: io::Error,
    },
    /// The client refuses its options.
    #[error("{0}")]
    Client(#[from] async_nats::ConnectError),
}

/// A connection to a NATS cluster. Clones share it.
#[derive(Debug, Clone)]
pub struct Nats {
    client: Client,
}

impl Nats {
    /// Connects in the background, again and again. Must be called inside the runtime that is to carry it.
    pub async fn connect(options: NatsOptions) -> Result<Self, ConnectError> {
        let servers: Result<Vec<ServerAddr>, _> =
            options.servers.iter().map(|address| address.parse()).collect();
        let servers = servers.map_err(|_| ConnectError::Address)?;
        metrics::connected(false);
        let client = client_options(options).await?.connect(servers).await?;
        Ok(Self { client })
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// For streams. Publishing waits while `in_flight` messages are not acknowledged.
    pub(crate) fn jetstream(&self, patience: Duration, in_flight: usize) -> Context {
        ContextBuilder::new()
            .timeout(patience)
            .ack_timeout(patience)
            .max_ack_inflight(in_flight)
            .build(self.client.clone())
    }

    /// Whether a server is connected now.
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }
}

async fn client_options(options: NatsOptions) -> Result<ConnectOptions, ConnectError> {
    let told = Told::default();
    let mut client = ConnectOptions::new()
        .name(options.name)
        .connection_timeout(CONNECT_TIMEOUT)
        .ping_interval(PING_EVERY)
        .retry_on_initial_connect()
        .max_reconnects(None)
        .reconnect_delay_callback(pause)
        .no_echo()
        .event_callback(move |event| {
            told.tell(&event);
            ready(())
        });
    if let Some(path) = options.ca_file {
        // The client would only find out at each try to connect.
        if let Err(error) = tokio::fs::File::open(&path).await {
            return Err(ConnectError::Certificates { path, error });
        }
        client = client.add_root_certificates(path);
    }
    if let Some((user, password)) = options.login {
        client = client.user_and_password(user, password);
    }
    if let Some(path) = options.credentials_file {
        client = client
            .credentials_file(&path)
            .await
            .map_err(|error| ConnectError::Credentials { path, error })?;
    }
    Ok(client)
}

/// How long to wait before the next try: none before the first, then longer and longer.
fn pause(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(2)).unwrap_or(u32::MAX).min(6);
    if attempts <= 1 {
        Duration::ZERO
    } else {
        (Duration::from_millis(100) * 2u32.pow(doublings)).min(LONGEST_PAUSE)
    }
}

/// What the log has been told, so that each turn is told once.
#[derive(Debug, Clone, Default)]
struct Told {
    away: Arc<AtomicBool>,
    refused: Arc<AtomicBool>,
}

impl Told {
    fn tell(&self, event: &Event) {
        match event {
            Event::Connected => metrics::connected(true),
            Event::Disconnected => metrics::connected(false),
            _ => {}
        }
        match event {
            Event::Connected => {
                self.away.store(false, Ordering::Relaxed);
                self.refused.store(false, Ordering::Relaxed);
                tracing::info!("NATS connected");
            }
            Event::Disconnected | Event::ClientError(_) if !self.away.swap(true, Ordering::Relaxed) => {
                tracing::warn!(
                    why = %event,
                    "NATS is away: calls go on and their accounts wait, but what other processes see of vendors is not heard \
                     until it is back"
                );
            }
            Event::ServerError(error) if !self.refused.swap(true, Ordering::Relaxed) => {
                tracing::warn!(%error, "the NATS server refuses something");
            }
            Event::SlowConsumer(_) => {
                tracing::debug!("NATS messages were dropped: they came faster than read");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_short_enough_to_notice_a_return() {
        assert_eq!(pause(1), Duration::ZERO);
        assert!(pause(2) < pause(3));
        assert_eq!(pause(usize::MAX), LONGEST_PAUSE);
    }

    #[test]
    fn options_are_never_shown_with_their_password() {
        let login = Some(("router".to_owned(), "hunter2".to_owned()));
        let servers = vec!["nats://router:hunter2@host:4222".to_owned()];
        let shown = format!("{:?}", NatsOptions { login, servers, ..NatsOptions::default() });
        assert!(!shown.contains("hunter2"), "{shown}");
    }

    #[tokio::test]
    async fn an_address_that_cannot_be_read_is_not_repeated() {
        let options = NatsOptions { servers: vec!["nats://a:secret@[".to_owned()], ..NatsOptions::default() };
        let error = Nats::connect(options).await.unwrap_err().to_string();
        assert!(error.contains("nats://host:4222") && !error.contains("secret"), "{error}");
    }

    #[tokio::test]
    async fn a_file_that_is_missing_is_named_at_the_start() {
        let path = Some(PathBuf::from("/nowhere/at/all"));
        let options =
            NatsOptions { servers: vec!["nats://127.0.0.1:4222".to_owned()], ..NatsOptions::default() };
        for options in [
            NatsOptions { credentials_file: path.clone(), ..options.clone() },
            NatsOptions { ca_file: path, ..options },
        ] {
            let error = Nats::connect(options).await.unwrap_err().to_string();
            assert!(error.contains("/nowhere/at/all"), "{error}");
        }
    }
}
