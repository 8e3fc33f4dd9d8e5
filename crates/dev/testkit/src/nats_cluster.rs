//! A real NATS cluster.

use crate::NatsServer;
use std::net::{Ipv4Addr, TcpListener};

/// Three servers that keep streams together. Killed when dropped.
#[derive(Debug)]
pub struct NatsCluster {
    nodes: Vec<NatsServer>,
}

impl NatsCluster {
    /// Starts three servers, named `n0` to `n2`. They need a moment to find each other.
    pub async fn start() -> Self {
        let routes = free_addresses(3);
        let all = routes.join(",");
        let mut nodes = Vec::new();
        for (number, route) in routes.iter().enumerate() {
            let name = format!("n{number}");
            let arguments = ["--name", &name, "--cluster_name", "test", "--cluster", route, "--routes", &all];
            nodes.push(NatsServer::with(&arguments).await);
        }
        Self { nodes }
    }

    /// Where clients connect.
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(NatsServer::url).collect()
    }

    /// The server of a name.
    pub fn node(&mut self, name: &str) -> &mut NatsServer {
        let number = name.strip_prefix('n').and_then(|number| number.parse::<usize>().ok());
        number.and_then(|number| self.nodes.get_mut(number)).unwrap_or_else(|| panic!("no node {name}"))
    }
}

/// Addresses that were free just now: the servers must know each other's before they listen.
fn free_addresses(count: usize) -> Vec<String> {
    let bind = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap_or_else(|error| panic!("{error}"));
    let listeners: Vec<_> = (0..count).map(|_| bind()).collect();
    let address = |listener: &TcpListener| listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
    listeners.iter().map(|listener| format!("nats://{}", address(listener))).collect()
}
