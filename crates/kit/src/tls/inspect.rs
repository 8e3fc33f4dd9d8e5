//! What is wrong with the files of a configuration, before anything is served with them.

use super::{FileProblem, Mtls, ServerTls, authorities, files::PemFile};
use crate::config::{Config, PostgresConfig, postgres::trusted_file};
use std::{path::PathBuf, time::SystemTime};

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Inspected {
    /// No process starts with that.
    pub faults: Vec<FileProblem>,
    /// A process may start with that: what nobody would believe, and what cannot be read here but may be elsewhere.
    pub warnings: Vec<FileProblem>,
}

/// Looks at the files of certificates that a configuration names, as at the start of a process.
pub fn inspect(config: &Config, now: SystemTime) -> Inspected {
    let server = config.server.tls.as_ref().map(|tls| ServerTls::inspect(tls, now));
    let mtls = config.mtls.as_ref().map(|mtls| Mtls::inspect(mtls, now));
    let stores = trusted_for_stores(config);
    let stores = stores.iter().map(|(field, path)| authorities::load(PemFile { field, path }).map(|_| None));
    let mut found = Inspected::default();
    for outcome in server.into_iter().chain(mtls).chain(stores) {
        match outcome {
            Ok(doubt) => found.warnings.extend(doubt),
            Err(problem) if problem.unread => found.warnings.push(problem),
            Err(problem) => found.faults.push(problem),
        }
    }
    found
}

/// The files by which databases and the like are known, each with the field that names it.
fn trusted_for_stores(config: &Config) -> Vec<(&'static str, PathBuf)> {
    let cache = config.cache.store.redis.as_ref();
    let clickhouse = config.usage.store.clickhouse.as_ref();
    let named = [
        ("redis.ca_file", &config.redis.ca_file),
        ("cache.store.redis.ca_file", cache.map_or(&None, |redis| &redis.ca_file)),
        ("usage.store.clickhouse.ca_file", clickhouse.map_or(&None, |clickhouse| &clickhouse.ca_file)),
        ("nats.ca_file", &config.nats.ca_file),
    ];
    let named = named.into_iter().filter_map(|(field, path)| Some((field, path.clone()?)));
    let stores = [
        ("budgets.store.postgres.url", &config.budgets.store.postgres),
        ("batch.store.postgres.url", &config.batch.store.postgres),
    ];
    let file = |(field, store): (_, &Option<PostgresConfig>)| {
        Some((field, trusted_file(&store.as_ref()?.url).ok()??))
    };
    stores.into_iter().filter_map(file).chain(named).collect()
}
