//! Signalbox together with simulated vendors that it takes for real ones.

use crate::{Client, Deployment, Topology, files::merge};
use serde_json::{Value, json};
use signalbox_vendorsim::{Fault, Match, RecordedRequest, Simulator, Times, Vendor};
use std::net::SocketAddr;

/// Keys of all vendors, as the environment of a process.
pub const KEYS: [(&str, &str); 5] = [
    ("OPENAI_API_KEY", "key-of-openai"),
    ("ANTHROPIC_API_KEY", "key-of-anthropic"),
    ("GEMINI_API_KEY", "key-of-gemini"),
    ("XAI_API_KEY", "key-of-xai"),
    ("OPENAI_COMPATIBLE_API_KEY", "key-of-compatible"),
];

/// Requests that the simulator keeps for [`World::calls`].
const KEEP: usize = 4096;

/// Signalbox, with every vendor of the built-in catalogue at a simulator of this world's own.
#[derive(Debug)]
pub struct World {
    /// The vendors.
    pub vendors: Simulator,
    /// Signalbox.
    pub signalbox: Deployment,
    config: Value,
}

impl World {
    /// A world; `config` is laid over what leads to the simulator. Candidates are tried in their listed order, so that
    /// a test knows who is first, unless `config` says something about `routing`.
    pub async fn start(topology: Topology, config: Value) -> Self {
        Self::with_keys(topology, config, &KEYS).await
    }

    /// The same with other keys.
    pub async fn with_keys(topology: Topology, config: Value, keys: &[(&str, &str)]) -> Self {
        let vendors = Simulator::builder().keep_requests(KEEP).bind("127.0.0.1:0").await;
        let vendors = vendors.unwrap_or_else(|error| panic!("the simulator cannot listen: {error}"));
        let mut whole = at_simulator(&vendors);
        if config.get("routing").is_none() {
            merge(&mut whole, json!({"routing": {"order": "listed"}}));
        }
        merge(&mut whole, config);
        let signalbox = Deployment::start(topology, &whole, keys).await;
        Self { vendors, signalbox, config: whole }
    }

    /// A client of the public service.
    pub fn client(&self) -> Client {
        self.signalbox.client()
    }

    /// A client that may name any tenant.
    pub fn operator(&self) -> Client {
        self.signalbox.router.client()
    }

    /// Lays `change` over the configuration and writes it to the files that the processes watch.
    pub fn reconfigure(&mut self, change: Value) {
        merge(&mut self.config, change);
        self.signalbox.reconfigure(&self.config);
    }

    /// Lets a fault strike every call to a vendor from now on, in place of those before.
    pub fn fault(&self, vendor: Vendor, fault: &str) {
        let parsed = Fault::parse(fault).unwrap_or_else(|unknown| panic!("{unknown}"));
        self.vendors.clear_faults();
        self.vendors.set_fault(Match::vendor(vendor), parsed, Times::Always);
    }

    /// Calls that reached a vendor, oldest first.
    pub fn calls(&self, vendor: Vendor) -> Vec<RecordedRequest> {
        self.vendors.requests().into_iter().filter(|request| request.vendor == vendor).collect()
    }
}

/// The configuration that leads to a simulator. Tests count calls, so nobody is called who was not asked for.
pub fn at_simulator(simulator: &Simulator) -> Value {
    let mut config = at_vendors(simulator.addr());
    merge(&mut config, json!({"heartbeat": {"enabled": false}}));
    config
}

/// The configuration that leads to simulated vendors at an address. Tests ask the same again and again and mean it, so
/// that nothing is given from the cache unless they say so.
pub fn at_vendors(address: SocketAddr) -> Value {
    let at = |vendor: &str| json!({"base_url": format!("http://{address}/{vendor}")});
    json!({"cache": {"enabled": false}, "vendors": {
        "openai": at("openai"),
        "anthropic": at("anthropic"),
        "gemini": at("gemini"),
        "xai": at("xai"),
        "ollama": at("ollama"),
        "local": at("compatible"),
    }})
}
