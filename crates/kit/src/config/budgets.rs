//! The file's sections about budgets: where tenants, keys and the ledger are kept, and how money is handed to routers.

use super::{
    Environment, KeySource, Secret,
    addresses::with_password,
    check::Findings,
    sanity::{check_file, check_key_source},
    tree::Cursor,
    values::{Decimal, HumanDuration, postgres_schema, redis_schema},
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{path::PathBuf, time::Duration};

/// Shorter, and a router would lose its leases to a pause.
const SHORTEST_TTL: HumanDuration = HumanDuration::secs(15);
/// Longer, and a dead router holds money for too long.
const LONGEST_TTL: HumanDuration = HumanDuration::secs(3600);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What tenants may spend. Tenants, keys and budgets themselves are made while running, by `signalbox tenant`, `key` and
/// `budget`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetsConfig {
    /// Where they are kept, and the ledger.
    pub store: BudgetStoreConfig,
    /// How long a router may spend what it was handed without a word from the budget service; 15s to 1h.
    pub lease_ttl: HumanDuration,
    /// Share of a budget that a router is handed at a time.
    #[schemars(range(min = 0.0001, max = 1))]
    pub slice_share: f64,
    /// The most it is handed at a time, in euros, unless a single request needs more.
    pub max_slice_eur: Decimal,
    /// How long what a dead router held waits for its accounts; what is then not accounted for counts as spent.
    pub write_off_after: HumanDuration,
    /// Days that single movements of the ledger are kept; for ever where left out. Balances, limits and the audit trail
    /// are kept for ever. No fewer than a reservation may live: then what is repeated is known, and a month can be
    /// reconciled all through the next.
    #[schemars(range(min = 62, max = 36_500))]
    pub retention_days: Option<u32>,
}

impl Default for BudgetsConfig {
    fn default() -> Self {
        Self {
            store: BudgetStoreConfig::default(),
            lease_ttl: HumanDuration::secs(60),
            slice_share: 0.01,
            max_slice_eur: Decimal(1_000_000),
            write_off_after: HumanDuration::secs(3600),
            retention_days: None,
        }
    }
}

impl BudgetsConfig {
    /// How long single movements are kept; `None` for ever.
    pub fn retention(&self) -> Option<Duration> {
        self.retention_days.map(|days| DAY * days)
    }

    /// The most that a router is handed at a time, in nano-EUR.
    pub fn max_slice_nano_eur(&self) -> i64 {
        i64::try_from(self.max_slice_eur.0.saturating_mul(1_000)).unwrap_or(i64::MAX)
    }
}

/// Where tenants, keys, budgets and the ledger are kept: in PostgreSQL where that is given, else in a file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetStoreConfig {
    /// A file, for one process.
    pub sqlite: Option<BudgetFileConfig>,
    /// A PostgreSQL server, for any number of processes.
    pub postgres: Option<PostgresConfig>,
}

/// A store in a file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetFileConfig {
    /// The file. Default: `budgets.db` in the data directory.
    pub path: Option<PathBuf>,
}

/// A store in PostgreSQL.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostgresConfig {
    /// Server, user and database, as in `postgres://signalbox@postgres:5432/signalbox`. `?sslmode=verify-full` demands an
    /// encrypted connection to who it says it is; `&sslrootcert=FILE` names certificates to trust.
    #[schemars(schema_with = "postgres_schema")]
    pub url: String,
    /// Where the user's password is.
    #[serde(default)]
    pub password: Option<KeySource>,
}

impl PostgresConfig {
    /// The address with the password in it, or what keeps that from being read.
    pub fn address(&self, env: &Environment) -> Result<Secret, String> {
        address(&self.url, None, self.password.as_ref(), env)
    }
}

/// An address with what its owner is to be told of who asks. A `user` of `None` stands in the address already.
fn address(
    url: &str,
    user: Option<&str>,
    password: Option<&KeySource>,
    env: &Environment,
) -> Result<Secret, String> {
    let Some(source) = password else { return Ok(Secret::new(url)) };
    let password = source.read(env).map_err(|problem| format!("password: {problem}"))?;
    Ok(Secret::new(with_password(url, user, password.expose())))
}

/// A Redis server, which counts the rates of requests and tokens over all processes. Without one each process with the
/// role `budget` counts for itself.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RedisConfig {
    /// Its address, as in `redis://redis:6379`, or `rediss://` for an encrypted connection; `/1` at the end names a
    /// database.
    #[schemars(schema_with = "redis_schema")]
    pub url: Option<String>,
    /// User; Redis' `default` where left out.
    pub user: Option<String>,
    /// Where the user's password is.
    pub password: Option<KeySource>,
    /// File with certificates (PEM) to trust in place of the system's.
    pub ca_file: Option<PathBuf>,
}

impl RedisConfig {
    /// The address with user and password in it, where there is one, or what keeps the password from being read.
    pub fn address(&self, env: &Environment) -> Result<Option<Secret>, String> {
        let user = Some(self.user.as_deref().unwrap_or_default());
        self.url.as_ref().map(|url| address(url, user, self.password.as_ref(), env)).transpose()
    }
}

pub(super) fn check(budgets: &BudgetsConfig, at: &Cursor<'_>, findings: &mut Findings) {
    let store = at.key("store");
    let path = budgets.store.sqlite.as_ref().and_then(|sqlite| sqlite.path.as_ref());
    check_file(path, &store.key("sqlite").key("path"), findings);
    if let Some(postgres) = &budgets.store.postgres {
        check_key_source(postgres.password.as_ref(), &store.key("postgres").key("password"), findings);
        if budgets.store.sqlite.is_some() {
            findings.fault(&store, "give either `sqlite` or `postgres`, not both");
        }
    }
    if !(SHORTEST_TTL..=LONGEST_TTL).contains(&budgets.lease_ttl) {
        let message = format!("{} is not from {SHORTEST_TTL} to {LONGEST_TTL}", budgets.lease_ttl);
        findings.fault(&at.key("lease_ttl"), message);
    } else if budgets.write_off_after < budgets.lease_ttl {
        let message =
            format!("{} is shorter than `lease_ttl`, {}", budgets.write_off_after, budgets.lease_ttl);
        findings.fault(&at.key("write_off_after"), message);
    }
    if budgets.max_slice_eur.0 == 0 {
        findings.fault(&at.key("max_slice_eur"), "must be above 0");
    }
}

pub(super) fn check_redis(redis: &RedisConfig, at: &Cursor<'_>, findings: &mut Findings) {
    check_key_source(redis.password.as_ref(), &at.key("password"), findings);
    if redis.user.is_some() && redis.password.is_none() {
        findings.fault(at, "`user` needs a `password`");
    }
    if redis.ca_file.is_some() && redis.url.as_ref().is_some_and(|url| !url.starts_with("rediss:")) {
        findings.fault(&at.key("ca_file"), "the connection is encrypted only where `url` begins with rediss");
    }
    let rest = redis.user.is_some() || redis.password.is_some() || redis.ca_file.is_some();
    if redis.url.is_none() && rest {
        findings.warn(at, "has no `url`, so the rest has no effect");
    }
}
