//! The simulated vendors as a process of their own.

use crate::{built, process::Process};
use serde_json::Value;
use std::{net::SocketAddr, time::Duration};
use tokio::process::Command;

/// A running `signalbox-vendorsim`. Killed when dropped.
#[derive(Debug)]
pub struct Vendorsim {
    _process: Process,
    address: SocketAddr,
}

impl Vendorsim {
    /// Starts it on a free port; every answer comes after `delay`.
    pub async fn serve(delay: Duration) -> Self {
        let mut command = Command::new(built("signalbox-vendorsim"));
        command.args(["--listen", "127.0.0.1:0", "--delay-ms", &delay.as_millis().to_string()]);
        let process = Process::start("vendors", command).await;
        let banner = process.ready();
        let address = banner.get("address").and_then(Value::as_str).and_then(|text| text.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {banner}"));
        Self { _process: process, address }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}
