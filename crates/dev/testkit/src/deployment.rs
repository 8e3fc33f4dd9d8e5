//! The roles of Signalbox, in one process or in several.

use crate::{
    Certificates, Client, Options, Signalbox, eventually,
    files::{ConfigFiles, merge},
    metrics::Metrics,
};
use serde_json::{Value, json};
use signalbox_api::v1::UsageEvent;

/// Adapters beside the router in [`Topology::Remote`].
const ADAPTERS: usize = 2;

/// Which roles are in which process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topology {
    /// All in one.
    AllInOne,
    /// A router, two adapters and, where one is asked for (`cache: {enabled: true}`), a cache, each in a process of its own, speaking over TLS, by certificates.
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
    /// By which processes of their own know each other, where they do not speak in the clear.
    pub certificates: Option<Certificates>,
    files: ConfigFiles,
}

impl Deployment {
    /// Starts all processes with one configuration (a JSON value, which is YAML too) and environment, and waits until
    /// they are ready.
    pub async fn start(topology: Topology, config: &Value, env: &[(&str, &str)]) -> Self {
        match topology {
            Topology::AllInOne => {
                let mut start = Start::of(config, env, None);
                let router = start.serve("signalbox", "", json!({})).await;
                start.ready(router, Vec::new(), None)
            }
            Topology::Remote => Self::remote(Start::of(config, env, Some(Certificates::new()))).await,
        }
    }

    /// The same as [`Topology::Remote`], but its processes speak in the clear.
    pub async fn start_in_clear(config: &Value, env: &[(&str, &str)]) -> Self {
        Self::remote(Start::of(config, env, None)).await
    }

    async fn remote(mut start: Start<'_>) -> Self {
        let mut adapters = Vec::new();
        for index in 1..=ADAPTERS {
            adapters.push(start.serve(&format!("adapter-{index}"), "adapter", json!({})).await);
        }
        let addresses: Vec<String> = adapters.iter().map(Signalbox::peer).collect();
        let mut peers = json!({"peers": {"adapter": addresses}});
        let mut cache = None;
        if start.config.pointer("/cache/enabled") == Some(&json!(true)) {
            let process = cache.insert(start.serve("cache", "cache", peers.clone()).await);
            merge(&mut peers, json!({"peers": {"cache": [process.peer()]}}));
        }
        let router = start.serve("router", "router", peers).await;
        // It takes no calls before it has heard of an adapter.
        eventually("the router is ready", || async { router.ready().await.is_ok() }).await;
        start.ready(router, adapters, cache)
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

/// A deployment that is being started.
struct Start<'c> {
    config: &'c Value,
    env: Vec<(String, String)>,
    files: ConfigFiles,
    certificates: Option<Certificates>,
}

impl<'c> Start<'c> {
    fn of(config: &'c Value, env: &[(&str, &str)], certificates: Option<Certificates>) -> Self {
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { config, env, files: ConfigFiles::new(), certificates }
    }

    /// Starts a process for these roles, all where none is named, with what is `own` to it in its configuration.
    async fn serve(&mut self, name: &str, roles: &'static str, mut own: Value) -> Signalbox {
        let mtls = self.certificates.as_mut().map(|certificates| certificates.issue(roles));
        let internal_listen = mtls.is_some().then_some(Options::FREE);
        mtls.into_iter().for_each(|section| merge(&mut own, section));
        let config = Some(self.files.add(&format!("{name}.yaml"), self.config, own));
        let env = self.env.clone();
        Signalbox::serve(Options { config, roles, env, internal_listen, ..Options::default() }).await
    }

    fn ready(self, router: Signalbox, adapters: Vec<Signalbox>, cache: Option<Signalbox>) -> Deployment {
        Deployment { router, adapters, cache, certificates: self.certificates, files: self.files }
    }
}
