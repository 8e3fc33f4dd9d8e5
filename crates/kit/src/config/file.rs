//! The whole file, and its sections about the process itself.

use super::{
    access::AccessConfig,
    alerts::AlertsConfig,
    batch::BatchConfig,
    budgets::{BudgetsConfig, RedisConfig},
    cache::CacheConfig,
    content::ContentPolicyConfig,
    drills::DrillsConfig,
    heartbeat::HeartbeatConfig,
    models::{AliasConfig, AssumedQualityConfig, ModelConfig, TargetName, TiersConfig},
    nats::NatsConfig,
    routing::RoutingConfig,
    slow_stream::SlowStreamConfig,
    tasks::{TaskTypeConfig, TemperaturePolicyConfig},
    tenants::TenantConfig,
    tls::{MtlsConfig, ServerTlsConfig},
    usage::{PlanConfig, UsageConfig},
    values::{
        Date, Decimal, HumanDuration, address_schema, delay_schema, grpc_schema, log_levels_schema,
        peers_schema,
    },
    vendors::VendorConfig,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
};

/// The configuration of Signalbox.
///
/// A file is laid over the built-in catalogue: maps merge by key, a key set to null is removed, lists and single
/// values are replaced.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Signalbox configuration")]
pub struct Config {
    /// What this file is laid over.
    pub extends: Extends,
    /// Where and how the process serves. Read at start only.
    pub server: ServerConfig,
    /// Logs and traces. Read at start only.
    pub telemetry: TelemetryConfig,
    /// Where other roles are, when they are not in this process. Read at start only.
    pub peers: PeersConfig,
    /// TLS between the roles; without it they speak in the clear. Read at start only, but its files at every change.
    pub mtls: Option<MtlsConfig>,
    /// Where processes tell each other what they have seen. Read at start only.
    pub nats: NatsConfig,
    /// Who may call. Read at start only.
    pub access: AccessConfig,
    /// What tenants may spend: where it is kept and how it is handed to routers. Read at start only.
    pub budgets: BudgetsConfig,
    /// Where rates are counted for all processes. Read at start only.
    pub redis: RedisConfig,
    /// Answers that were given before.
    pub cache: CacheConfig,
    /// Work that can wait: where it is kept and how it is gathered. Read at start only.
    pub batch: BatchConfig,
    /// The account of every request: where it waits and where it is kept. Read at start only.
    pub usage: UsageConfig,
    /// Alerts about models that behave unlike their own history. Read at start only.
    pub alerts: AlertsConfig,
    /// The vendors, by a name of your choice that models refer to.
    pub vendors: BTreeMap<String, VendorConfig>,
    /// The models, by `vendor/model`.
    pub models: BTreeMap<String, ModelConfig>,
    /// Names that applications use in place of a model, each with its models in order of preference.
    pub aliases: BTreeMap<String, AliasConfig>,
    /// Models of each price class, in order of preference.
    pub tiers: TiersConfig,
    /// Kinds of work, each with its models and defaults.
    pub task_types: BTreeMap<String, TaskTypeConfig>,
    /// Task types of requests that name neither model nor task type, by their temperature; others get the default
    /// alias.
    pub temperature_policies: Vec<TemperaturePolicyConfig>,
    /// Alias for requests that name neither model nor task type.
    pub default_alias: Option<String>,
    /// Share of good answers to reckon with for models that say nothing of their own quality.
    pub assumed_quality: AssumedQualityConfig,
    /// Who uses Signalbox. A tenant that is not named here has nothing of its own, and no restrictions.
    pub tenants: BTreeMap<String, TenantConfig>,
    /// What tenants' plans include, by a name of your choice.
    pub plans: BTreeMap<String, PlanConfig>,
    /// What is looked for in prompts and answers, by a name of your choice.
    pub content_policies: BTreeMap<String, ContentPolicyConfig>,
    /// Name of the content policy for tenants that name none.
    pub content_policy: Option<String>,
    /// Which candidate is tried first, for requests whose task type does not say it.
    pub routing: RoutingConfig,
    /// Retries and switches when a vendor fails.
    pub failover: FailoverConfig,
    /// When a stream that trickles counts as a failure.
    pub slow_stream: SlowStreamConfig,
    /// Small calls that look whether a vendor answers.
    pub heartbeat: HeartbeatConfig,
    /// Faults injected on purpose.
    pub drills: DrillsConfig,
    /// What a dollar is worth in euros. Without it no cost is known.
    pub exchange_rate: Option<ExchangeRateConfig>,
}

/// What a file is laid over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Extends {
    /// The built-in catalogue.
    #[default]
    Default,
    /// Nothing: the file says everything.
    None,
}

/// Where and how the process serves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address for gRPC.
    #[schemars(schema_with = "address_schema")]
    pub listen: SocketAddr,
    /// TLS at that address; none where left out.
    pub tls: Option<ServerTlsConfig>,
    /// Address for gRPC from other roles, where there is `mtls`. They are served nowhere else then.
    #[schemars(schema_with = "address_schema")]
    pub internal_listen: SocketAddr,
    /// Address for gRPC health checks alone, in the clear, for probes that know no TLS; none where left out.
    #[schemars(schema_with = "address_schema")]
    pub health_listen: Option<SocketAddr>,
    /// Address for Prometheus metrics over HTTP.
    #[schemars(schema_with = "address_schema")]
    pub metrics_listen: SocketAddr,
    /// Largest message taken or sent, in bytes.
    #[schemars(range(min = 65_536, max = 1_073_741_824))]
    pub max_message_bytes: usize,
    /// Time that running calls get to finish when the process is told to stop.
    pub drain_timeout: HumanDuration,
    /// Threads that serve; one per core where left out.
    #[schemars(range(min = 1, max = 1024))]
    pub runtime_threads: Option<usize>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 50_051)),
            tls: None,
            internal_listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 50_052)),
            health_listen: None,
            metrics_listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 9_464)),
            max_message_bytes: 32 * 1024 * 1024,
            drain_timeout: HumanDuration::secs(30),
            runtime_threads: None,
        }
    }
}

impl ServerConfig {
    /// The first two listeners that cannot both be had, each with its field; those for roles are opened only where there
    /// is `mtls`. An address that means every interface takes the port at each of them.
    pub fn clash(&self, mtls: bool) -> Option<(&'static str, &'static str)> {
        let listeners = [
            ("listen", Some(self.listen)),
            ("internal_listen", mtls.then_some(self.internal_listen)),
            ("health_listen", self.health_listen),
            ("metrics_listen", Some(self.metrics_listen)),
        ];
        let opened: Vec<_> =
            listeners.into_iter().filter_map(|(field, address)| Some((field, address?))).collect();
        let pairs = opened
            .iter()
            .enumerate()
            .flat_map(|(index, second)| opened.iter().take(index).map(move |first| (first, second)));
        pairs
            .filter(|((_, first), (_, second))| overlap(*first, *second))
            .map(|((first, _), (second, _))| (*first, *second))
            .next()
    }
}

/// Whether one of two addresses keeps the other from being listened on. `[::]` takes a port of IPv4, too.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let covers = |wide: SocketAddr, narrow: SocketAddr| {
        wide.ip() == narrow.ip() || (wide.ip().is_unspecified() && (wide.is_ipv6() || narrow.is_ipv4()))
    };
    one.port() == other.port() && one.port() != 0 && (covers(one, other) || covers(other, one))
}

/// Logs and traces.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// Form of the log.
    pub log_format: LogFormat,
    /// Levels, as in `info` or `info,signalbox_router=debug`.
    #[schemars(schema_with = "log_levels_schema")]
    pub log_level: String,
    /// Where traces go (OTLP over gRPC); nowhere where left out.
    #[schemars(schema_with = "grpc_schema")]
    pub otlp_endpoint: Option<String>,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self { log_format: LogFormat::default(), log_level: "info".to_owned(), otlp_endpoint: None }
    }
}

/// Form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Addresses of other roles; a role without addresses is looked for in this process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PeersConfig {
    /// The provider adapters, over which calls are balanced.
    #[schemars(schema_with = "peers_schema")]
    pub adapter: Vec<String>,
    /// The budget services, which know tenants, keys and budgets.
    #[schemars(schema_with = "peers_schema")]
    pub budget: Vec<String>,
    /// The caches, which routers ask for answers that were given before.
    #[schemars(schema_with = "peers_schema")]
    pub cache: Vec<String>,
    /// The ingesters, which budget services compare the ledger with.
    #[schemars(schema_with = "peers_schema")]
    pub ingest: Vec<String>,
    /// The routers, which the batch lane asks which models an item may go to.
    #[schemars(schema_with = "peers_schema")]
    pub router: Vec<String>,
}

impl PeersConfig {
    /// The addresses of every role, with its name.
    pub fn each(&self) -> [(&'static str, &[String]); 5] {
        [
            ("adapter", &self.adapter),
            ("budget", &self.budget),
            ("cache", &self.cache),
            ("ingest", &self.ingest),
            ("router", &self.router),
        ]
    }
}

/// Retries and switches when a vendor fails.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FailoverConfig {
    /// Wait before the quick retry at the same vendor.
    #[schemars(schema_with = "delay_schema")]
    pub quick_retry_delay: HumanDuration,
    /// Quick retries at the same vendor.
    #[schemars(range(min = 0, max = 3))]
    pub max_same_vendor_retries: u32,
    /// Switches to another candidate.
    #[schemars(range(min = 0, max = 10))]
    pub max_switches: u32,
    /// How long requests wait for an adapter in another process when none can be reached, within their own time. An
    /// adapter that is restarted within it costs no request that had not begun to stream.
    #[schemars(schema_with = "delay_schema")]
    pub adapter_patience: HumanDuration,
}

impl Default for FailoverConfig {
    fn default() -> Self {
        Self {
            quick_retry_delay: HumanDuration::millis(100),
            max_same_vendor_retries: 1,
            max_switches: 2,
            adapter_patience: HumanDuration::secs(10),
        }
    }
}

/// What a dollar is worth in euros.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeRateConfig {
    /// Euros for one dollar.
    pub usd_eur: Decimal,
    /// The day it is from.
    pub as_of: Date,
    /// Who says so.
    pub source: Option<String>,
}

/// The models of a tier, by name.
impl TiersConfig {
    /// Every tier with its name and targets.
    pub fn each(&self) -> [(&'static str, signalbox_types::Tier, &[TargetName]); 3] {
        use signalbox_types::Tier;
        [
            ("premium", Tier::Premium, &self.premium),
            ("standard", Tier::Standard, &self.standard),
            ("economy", Tier::Economy, &self.economy),
        ]
    }
}
