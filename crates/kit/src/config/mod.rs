//! The configuration file: read, laid over the built-in catalogue, checked, and watched for changes.
//!
//! One YAML file says everything. [`load`] gives either a whole good [`Loaded`] or every problem found, each with
//! file, line, column, field and what would be right. [`ConfigHandle`] keeps the last good one and takes over
//! changes while running, whole or not at all.

mod access;
mod addresses;
mod alerts;
mod batch;
mod budgets;
mod cache;
mod check;
mod content;
mod drills;
mod environment;
mod file;
mod heartbeat;
mod input;
mod load;
mod models;
mod nats;
pub(crate) mod nearest;
mod numbers;
mod overlay;
pub mod postgres;
mod problem;
mod prune;
mod routing;
mod sanity;
mod schema;
mod shape;
mod slow_stream;
mod tasks;
mod tenants;
mod tls;
mod tree;
mod usage;
mod values;
mod variables;
mod vendors;
mod watch;
mod words;

pub use access::{AccessConfig, AuthenticationConfig};
pub(crate) use addresses::is_http_url;
pub use alerts::{AlertRuleConfig, AlertsConfig, WebhookConfig};
pub use batch::{BatchConfig, BatchFileConfig, BatchStoreConfig};
pub use budgets::{BudgetFileConfig, BudgetStoreConfig, BudgetsConfig, PostgresConfig, RedisConfig};
pub use cache::{
    CacheConfig, CacheMemoryConfig, CacheRulesConfig, CacheStoreConfig, EmbedderChoice, JudgeConfig,
    SemanticConfig,
};
pub use content::{
    ContentActionConfig, ContentPlaceConfig, ContentPolicyConfig, ContentRuleConfig, ModerationActionConfig,
    ModerationConfig, OnErrorConfig,
};
pub use drills::DrillsConfig;
pub use environment::{Environment, Secret};
pub use file::{
    Config, ExchangeRateConfig, Extends, FailoverConfig, LogFormat, PeersConfig, ServerConfig,
    TelemetryConfig,
};
pub use heartbeat::{HeartbeatConfig, VendorHeartbeatConfig};
pub(crate) use input::read_file;
pub use load::{Loaded, load, load_text};
pub use models::{
    AliasConfig, AssumedQualityConfig, ModelConfig, PaceConfig, ParametersConfig, PriceConfig,
    PriceStepConfig, QualityConfig, TargetName, TiersConfig,
};
pub use nats::NatsConfig;
pub use numbers::{Power, Share};
pub use problem::{ConfigErrors, Located, Origin, Position, Problem};
pub use routing::{Greed, OrderConfig, RoutingConfig, WeightsConfig};
pub use schema::json_schema;
pub use slow_stream::SlowStreamConfig;
pub use tasks::{HedgeConfig, TaskTypeConfig, TemperaturePolicyConfig};
pub use tenants::{TenantConfig, TenantTaskConfig};
pub use tls::{MtlsConfig, ServerTlsConfig};
pub use usage::{
    ClickHouseConfig, IngestConfig, PlanConfig, SpoolConfig, SqliteConfig, UsageConfig, UsageStoreConfig,
    data_dir,
};

pub use values::{Age, Date, Decimal, HumanDuration, OneOrMany};
pub use vendors::{BaseUrl, FromEnvironment, KeySource, TimeoutsConfig, VendorConfig, VendorRateLimitConfig};
pub use watch::{ConfigHandle, ReloadStatus};

#[cfg(test)]
mod tests;
