//! Where each process listens.

use crate::{Kind, Part};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

/// The first port, where none is asked for.
pub(crate) const USUAL_BASE: u16 = 21_000;
/// Ports that a process may have.
const EACH: u16 = 10;
/// Ports that a system may have.
const ALL: u16 = 200;
/// Below are those that only root may listen on.
const FIRST_FREE: u16 = 1_024;
/// Where free ports are looked for: below those that the kernel hands to outgoing connections, one of which might
/// otherwise sit on the port of a process that is just being started again.
const LOWEST: u16 = 12_000;
const HIGHEST: u16 = 32_000;

/// What a port is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Clients and operators.
    Clients,
    /// Other processes of its kind, or of this system.
    Internal,
    /// gRPC health checks in the clear.
    Health,
    /// Metrics and probes over HTTP.
    Metrics,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Self::Clients => "clients",
            Self::Internal => "internal",
            Self::Health => "health",
            Self::Metrics => "metrics",
        }
    }
}

/// The ports of a system, all of which follow from the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ports {
    base: u16,
}

impl Ports {
    /// From `base` on; where free ones are, for 0.
    ///
    /// # Errors
    /// There is no room.
    pub(crate) fn from(base: u16) -> Result<Self, String> {
        match base {
            0 => Self::find(),
            base if base < FIRST_FREE => {
                Err(format!("{base}: ports below {FIRST_FREE} are for root; give another --base-port"))
            }
            base if base > u16::MAX - ALL => Err(format!("{base}: {ALL} ports from there on are too many")),
            base => Ok(Self { base }),
        }
    }

    fn find() -> Result<Self, String> {
        let blocks = (HIGHEST - LOWEST) / ALL;
        let first = rand::random_range(0..blocks);
        let bases = (0..blocks).map(|block| LOWEST + (first + block) % blocks * ALL);
        let mut free = bases.map(|base| Self { base }).filter(|ports| ports.taken(Part::all()).is_empty());
        free.next().ok_or_else(|| format!("there are no {ALL} free ports from {LOWEST} to {HIGHEST}"))
    }

    /// The first.
    pub fn base(self) -> u16 {
        self.base
    }

    /// A port of a process.
    pub fn of(self, part: Part, purpose: Purpose) -> u16 {
        self.base + part.place() * EACH + purpose as u16
    }

    /// The same as an address.
    pub fn address(self, part: Part, purpose: Purpose) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.of(part, purpose)))
    }

    /// Everywhere a process may listen.
    pub fn all_of(self, part: Part) -> impl Iterator<Item = (Purpose, u16)> {
        let purposes: &[Purpose] = match part.kind {
            Kind::Nats => &[Purpose::Clients, Purpose::Internal, Purpose::Metrics],
            kind if kind.is_role() => {
                &[Purpose::Clients, Purpose::Internal, Purpose::Health, Purpose::Metrics]
            }
            _ => &[Purpose::Clients],
        };
        purposes.iter().map(move |purpose| (*purpose, self.of(part, *purpose)))
    }

    /// What somebody else has of the ports of these processes, in words.
    pub(crate) fn taken(self, parts: impl IntoIterator<Item = Part>) -> Vec<String> {
        let ports = parts.into_iter().flat_map(|part| self.all_of(part).map(move |port| (part, port)));
        let taken = ports.filter(|(_, (_, port))| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_err());
        taken.map(|(part, (purpose, port))| format!("{port} ({part}, {})", purpose.name())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_processes_share_a_port_and_all_fit() {
        let ports = Ports::from(USUAL_BASE).unwrap();
        let all: Vec<u16> = Part::all().flat_map(|part| ports.all_of(part)).map(|(_, port)| port).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all.iter().all(|port| (USUAL_BASE..USUAL_BASE + ALL).contains(port)));
        assert!(Ports::from(65_500).is_err());
        assert_eq!(
            Ports::from(80).unwrap_err(),
            "80: ports below 1024 are for root; give another --base-port"
        );
    }

    #[test]
    fn a_port_that_is_taken_is_told_by_name() {
        let ports = Ports::from(0).unwrap();
        let redis = Part { kind: Kind::Redis, number: 1 };
        let _taken = TcpListener::bind(ports.address(redis, Purpose::Clients)).unwrap();
        let told = ports.taken(Part::all());
        assert_eq!(told, [format!("{} (redis, clients)", ports.of(redis, Purpose::Clients))]);
    }
}
