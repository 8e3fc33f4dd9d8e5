//! A deployment of many processes that keeps budgets: with PostgreSQL, Redis, and certificates
//! by which its roles know each other.

use crate::{
    Certificates, KEYS, Options, PostgresServer, RedisServer, Signalbox, eventually, files::ConfigFiles,
    merge,
};
use serde_json::{Value, json};

/// How many processes of a role there are.
#[derive(Debug, Clone, Copy)]
pub struct FleetSize {
    /// Of `router`.
    pub routers: usize,
    /// Of `budget`.
    pub budgets: usize,
}

/// Budget services, an adapter and routers, each a process of its own.
#[derive(Debug)]
pub struct Fleet {
    /// The processes that clients call.
    pub routers: Vec<Signalbox>,
    /// The processes that know tenants, keys and budgets.
    pub budgets: Vec<Signalbox>,
    /// The process that calls vendors.
    pub adapter: Signalbox,
    /// Where budgets are kept.
    pub postgres: PostgresServer,
    /// Where rates are counted.
    pub redis: RedisServer,
    /// By which they know each other.
    pub certificates: Certificates,
    _files: ConfigFiles,
}

impl Fleet {
    /// The key of its operators.
    pub const ADMIN_KEY: &str = "the-key-that-all-roles-of-this-fleet-share";

    /// Starts all processes, with `config` laid over what brings them together, and waits until they are ready.
    pub async fn start(size: FleetSize, config: &Value) -> Self {
        Self::start_among(Certificates::new(), size, config).await
    }

    /// The same, among others that have certificates already.
    pub async fn start_among(mut certificates: Certificates, size: FleetSize, config: &Value) -> Self {
        let (postgres, redis) = (PostgresServer::start().await, RedisServer::start().await);
        let mut files = ConfigFiles::new();
        let mut common = json!({
            "budgets": {"store": {"postgres": {
                "url": format!("postgres://{}@127.0.0.1:{}/postgres", PostgresServer::USER, postgres.port()),
                "password": {"env": "POSTGRES_PASSWORD"},
            }}},
            "redis": {"url": redis.url()},
        });
        merge(&mut common, config.clone());
        let mut budgets = Vec::new();
        for index in 1..=size.budgets {
            let own = certificates.issue("budget");
            budgets.push(serve("budget", files.add(&format!("budget-{index}.yaml"), &common, own)).await);
        }
        let at = |processes: &[Signalbox]| -> Vec<String> { processes.iter().map(Signalbox::peer).collect() };
        merge(&mut common, json!({"peers": {"budget": at(&budgets)}}));
        let own = certificates.issue("adapter");
        let adapter = serve("adapter", files.add("adapter.yaml", &common, own)).await;
        merge(&mut common, json!({"peers": {"adapter": at(std::slice::from_ref(&adapter))}}));
        let mut routers = Vec::new();
        for index in 1..=size.routers {
            let own = certificates.issue("router");
            routers.push(serve("router", files.add(&format!("router-{index}.yaml"), &common, own)).await);
        }
        let fleet = Self { routers, budgets, adapter, postgres, redis, certificates, _files: files };
        for process in fleet.processes() {
            eventually("every process is ready", || async { process.ready().await.is_ok() }).await;
        }
        fleet
    }

    /// Every process.
    pub fn processes(&self) -> impl Iterator<Item = &Signalbox> {
        self.budgets.iter().chain(&self.routers).chain(std::iter::once(&self.adapter))
    }

    /// What all processes have logged.
    pub fn log(&self) -> String {
        self.processes().map(Signalbox::log).collect()
    }
}

async fn serve(roles: &'static str, config: std::path::PathBuf) -> Signalbox {
    let own = [("SIGNALBOX_ADMIN_KEY", Fleet::ADMIN_KEY), ("POSTGRES_PASSWORD", PostgresServer::PASSWORD)];
    let env = KEYS.iter().chain(&own).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let (config, internal_listen) = (Some(config), Some(Options::FREE));
    Signalbox::serve(Options { config, roles, env: env.collect(), internal_listen, ..Options::default() })
        .await
}
