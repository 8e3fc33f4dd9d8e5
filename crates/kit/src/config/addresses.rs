//! Addresses of others, checked. One that is refused may carry a password, so none is repeated.

use super::postgres;
use crate::hop::check_peer_address;

/// Whether a text is an `http` or `https` address without credentials and query.
pub(crate) fn is_http_url(text: &str) -> bool {
    let uri: Option<http::Uri> = text.parse().ok();
    uri.is_some_and(|uri| {
        let plain = uri.query().is_none()
            && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        plain && matches!(uri.scheme_str(), Some("http" | "https")) && port_is_good(&uri)
    })
}

/// Whether there is no port, or one that can be connected to.
fn port_is_good(uri: &http::Uri) -> bool {
    let after_host = uri.authority().and_then(|authority| {
        let (_, place) = authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
        place.strip_prefix(authority.host())
    });
    after_host.unwrap_or_default().is_empty() || uri.port_u16().is_some_and(|port| port > 0)
}

pub(super) fn check_url(text: &str) -> Result<(), String> {
    if is_http_url(text) {
        Ok(())
    } else {
        let port = text.parse().is_ok_and(|uri| !port_is_good(&uri));
        let port = if port { " with a port from 1 to 65535" } else { "" };
        Err(format!(
            "not an http or https address{port} without user and query, as in https://api.example.com"
        ))
    }
}

/// Where gRPC is spoken: the method is the path, so what stands behind the host would be lost.
pub(super) fn check_grpc(text: &str) -> Result<(), String> {
    check_url(text)?;
    let bare = text.parse().is_ok_and(|uri: http::Uri| matches!(uri.path(), "" | "/"));
    if bare { Ok(()) } else { Err("has a path, and gRPC has none: write host and port alone".to_owned()) }
}

pub(super) fn check_peer(text: &str) -> Result<(), String> {
    check_grpc(text)?;
    check_peer_address(text).map_err(|error| error.problem().to_owned())
}

pub(super) fn check_nats_server(text: &str) -> Result<(), String> {
    let uri: Option<http::Uri> = text.parse().ok();
    let good = uri.is_some_and(|uri| {
        let bare = matches!(uri.path(), "" | "/") && uri.query().is_none();
        let named = uri
            .authority()
            .is_some_and(|authority| !authority.as_str().contains('@') && !authority.host().is_empty());
        bare && named && matches!(uri.scheme_str(), Some("nats" | "tls")) && port_is_good(&uri)
    });
    let problem = "not the address of a NATS server without user and path, as in nats://10.0.0.1:4222; who asks is \
                   said by `credentials_file`, or by `user` and `password`";
    if good { Ok(()) } else { Err(problem.to_owned()) }
}

pub(super) fn check_postgres(text: &str) -> Result<(), String> {
    let uri: Option<http::Uri> = text.parse().ok();
    let good = uri.is_some_and(|uri| {
        let user = uri.authority().and_then(|authority| authority.as_str().split_once('@'));
        let user =
            user.is_some_and(|(user, host)| !user.is_empty() && !user.contains(':') && !host.contains('@'));
        let database =
            uri.path().strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains('/'));
        let open = uri.query().is_none_or(|query| !query.contains("password"));
        user && database
            && open
            && matches!(uri.scheme_str(), Some("postgres" | "postgresql"))
            && port_is_good(&uri)
    });
    let problem = "not an address of PostgreSQL with user and database and without a password, as in \
                   postgres://signalbox@postgres:5432/signalbox; `password` says where the password is";
    if !good {
        return Err(problem.to_owned());
    }
    postgres::trusted_file(text).map(|_| ())
}

pub(super) fn check_redis(text: &str) -> Result<(), String> {
    let uri: Option<http::Uri> = text.parse().ok();
    let good = uri.is_some_and(|uri| {
        let database = uri.path().trim_start_matches('/');
        let bare = uri.query().is_none() && database.bytes().all(|byte| byte.is_ascii_digit());
        let named = uri
            .authority()
            .is_some_and(|authority| !authority.as_str().contains('@') && !authority.host().is_empty());
        bare && named && matches!(uri.scheme_str(), Some("redis" | "rediss")) && port_is_good(&uri)
    });
    let problem = "not the address of a Redis server without user and password, as in redis://redis:6379; `user` and \
                   `password` say who asks";
    if good { Ok(()) } else { Err(problem.to_owned()) }
}

/// An address with a password in it, for those who take no other. A `user` of `None` stands in it already.
pub(super) fn with_password(url: &str, user: Option<&str>, password: &str) -> String {
    let password = escaped(password);
    match (user, url.split_once("://")) {
        (Some(user), Some((scheme, rest))) => format!("{scheme}://{}:{password}@{rest}", escaped(user)),
        _ => url.replacen('@', &format!(":{password}@"), 1),
    }
}

/// A text as a part of an address, where some characters mean something.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().fold(String::new(), |escaped, byte| match plain(byte) {
        true => format!("{escaped}{}", char::from(byte)),
        false => format!("{escaped}%{byte:02X}"),
    })
}
