//! How Redis is reached.

use redis::{Client, TlsCertificates};
use std::{fmt, io, path::PathBuf, time::Duration};

/// How long an answer may take. A script takes well under a millisecond.
const PATIENCE: Duration = Duration::from_millis(100);

/// Where the server is, and how long to wait for it. Never shown: the address may hold a password.
#[derive(Clone)]
pub struct RedisOptions {
    /// As `redis://user:password@host:6379/0`, or `rediss://` for TLS.
    pub url: String,
    /// File with certificates to trust in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// How long an answer may take before Redis counts as away.
    pub patience: Duration,
    /// What it is for, in logs and metrics.
    pub purpose: Purpose,
}

/// What a Redis is for. One for the cache may forget; one for rates must not, so they are better two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Rate limits that all replicas share.
    Rates,
    /// Cached answers.
    Cache,
}

impl Purpose {
    /// A key among ours that is never there.
    pub(crate) fn nobodys_key(self) -> &'static str {
        match self {
            Self::Rates => "signalbox:rate:nobody",
            Self::Cache => "sb:v1:nobody",
        }
    }

    /// What it means that it is away.
    pub(crate) fn without(self) -> &'static str {
        match self {
            Self::Rates => "rate limits cannot be shared until it is back",
            Self::Cache => "requests are misses until it is back",
        }
    }
}

impl RedisOptions {
    /// A server for rate limits, with an answer within 100 ms.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ca_file: None, patience: PATIENCE, purpose: Purpose::Rates }
    }

    pub(crate) fn client(&self) -> Result<Client, ConnectError> {
        let Some(path) = &self.ca_file else {
            return Client::open(self.url.as_str()).map_err(|_| ConnectError::Address);
        };
        let wrong = |error| ConnectError::Certificates { path: path.clone(), error };
        let pem = std::fs::read(path).map_err(wrong)?;
        let certificates = TlsCertificates { client_tls: None, root_cert: Some(pem) };
        // The address alone is tried first, so that it is known which of the two is wrong.
        Client::open(self.url.as_str()).map_err(|_| ConnectError::Address)?;
        Client::build_with_tls(self.url.as_str(), certificates)
            .map_err(|error| wrong(io::Error::new(io::ErrorKind::InvalidData, error)))
    }
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions").field("ca_file", &self.ca_file).finish_non_exhaustive()
    }
}

/// Why there cannot be a connection, whether or not the server is there.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address cannot be read. It is not repeated, since it may hold a password.
    #[error("the address is not of the form redis://host:6379")]
    Address,
    /// The certificates to trust cannot be read.
    #[error("certificates {path}: {error}")]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: io::Error,
    },
}
