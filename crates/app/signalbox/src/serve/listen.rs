//! Where a process listens.

use super::{ServeArgs, access::Access};
use signalbox_kit::{
    access::AdminKey,
    config::{Config, ServerConfig},
    serve,
};
use std::{
    io,
    net::{SocketAddr, TcpListener},
};

/// The server's configuration with the command line laid over it. Where callers are not authenticated, only loopback is
/// safe. Roles always are where they have a listener of their own, and health tells nothing.
pub(super) fn addresses(args: &ServeArgs, config: &Config, access: &Access) -> Result<ServerConfig, String> {
    let configured = &config.server;
    if let (Some(address), None) = (args.internal_listen, &config.mtls) {
        return Err(format!(
            "--internal-listen {address}: roles have a listener of their own only where they show certificates: add \
             `mtls` to the configuration, or leave the flag out"
        ));
    }
    let server = ServerConfig {
        listen: args.listen.unwrap_or(configured.listen),
        internal_listen: args.internal_listen.unwrap_or(configured.internal_listen),
        health_listen: args.health_listen.or(configured.health_listen),
        metrics_listen: args.metrics_listen.unwrap_or(configured.metrics_listen),
        ..configured.clone()
    };
    if let Some((first, second)) = server.clash(config.mtls.is_some()) {
        return Err(format!(
            "server.{second} (or its flag) is taken by server.{first}; each needs its own port"
        ));
    }
    if server.listen.ip().is_loopback() || args.insecure_listen || access.is_certain() {
        return Ok(server);
    }
    Err(format!(
        "{} can be reached from other machines, and callers are not authenticated: listen on a loopback address; or \
         have callers authenticated, by setting {} in the environment or by making a first API key (`signalbox key \
         create`); or pass --insecure-listen where something in front authenticates them",
        server.listen,
        AdminKey::VARIABLE
    ))
}

fn not_bound(field: &str, address: SocketAddr, error: &io::Error) -> String {
    let flag = field.replace('_', "-");
    format!("cannot listen on {address} (server.{field}, or --{flag}): {error}")
}

/// What was bound.
pub(super) struct Listeners {
    /// One for each thread.
    pub(super) doors: Vec<Doors>,
    /// For probes.
    pub(super) health: Option<TcpListener>,
    /// For Prometheus.
    pub(super) metrics: TcpListener,
}

/// The listeners of a thread.
pub(super) struct Doors {
    /// For clients and operators.
    pub(super) public: TcpListener,
    /// For other roles, where those show certificates.
    pub(super) internal: Option<TcpListener>,
}

/// Where that is, free ports being known.
pub(crate) struct Addresses {
    pub(crate) public: SocketAddr,
    pub(crate) internal: Option<SocketAddr>,
    pub(crate) health: Option<SocketAddr>,
    pub(crate) metrics: SocketAddr,
}

impl Listeners {
    /// Binds all of them, with some for roles where those show certificates.
    pub(super) fn bind(server: &ServerConfig, by_certificates: bool, threads: usize) -> Result<Self, String> {
        let bind = |field, address, count| {
            serve::bind(address, count).map_err(|error| not_bound(field, address, &error))
        };
        let public = bind("listen", server.listen, threads)?;
        let internal = match by_certificates {
            true => bind("internal_listen", server.internal_listen, threads)?,
            false => Vec::new(),
        };
        let internal = internal.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
        let health = server.health_listen.map(|address| bind("health_listen", address, 1)).transpose()?;
        Ok(Self {
            doors: public
                .into_iter()
                .zip(internal)
                .map(|(public, internal)| Doors { public, internal })
                .collect(),
            health: health.into_iter().flatten().next(),
            metrics: TcpListener::bind(server.metrics_listen)
                .map_err(|error| not_bound("metrics_listen", server.metrics_listen, &error))?,
        })
    }

    pub(super) fn addresses(&self) -> Result<Addresses, String> {
        let of = |listener: &TcpListener| listener.local_addr().map_err(|error| error.to_string());
        let first = self.doors.first().ok_or("there is no listener")?;
        Ok(Addresses {
            public: of(&first.public)?,
            internal: first.internal.as_ref().map(of).transpose()?,
            health: self.health.as_ref().map(of).transpose()?,
            metrics: of(&self.metrics)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_told_with_the_setting_and_the_flag_that_name_it() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = other.local_addr().unwrap();
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = ServerConfig { listen: free, metrics_listen: taken, ..ServerConfig::default() };
        let told = Listeners::bind(&server, false, 1).err().unwrap();
        let expected = format!("cannot listen on {taken} (server.metrics_listen, or --metrics-listen): ");
        assert!(told.starts_with(&expected), "{told}");
    }
}
