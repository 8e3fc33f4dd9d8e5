//! How a connection begins, at the side that is called.

use super::{metrics, roles::PeerRoles, verify};
use rustls::{Error, ServerConfig};
use std::{io, sync::Arc, time::Duration};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// How long a handshake may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Takes one connection, with the certificate and the authorities of now.
#[derive(Debug)]
pub(crate) struct Acceptor {
    purpose: &'static str,
    config: Arc<ServerConfig>,
    /// Where callers' roles are known; none where callers show no certificate.
    trust_domain: Option<Arc<str>>,
}

/// A connection over which both sides know what they wanted to know of each other.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) stream: Box<TlsStream<TcpStream>>,
    /// Whom its client speaks for; none where it shows no certificate.
    pub(crate) roles: Option<PeerRoles>,
}

/// Why a handshake came to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// The other side's certificate is not believed, or there is none.
    Certificate,
    /// The other side does not believe ours, or wants what is not offered.
    Refused,
    /// The other side does not speak TLS.
    Clear,
    /// It took too long.
    Timeout,
    /// It was given up: too many others came after it, or the listener ended.
    Crowded,
    /// The connection broke, or the two sides have no cipher in common.
    Other,
}

impl Problem {
    pub(super) const ALL: [Self; 6] =
        [Self::Certificate, Self::Refused, Self::Clear, Self::Timeout, Self::Crowded, Self::Other];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Certificate => "certificate",
            Self::Refused => "refused",
            Self::Clear => "clear",
            Self::Timeout => "timeout",
            Self::Crowded => "crowded",
            Self::Other => "other",
        }
    }

    fn of(error: &io::Error) -> Self {
        match error.get_ref().and_then(|error| error.downcast_ref::<Error>()) {
            Some(Error::InvalidCertificate(_) | Error::NoCertificatesPresented) => Self::Certificate,
            Some(Error::AlertReceived(_)) => Self::Refused,
            Some(Error::InvalidMessage(_)) => Self::Clear,
            _ => Self::Other,
        }
    }
}

impl Acceptor {
    /// For clients, who show no certificate.
    pub(super) fn server(config: Arc<ServerConfig>) -> Self {
        Self { purpose: "server", config, trust_domain: None }
    }

    /// For roles of a trust domain.
    pub(super) fn mtls(config: Arc<ServerConfig>, trust_domain: Arc<str>) -> Self {
        Self { purpose: "mtls", config, trust_domain: Some(trust_domain) }
    }

    /// The connection, where it begins well and in time. That it does not costs a line at debug level: anybody can
    /// have many of them written.
    pub(crate) async fn accept(self, connection: TcpStream) -> Option<Accepted> {
        let peer = connection.peer_addr().ok();
        let unfinished = Unfinished(Some(self.purpose));
        let accepted = timeout(PATIENCE, TlsAcceptor::from(self.config).accept(connection)).await;
        unfinished.ended();
        let (problem, told) = match accepted {
            Ok(Ok(stream)) => {
                let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
                let roles = self.trust_domain.map(|domain| {
                    certificate.map(|certificate| PeerRoles::of(certificate, &domain)).unwrap_or_default()
                });
                return Some(Accepted { stream: Box::new(stream), roles });
            }
            Ok(Err(error)) => {
                (Problem::of(&error), verify::told(&error).unwrap_or_else(|| error.to_string()))
            }
            Err(_) => (Problem::Timeout, "it took too long".to_owned()),
        };
        metrics::handshake_failed(self.purpose, problem);
        tracing::debug!(
            tls = self.purpose,
            ?peer,
            reason = problem.name(),
            "a TLS handshake came to nothing: {told}"
        );
        None
    }
}

/// A handshake that is given up before its end counts as crowded out.
struct Unfinished(Option<&'static str>);

impl Unfinished {
    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(purpose) = self.0 {
            metrics::handshake_failed(purpose, Problem::Crowded);
        }
    }
}
