//! The connection to the server.

use crate::trust;
use clickhouse::Client;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client as Http, connect::HttpConnector},
    rt::TokioExecutor,
};
use std::{fmt, path::PathBuf, time::Duration};

/// How long a connection may take to be made.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Shorter than servers keep idle connections, which is 10 s, or 3 s with old settings.
const IDLE: Duration = Duration::from_secs(2);

/// Where the server is, who asks, and how tables are made.
#[derive(Clone)]
pub struct Options {
    /// HTTP address, as `http://host:8123` or `https://host:8443`.
    pub url: String,
    /// Database; made where it is missing.
    pub database: String,
    /// User.
    pub user: String,
    /// Password.
    pub password: String,
    /// File with certificates (PEM) to trust in place of the system's, where the address begins with `https`.
    pub ca_file: Option<PathBuf>,
    /// Name of the cluster whose nodes replicate the tables; none for one server. All ingesters must then write
    /// through one node at a time, for only that one surely knows what was stored a moment ago.
    pub cluster: Option<String>,
    /// Days that accounts and calls are kept after they count; none for ever. Sums are kept for ever; of
    /// windows that do not begin and end with whole hours, the edges are summed from accounts and go with them. Files
    /// are dropped whole, so an account may stay up to a month longer.
    pub retention_days: Option<u32>,
    /// How long after it was said a month is closed: longer than an insert takes, for one that has begun before may
    /// still add to it.
    pub closing_delay: Duration,
}

impl Options {
    /// As most want them.
    pub fn new(url: impl Into<String>, database: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            database: database.into(),
            user: "default".to_owned(),
            password: String::new(),
            ca_file: None,
            cluster: None,
            retention_days: None,
            closing_delay: Duration::from_secs(60),
        }
    }
}

/// Neither password nor address, which may hold one.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("database", &self.database)
            .field("user", &self.user)
            .field("ca_file", &self.ca_file)
            .field("cluster", &self.cluster)
            .field("retention_days", &self.retention_days)
            .field("closing_delay", &self.closing_delay)
            .finish_non_exhaustive()
    }
}

/// Options that no server could make work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// The address. It is not repeated, since it may hold a password.
    #[error(
        "the address is not of the form http://host:8123 or https://host:8443, without user and password"
    )]
    Address,
    /// The name of a database or a cluster.
    #[error("`{0}` is not a name: letters, digits and `_`, and no digit first")]
    Name(String),
    /// The certificates to trust.
    #[error("certificates {path}: {problem}")]
    Certificates {
        /// The file that has them, or has not.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// TLS.
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

pub(crate) fn client(options: &Options) -> Result<Client, OptionsError> {
    check(options)?;
    let client = Client::with_http_client(http(options)?)
        .with_url(&options.url)
        .with_user(&options.user)
        .with_password(&options.password)
        .with_product_info("signalbox", env!("CARGO_PKG_VERSION"));
    Ok(client)
}

fn check(options: &Options) -> Result<(), OptionsError> {
    let uri: http::Uri = options.url.parse().map_err(|_| OptionsError::Address)?;
    let spoken = matches!(uri.scheme_str(), Some("http" | "https"));
    let plain = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    if !(spoken && plain) || uri.query().is_some() {
        return Err(OptionsError::Address);
    }
    for name in [Some(&options.database), options.cluster.as_ref()].into_iter().flatten() {
        if !is_name(name) {
            return Err(OptionsError::Name(name.clone()));
        }
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

fn http<B>(options: &Options) -> Result<Http<HttpsConnector<HttpConnector>, B>, OptionsError>
where
    B: http_body::Body + Send,
    B::Data: Send,
{
    let mut tcp = HttpConnector::new();
    tcp.set_connect_timeout(Some(CONNECT_WITHIN));
    tcp.set_keepalive(Some(Duration::from_secs(60)));
    tcp.set_nodelay(true);
    tcp.enforce_http(false);
    let tls = trust::config(options)?;
    let connector =
        HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(tcp);
    Ok(Http::builder(TokioExecutor::new()).pool_idle_timeout(IDLE).build(connector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_never_shown_with_their_password() {
        let mut options = Options::new("http://u:hunter2@host:8123", "d");
        options.password = "hunter2".to_owned();
        assert!(!format!("{options:?}").contains("hunter2"));
    }

    #[test]
    fn an_address_that_cannot_be_used_is_not_repeated() {
        for url in
            ["http://u:hunter2@host:8123", "tcp://hunter2:9000", "hunter2", "http://h/?password=hunter2"]
        {
            let error = client(&Options::new(url, "d")).err().unwrap();
            assert_eq!(error, OptionsError::Address, "{url}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn a_name_that_is_not_one_is_said() {
        let error = client(&Options::new("http://h:8123", "d; DROP DATABASE x")).err().unwrap();
        assert!(error.to_string().contains("DROP"), "{error}");
    }

    #[test]
    fn a_server_may_be_spoken_to_by_tls() {
        assert!(client(&Options::new("https://h:8443", "d")).is_ok());
    }
}
