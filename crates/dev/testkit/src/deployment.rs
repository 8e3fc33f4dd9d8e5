//! The roles of Signalbox, in one process or in several.

use crate::{
    Client, Options, Signalbox, eventually,
    files::{ConfigFiles, merge},
    metrics::Metrics,
};
use serde_json::{Value, json};
use signalbox_api::v1::UsageEvent;
use std::path::PathBuf;

/// Adapters beside the router in [`Topology::Remote`].
const ADAPTERS: usize = 2;

/// Which roles are in which process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// All in one.
    AllInOne,
    /// A router, two adapters and, where one is asked for (`cache: {enabled: true}`), a cache, each in a process of its own, speaking over TCP.
    Remote,
}

/// Signalbox, running.
#[derive(Debug)]
pub struct Deployment {
    /// The process that clients call.
    pub router: Signalbox,
    /// The adapters, where they are processes of their own.
    pub adapters: Vec<Signalbox>,
    /// The cache, where there is one and it is a process of its own.
    pub cache: Option<Signalbox>,
    files: ConfigFiles,
}

impl Deployment {
    /// Starts all processes with one configuration (a JSON value, which is YAML too) and environment, and waits until
    /// they are ready.
    pub async fn start(topology: Topology, config: &Value, env: &[(&str, &str)]) -> Self {
        let env: Vec<(String, String)> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let serve = |config: PathBuf, roles| {
            Signalbox::serve(Options { config: Some(config), roles, env: env.clone(), ..Options::default() })
        };
        let mut files = ConfigFiles::new();
        if topology == Topology::AllInOne {
            let router = serve(files.add("signalbox.yaml", config, json!({})), "").await;
            return Self { router, adapters: Vec::new(), cache: None, files };
        }
        let mut adapters = Vec::new();
        for index in 1..=ADAPTERS {
            let file = files.add(&format!("adapter-{index}.yaml"), config, json!({}));
            adapters.push(serve(file, "adapter").await);
        }
        let addresses: Vec<String> =
            adapters.iter().map(|adapter| format!("http://{}", adapter.address())).collect();
        let mut peers = json!({"peers": {"adapter": addresses}});
        let mut cache = None;
        if config.pointer("/cache/enabled") == Some(&json!(true)) {
            let process = cache.insert(serve(files.add("cache.yaml", config, peers.clone()), "cache").await);
            merge(&mut peers, json!({"peers": {"cache": [format!("http://{}", process.address())]}}));
        }
        let router = serve(files.add("router.yaml", config, peers), "router").await;
        // It takes no calls before it has heard of an adapter.
        eventually("the router is ready", || async { router.ready().await.is_ok() }).await;
        Self { router, adapters, cache, files }
    }

    /// A client of the public service.
    pub fn client(&self) -> Client {
        self.router.client()
    }

    /// Every process.
    pub fn processes(&self) -> impl Iterator<Item = &Signalbox> {
        std::iter::once(&self.router).chain(&self.adapters).chain(&self.cache)
    }

    /// Writes another configuration to the files that the processes watch.
    pub fn reconfigure(&self, config: &Value) {
        self.files.write(config);
    }

    /// Writes a text, good or not, to the files that the processes watch.
    pub fn reconfigure_with_text(&self, text: &str) {
        self.files.write_text(text);
    }

    /// The metrics of all processes together.
    pub async fn metrics(&self) -> Metrics {
        let mut all = String::new();
        for process in self.processes() {
            all.push_str(process.metrics().await.text());
        }
        Metrics::new(all)
    }

    /// The accounts in the spools of all processes.
    pub fn accounts(&self) -> Vec<UsageEvent> {
        // A cache accounts for nothing: what it asks of models is in the accounts of requests.
        std::iter::once(&self.router).chain(&self.adapters).flat_map(Signalbox::accounts).collect()
    }

    /// What all processes have logged.
    pub fn log(&self) -> String {
        self.processes().map(Signalbox::log).collect()
    }

    /// Asks every process to drain and end, the router first, and waits until all have.
    pub async fn terminate(&mut self) {
        for process in std::iter::once(&mut self.router).chain(&mut self.adapters).chain(&mut self.cache) {
            process.terminate();
            process.ended().await;
        }
    }
}
