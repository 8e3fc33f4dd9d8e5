//! The file's section about NATS.

use super::{
    Environment, KeySource, Secret, check::Findings, sanity::check_key_source, tree::Cursor,
    values::nats_servers_schema,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{net::IpAddr, path::PathBuf};

/// A NATS cluster, over which processes tell each other what they have seen. Without one each router asks its adapters.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NatsConfig {
    /// Servers of the cluster, as `nats://host:4222`, or `tls://host:4222` for an encrypted connection.
    #[schemars(schema_with = "nats_servers_schema")]
    pub servers: Vec<String>,
    /// File with the JWT and the seed of a user, as `nsc` writes it.
    pub credentials_file: Option<PathBuf>,
    /// User, where the servers want a password.
    pub user: Option<String>,
    /// Where its password is.
    pub password: Option<KeySource>,
    /// File with certificates (PEM) to trust in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// Copies of each account that the servers keep: three in a cluster and one without where left out.
    #[schemars(range(min = 1, max = 5))]
    pub replicas: Option<usize>,
    /// Bytes of accounts that the servers keep until they are stored; 1 GiB where left out. Beyond, accounts wait in the
    /// spools. The servers set them aside when the stream is made, and an eighth of it for accounts that cannot be stored.
    #[schemars(range(min = 1_048_576))]
    pub max_bytes: Option<u64>,
}

impl NatsConfig {
    /// User and password, or what keeps the password from being read.
    pub fn login(&self, env: &Environment) -> Result<Option<(String, Secret)>, String> {
        let (Some(user), Some(source)) = (&self.user, &self.password) else { return Ok(None) };
        Ok(Some((user.clone(), source.read(env)?)))
    }
}

pub(super) fn check(config: &NatsConfig, at: &Cursor<'_>, findings: &mut Findings) {
    check_key_source(config.password.as_ref(), &at.key("password"), findings);
    match (&config.user, &config.password) {
        (Some(_), None) => findings.fault(at, "`user` needs a `password`"),
        (None, Some(_)) => findings.fault(at, "`password` needs a `user`"),
        (Some(_), Some(_)) if config.credentials_file.is_some() => {
            findings.fault(&at.key("credentials_file"), "give either `credentials_file` or `user`, not both");
        }
        _ => {}
    }
    if config.ca_file.is_some() && config.servers.iter().any(|server| !server.starts_with("tls:")) {
        let message = "the connection is surely encrypted only where each of `servers` begins with tls";
        findings.fault(&at.key("ca_file"), message);
    }
    check_replicas(config, at, findings);
    let who = config.credentials_file.is_some() || config.user.is_some() || config.ca_file.is_some();
    let rest = who || config.replicas.is_some() || config.max_bytes.is_some();
    if config.servers.is_empty() && rest {
        findings.warn(at, "has no `servers`, so the rest has no effect");
    }
}

/// Of a host name nobody knows how many servers it stands for; of an address everybody does.
fn check_replicas(config: &NatsConfig, at: &Cursor<'_>, findings: &mut Findings) {
    let (named, replicas) = (config.servers.len(), config.replicas.unwrap_or(1));
    if named > 0 && named < replicas && config.servers.iter().all(|server| is_one_machine(server)) {
        let message = format!(
            "{replicas} copies need a cluster of as many servers, and `servers` names {named}; name them all, so that one \
             that is away at the start is no loss"
        );
        findings.warn(&at.key("replicas"), message);
    }
}

fn is_one_machine(server: &str) -> bool {
    let uri: Option<http::Uri> = server.parse().ok();
    uri.as_ref()
        .and_then(http::Uri::host)
        .is_some_and(|host| host == "localhost" || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok())
}
