//! TLS: towards clients, and between the roles of a deployment.
//!
//! Both are made of PEM files and made anew when those change, whole or not at all; connections that are open go on
//! with what they began with. A certificate that is not valid now is taken at the start, with an error in the log: a
//! restart must not make an outage of it, and those it is shown to refuse it themselves. While running it is not taken
//! in place of another, and neither is one that the authorities beside it do not vouch for.

mod authorities;
mod files;
mod handshake;
mod inspect;
mod kept;
mod metrics;
mod mtls;
mod own;
mod roles;
mod server;
mod verify;

pub use authorities::check_authorities;
pub use files::FileProblem;
pub(crate) use handshake::{Accepted, Acceptor};
pub use inspect::{Inspected, inspect};
pub(crate) use metrics::register as register_metrics;
pub use mtls::Mtls;
pub use roles::PeerRoles;
pub use server::ServerTls;
pub(crate) use verify::told;

use rustls::crypto::{CryptoProvider, ring};
use std::sync::{Arc, LazyLock};

/// What is spoken over every connection.
const ALPN: &[u8] = b"h2";

/// The one set of ciphers, whatever else a process has installed.
static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| Arc::new(ring::default_provider()));

#[cfg(test)]
mod tests;
