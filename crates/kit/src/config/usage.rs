//! The file's sections about what was used: where accounts wait, where they are kept, and what plans include.

use super::{
    Environment, KeySource, Secret,
    check::Findings,
    file::Config,
    nearest::did_you_mean,
    sanity::{check_file, check_folder, check_key_source},
    tree::Cursor,
    values::{Decimal, HumanDuration, url_schema},
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

/// The account of every request: written to a local spool first, then brought to the store.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UsageConfig {
    /// Where accounts wait for the store.
    pub spool: SpoolConfig,
    /// Where they are kept.
    pub store: UsageStoreConfig,
    /// How they are brought there.
    pub ingest: IngestConfig,
}

/// The local log of accounts. Each process has its own.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpoolConfig {
    /// Its directory. Default: `spool` in the data directory.
    pub dir: Option<PathBuf>,
    /// Bytes that may wait. Beyond, requests are refused rather than not accounted for.
    #[schemars(range(min = 1_048_576))]
    pub max_bytes: u64,
    /// Share of them at which an alarm is raised.
    #[schemars(range(min = 0.01, max = 1))]
    pub alarm_at: f64,
    /// How often what was written is brought to the disk: what a loss of power may cost. The death of the process costs
    /// nothing.
    pub sync_interval: HumanDuration,
}

impl Default for SpoolConfig {
    fn default() -> Self {
        Self { dir: None, max_bytes: 1 << 30, alarm_at: 0.25, sync_interval: HumanDuration::secs(1) }
    }
}

/// Where accounts are kept: in ClickHouse where that is given, else in a file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UsageStoreConfig {
    /// A file, for a small team.
    pub sqlite: Option<SqliteConfig>,
    /// A ClickHouse server or cluster.
    pub clickhouse: Option<ClickHouseConfig>,
}

/// A store in a file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SqliteConfig {
    /// The file. Default: `usage.db` in the data directory.
    pub path: Option<PathBuf>,
    /// Days that single requests and calls are kept; for ever where left out. Sums are kept for ever.
    #[schemars(range(min = 62, max = 36_500))]
    pub retention_days: Option<u32>,
}

/// A store in ClickHouse.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClickHouseConfig {
    /// Address of its HTTP interface, as in `http://clickhouse:8123`.
    #[schemars(schema_with = "url_schema")]
    pub url: String,
    /// The database; made where it is missing.
    #[serde(default = "default_name")]
    #[schemars(length(min = 1))]
    pub database: String,
    /// User; ClickHouse's `default` where left out.
    #[serde(default)]
    pub user: Option<String>,
    /// Where the user's password is.
    #[serde(default)]
    pub password: Option<KeySource>,
    /// File with certificates (PEM) to trust in place of the system's.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// Name of the cluster whose nodes replicate the tables; none for one server. All ingesters must then write through
    /// one node at a time. Cannot be changed later.
    #[serde(default)]
    pub cluster: Option<String>,
    /// Days that single requests and calls are kept, up to a month longer; for ever where left out. Sums are kept for
    /// ever.
    #[serde(default)]
    #[schemars(range(min = 32, max = 36_500))]
    pub retention_days: Option<u32>,
}

fn default_name() -> String {
    "signalbox".to_owned()
}

impl ClickHouseConfig {
    /// The user's password, or what keeps it from being read.
    pub fn password(&self, env: &Environment) -> Result<Option<Secret>, String> {
        self.password.as_ref().map(|source| source.read(env)).transpose()
    }
}

/// How accounts are brought to the store.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IngestConfig {
    /// Most accounts that are stored at once; in a file never more than 1,000.
    #[schemars(range(min = 1, max = 100_000))]
    pub batch_events: usize,
    /// How long to wait for that many; at most 10s. Accounts are visible this long after a request's end.
    pub batch_interval: HumanDuration,
    /// Days after its end that a month is closed: its export never changes again, and what comes later counts in the
    /// month it comes in.
    #[schemars(range(min = 1, max = 28))]
    pub close_months_after_days: u32,
}

impl Default for IngestConfig {
    fn default() -> Self {
        Self { batch_events: 10_000, batch_interval: HumanDuration::secs(1), close_months_after_days: 3 }
    }
}

/// What a plan includes in a month. What is left out is not limited.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlanConfig {
    /// Requests.
    pub requests: Option<u64>,
    /// Tokens of every kind.
    pub tokens: Option<u64>,
    /// Cost in euros.
    pub cost_eur: Option<Decimal>,
}

/// Where a process keeps what must survive it: `$SIGNALBOX_DATA_DIR`, else `signalbox` under `$XDG_DATA_HOME`, else
/// `./signalbox-data`.
pub fn data_dir(env: &Environment) -> PathBuf {
    match (env.get("SIGNALBOX_DATA_DIR"), env.get("XDG_DATA_HOME")) {
        (Some(dir), _) => PathBuf::from(dir),
        (None, Some(home)) => PathBuf::from(home).join("signalbox"),
        (None, None) => PathBuf::from("signalbox-data"),
    }
}

/// Longer, and another ingester would take over what is waited with.
const LONGEST_BATCH: HumanDuration = HumanDuration::secs(10);

pub(super) fn check(config: &Config, root: &Cursor<'_>, findings: &mut Findings) {
    let (usage, at) = (&config.usage, root.key("usage"));
    let path = usage.store.sqlite.as_ref().and_then(|sqlite| sqlite.path.as_ref());
    check_file(path, &at.key("store").key("sqlite").key("path"), findings);
    check_folder(usage.spool.dir.as_ref(), &at.key("spool").key("dir"), findings);
    if let Some(clickhouse) = &usage.store.clickhouse {
        check_name(&clickhouse.database, &at.key("store").key("clickhouse").key("database"), findings);
        let at = at.key("store").key("clickhouse");
        if let Some(cluster) = &clickhouse.cluster {
            check_name(cluster, &at.key("cluster"), findings);
        }
        check_key_source(clickhouse.password.as_ref(), &at.key("password"), findings);
        if clickhouse.password.is_some() && clickhouse.user.is_none() {
            findings.fault(&at, "`password` needs a `user`");
        }
        if clickhouse.ca_file.is_some() && !clickhouse.url.starts_with("https:") {
            findings
                .fault(&at.key("ca_file"), "the connection is encrypted only where `url` begins with https");
        }
        if usage.store.sqlite.is_some() {
            findings.fault(&root.key("usage").key("store"), "give either `sqlite` or `clickhouse`, not both");
        }
    }
    let interval = usage.ingest.batch_interval;
    if interval > LONGEST_BATCH {
        let message = format!("{interval} is too long: at most {LONGEST_BATCH}");
        findings.fault(&at.key("ingest").key("batch_interval"), message);
    }
    for (name, plan) in &config.plans {
        if *plan == PlanConfig::default() {
            findings.warn(
                &root.key("plans").key(name),
                "includes nothing that is limited, so nothing is ever beyond it",
            );
        }
    }
    for (id, tenant) in &config.tenants {
        if let Some(plan) = tenant.plan.as_ref().filter(|plan| !config.plans.contains_key(*plan)) {
            let hint = did_you_mean(plan, config.plans.keys().map(String::as_str));
            let at = root.key("tenants").key(id).key("plan");
            findings.fault(&at, format!("no plan `{plan}` under `plans`{hint}"));
        }
    }
}

/// It stands in statements, so it is plain.
fn check_name(name: &str, at: &Cursor<'_>, findings: &mut Findings) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !name.bytes().all(plain) || name.starts_with(|first: char| first.is_ascii_digit()) {
        findings.fault(at, format!("`{name}` is not a name of letters, digits and _"));
    }
}
