//! The roles of Signalbox, in one process or in several.

use crate::{
    Certificates, Client, Key, Options, Signalbox, eventually,
    files::{ConfigFiles, merge},
    metrics::Metrics,
    up::Up,
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
    /// The system that `make up` has started in the folder that `SIGNALBOX_UP` names: every role twice, with its engines.
    /// A test has it for itself, and its configuration is laid over that of the roles; clients are a new tenant's.
    Up,
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
    /// The replicas of router and cache that no test asks, where there are any.
    replicas: Vec<Signalbox>,
    made: Made,
}

/// How it came to be.
#[derive(Debug)]
enum Made {
    Here(ConfigFiles),
    Up {
        up: Box<Up>,
        /// By which clients are known.
        client: Key,
    },
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
            Topology::Up => Self::up(config, env).await,
        }
    }

    async fn up(config: &Value, env: &[(&str, &str)]) -> Self {
        let up = Box::new(Up::fitted(config, env).await);
        let client = up.tenants_key().await;
        let cached = config.pointer("/cache/enabled") == Some(&json!(true));
        let (adapters, replicas) = (["adapter-1", "adapter-2"], ["router-2", "cache-2"]);
        let processes = |names: [&str; 2]| names.map(|name| up.process(name)).into();
        Self {
            router: up.process("router-1"),
            adapters: processes(adapters),
            cache: cached.then(|| up.process("cache-1")),
            certificates: None,
            replicas: processes(replicas),
            made: Made::Up { up, client },
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
        match &self.made {
            Made::Here(_) => self.router.client(),
            Made::Up { client, .. } => self.router.client_with(client.clone()),
        }
    }

    /// One more process of a system that is up, as in `budget-1`.
    pub fn part(&self, name: &str) -> Signalbox {
        match &self.made {
            Made::Up { up, .. } => up.process(name),
            Made::Here(_) => panic!("there is no process {name}"),
        }
    }

    /// Every process.
    pub fn processes(&self) -> impl Iterator<Item = &Signalbox> {
        std::iter::once(&self.router).chain(&self.adapters).chain(&self.cache).chain(&self.replicas)
    }

    /// Writes another configuration to the files that the processes watch.
    pub fn reconfigure(&mut self, config: &Value) {
        match &mut self.made {
            Made::Here(files) => files.write(config),
            Made::Up { up, .. } => up.reconfigure(config),
        }
    }

    /// Writes a text, good or not, to the files that the processes watch.
    pub fn reconfigure_with_text(&self, text: &str) {
        match &self.made {
            Made::Here(files) => files.write_text(text),
            Made::Up { up, .. } => up.overwrite(text),
        }
    }

    /// The metrics of all processes together.
    pub async fn metrics(&self) -> Metrics {
        let mut all = String::new();
        for process in self.processes() {
            all.push_str(process.metrics().await.text());
        }
        Metrics::new(all)
    }

    /// The accounts in the spools of all processes; in the usage store, where there is one that takes them from there.
    pub async fn accounts(&self) -> Vec<UsageEvent> {
        if let Made::Up { up, .. } = &self.made {
            return up.accounts().await;
        }
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
        let (certificates, replicas, made) = (self.certificates, Vec::new(), Made::Here(self.files));
        Deployment { router, adapters, cache, certificates, replicas, made }
    }
}
