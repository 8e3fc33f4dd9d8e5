//! Which vendors are real, which are simulated, and what is needed to call them.

use super::Catalog;
use crate::config::{
    BaseUrl, Environment, KeySource, Secret, TimeoutsConfig, VendorConfig, VendorRateLimitConfig, is_http_url,
};
use signalbox_types::VendorKind;
use std::{sync::Arc, time::Duration};

/// How long to wait for a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// From the request to the first byte of the answer.
    pub first_byte: Duration,
    /// Between two pieces of a stream.
    pub idle: Duration,
    /// For the whole call.
    pub total: Duration,
}

impl From<TimeoutsConfig> for Timeouts {
    fn from(config: TimeoutsConfig) -> Self {
        Self {
            connect: config.connect.0,
            first_byte: config.first_byte.0,
            idle: config.idle.0,
            total: config.total.0,
        }
    }
}

/// Everything needed to call a vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorSettings {
    /// Its name in the catalogue.
    pub name: Arc<str>,
    /// The wire format it speaks.
    pub kind: VendorKind,
    /// Its address; `None` for the kind's own. Means nothing for a simulated vendor.
    pub base_url: Option<String>,
    /// Its key; `None` where it needs none. Always `None` for a simulated vendor.
    pub key: Option<Secret>,
    /// Whether to call the simulator in its place.
    pub simulated: bool,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// Calls that run at once.
    pub max_concurrency: usize,
    /// Calls that may wait for one of those to end.
    pub max_queue: usize,
    /// How much of it our account may use.
    pub rate_limit: VendorRateLimitConfig,
}

impl Catalog {
    /// The vendors to serve with, given the environment.
    ///
    /// A vendor is configured when its key is there (or, without one in the catalogue, its address). Where none is,
    /// every vendor is simulated; else the configured ones are real and the others left out. So they are where the
    /// operator's file says where a key or an address is that is not there: answers are never made up for a slip.
    /// `simulate` in the catalogue decides for one vendor: `true` always simulates it, `false` never does.
    pub fn vendors(&self, env: &Environment) -> Vec<VendorSettings> {
        let found: Vec<_> =
            self.vendors.iter().map(|(name, config)| (name, config, self.connection(config, env))).collect();
        let any_real = found.iter().any(|(_, config, connection)| {
            (connection.is_some() || config.meant) && config.simulate != Some(true)
        });
        found
            .into_iter()
            .filter_map(|(name, config, connection)| settings(name, config, connection, any_real))
            .collect()
    }

    /// Address and key, where the vendor is configured.
    fn connection(&self, vendor: &VendorConfig, env: &Environment) -> Option<Connection> {
        let base_url = base_url(vendor, env);
        let key = vendor.api_key.as_ref().and_then(|source| self.key(source, env));
        // A server of one's own may need no key; a vendor whose key is declared cannot be called without it.
        let configured = match (vendor.kind, &vendor.api_key) {
            (VendorKind::Ollama | VendorKind::OpenaiCompatible, _) | (_, None) => base_url.is_some(),
            (_, Some(_)) => key.is_some(),
        };
        configured.then_some(Connection { base_url, key })
    }

    pub(super) fn key(&self, source: &KeySource, env: &Environment) -> Option<Secret> {
        if let Some(path) = &source.file {
            return self.keys.get(path).cloned();
        }
        let names = source.env.as_ref()?.as_slice();
        env.first(names.iter().map(String::as_str)).map(Secret::new)
    }
}

struct Connection {
    base_url: Option<String>,
    key: Option<Secret>,
}

fn settings(
    name: &Arc<str>,
    config: &VendorConfig,
    connection: Option<Connection>,
    any_real: bool,
) -> Option<VendorSettings> {
    let simulated = config.simulate.unwrap_or(!any_real);
    let Connection { base_url, key } = match connection {
        _ if simulated => Connection { base_url: None, key: None },
        connection => connection?,
    };
    Some(VendorSettings {
        name: name.clone(),
        kind: config.kind,
        base_url,
        key,
        simulated,
        timeouts: config.timeouts.into(),
        max_concurrency: config.max_concurrency,
        max_queue: config.max_queue,
        rate_limit: config.rate_limit,
    })
}

fn base_url(vendor: &VendorConfig, env: &Environment) -> Option<String> {
    let (_, written) = written_address(vendor, env)?;
    let url = match vendor.kind {
        VendorKind::Ollama => ollama_url(written),
        _ => written.to_owned(),
    };
    // Paths begin with the version, which many write as the end of the address.
    let url = url.trim_end_matches('/');
    let url = url.strip_suffix("/v1").unwrap_or(url).trim_end_matches('/');
    is_http_url(url).then(|| url.to_owned())
}

/// A vendor's address as somebody wrote it, and the variable that holds it if one does.
fn written_address<'a>(vendor: &'a VendorConfig, env: &'a Environment) -> Option<(Option<&'a str>, &'a str)> {
    match vendor.base_url.as_ref()? {
        BaseUrl::Literal(url) => Some((None, url)),
        BaseUrl::Environment(names) => {
            let names = names.env.as_slice().iter().map(String::as_str);
            env.first_named(names).map(|(name, url)| (Some(name), url))
        }
    }
}

/// The variable that holds a vendor's address, where that cannot be read.
pub(crate) fn unreadable_address<'a>(vendor: &'a VendorConfig, env: &'a Environment) -> Option<&'a str> {
    let (variable, _) = written_address(vendor, env)?;
    variable.filter(|_| base_url(vendor, env).is_none())
}

/// `OLLAMA_HOST` is also what an Ollama server binds to: scheme, host and port may be missing, and the address may be
/// one that means every interface.
fn ollama_url(written: &str) -> String {
    const PORT: &str = "11434";
    const EVERYWHERE: [(&str, &str); 2] = [("0.0.0.0", "127.0.0.1"), ("[::]", "[::1]")];
    let (scheme, host) = written.split_once("://").unwrap_or(("http", written));
    let host = host.trim_end_matches('/');
    let here =
        EVERYWHERE.iter().find_map(|(every, here)| Some(format!("{here}{}", host.strip_prefix(every)?)));
    let host = match here {
        Some(here) => here,
        None if host.starts_with(':') => format!("127.0.0.1{host}"),
        None => host.to_owned(),
    };
    let authority = host.split('/').next().unwrap_or_default();
    let has_port =
        authority.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let bare = authority == host && scheme == "http";
    if has_port || !bare { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{PORT}") }
}
