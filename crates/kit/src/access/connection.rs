//! What a listener knows of a connection.

use crate::tls::PeerRoles;
use std::net::{IpAddr, SocketAddr};

/// What a listener knows of a connection: in the extensions of every call that came over it.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    /// Where it comes from.
    pub peer: Option<SocketAddr>,
    /// For whom its client speaks, by the certificate it has shown; none where none is asked for.
    pub roles: Option<PeerRoles>,
}

impl Connection {
    /// The address alone, in its own form where it is IPv4.
    pub(super) fn peer_ip(&self) -> Option<IpAddr> {
        self.peer.map(|peer| peer.ip().to_canonical())
    }
}
