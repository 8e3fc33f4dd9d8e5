//! Where a vendor lives.

use reqwest::Url;
use std::net::IpAddr;

/// A base URL that was found good.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// The base URL.
    base: Url,
    /// Its path, no trailing slash.
    path: String,
    /// Host and port, for messages.
    pub(super) authority: String,
    /// Whether it is this machine.
    pub(super) loopback: bool,
    /// Whether TLS is spoken.
    pub(super) tls: bool,
}

impl Endpoint {
    /// Reads a base URL. The error says what would be right, and does not repeat the URL: it may hold a secret.
    pub(super) fn parse(base_url: &str) -> Result<Self, String> {
        let url = Url::parse(base_url).map_err(|error| format!("base_url is not a URL: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("base_url must begin with http:// or https://".to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("base_url must not hold a user or password; use api_key".to_owned());
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("base_url must not have a query or fragment".to_owned());
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err("base_url must name a host".to_owned());
        };
        Ok(Self {
            path: url.path().trim_end_matches('/').to_owned(),
            authority: format!("{host}:{port}"),
            loopback: is_loopback(host),
            tls: url.scheme() == "https",
            base: url,
        })
    }

    /// The URL of a path, and perhaps a query, below the base. Host and port are not read anew for each call.
    pub(super) fn url(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.base.clone();
        url.set_path(&[self.path.as_str(), path].concat());
        url.set_query(query);
        url
    }
}

/// Whether a URL's host is this machine.
fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_keeps_its_path_and_loses_its_trailing_slash() {
        let endpoint = Endpoint::parse("https://vendor.example/openai/").unwrap();
        let url = endpoint.url("/v1/chat?alt=sse");
        assert_eq!(url.as_str(), "https://vendor.example/openai/v1/chat?alt=sse");
        assert_eq!(endpoint.authority, "vendor.example:443");
        assert!(endpoint.tls && !endpoint.loopback);
    }

    #[test]
    fn this_machine_is_known_by_any_of_its_names() {
        for url in [
            "http://127.0.0.1:1",
            "http://127.8.8.8",
            "http://[::1]:80",
            "http://[::ffff:127.0.0.1]",
            "http://LocalHost",
            "http://a.localhost",
        ] {
            assert!(Endpoint::parse(url).unwrap().loopback, "{url}");
        }
        for url in
            ["http://10.0.0.1", "http://[fe80::1]", "http://localhost.example", "http://127.0.0.1.example"]
        {
            assert!(!Endpoint::parse(url).unwrap().loopback, "{url}");
        }
    }

    #[test]
    fn an_unusable_base_url_is_refused_without_being_repeated() {
        for url in [
            "vendor.example/hunter2",
            "ftp://vendor.example/hunter2",
            "https://user:hunter2@vendor.example",
            "https://vendor.example?key=hunter2",
            "https://vendor.example#hunter2",
            "https://",
        ] {
            let problem = Endpoint::parse(url).unwrap_err();
            assert!(problem.starts_with("base_url") && !problem.contains("hunter2"), "{problem}");
        }
    }
}
