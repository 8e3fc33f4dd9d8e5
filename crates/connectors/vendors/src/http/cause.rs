//! What went wrong beneath HTTP, in words that hold no URL, query or key.

use std::{error::Error, io};

/// What broke a connection, or kept it from being made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Cause {
    #[error("its name cannot be resolved (DNS)")]
    Dns,
    #[error("TLS: {0}")]
    Tls(String),
    #[error("connection refused")]
    Refused,
    #[error("connection reset")]
    Reset,
    #[error("connection closed")]
    Closed,
    #[error("what it sent is not HTTP")]
    NotHttp,
    #[error("{0}")]
    Io(io::ErrorKind),
    #[error("connection failed")]
    Unknown,
}

impl Cause {
    /// The deepest cause that says something.
    pub(super) fn of(error: &reqwest::Error) -> Self {
        if error.is_dns() {
            return Self::Dns;
        }
        let mut cause = Self::Unknown;
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = next {
            cause = Self::of_one(error).unwrap_or(cause);
            next = inner(error);
        }
        cause
    }

    fn of_one(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(Self::Tls(error.to_string()));
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>() {
            return match () {
                () if error.is_parse() => Some(Self::NotHttp),
                () if error.is_incomplete_message() || error.is_closed() || error.is_canceled() => {
                    Some(Self::Closed)
                }
                () => None,
            };
        }
        match error.downcast_ref::<io::Error>()?.kind() {
            // A wrapper; what it wraps says more.
            io::ErrorKind::Other => None,
            io::ErrorKind::ConnectionRefused => Some(Self::Refused),
            io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Some(Self::Reset),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionAborted => Some(Self::Closed),
            kind => Some(Self::Io(kind)),
        }
    }
}

/// What an error wraps. `source` of an I/O error skips the very error it was made from.
fn inner<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}
