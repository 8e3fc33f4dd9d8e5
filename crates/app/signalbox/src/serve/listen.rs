//! Where a process may listen.

use super::{ServeArgs, access::Access};
use signalbox_kit::{access::AdminKey, config::ServerConfig, serve};
use std::net::{SocketAddr, TcpListener};

/// The server's configuration with the command line laid over it. Where callers are not authenticated, only loopback is
/// safe.
pub(super) fn addresses(
    args: &ServeArgs,
    configured: &ServerConfig,
    access: &Access,
) -> Result<ServerConfig, String> {
    let server = ServerConfig {
        listen: args.listen.unwrap_or(configured.listen),
        metrics_listen: args.metrics_listen.unwrap_or(configured.metrics_listen),
        ..configured.clone()
    };
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

/// A listener for gRPC for each thread, and the one for metrics.
pub(super) fn bind(server: &ServerConfig, threads: usize) -> Result<(Vec<TcpListener>, TcpListener), String> {
    let told = |address: SocketAddr| move |error| format!("cannot listen on {address}: {error}");
    let grpc = serve::bind(server.listen, threads).map_err(told(server.listen))?;
    let http = TcpListener::bind(server.metrics_listen).map_err(told(server.metrics_listen))?;
    Ok((grpc, http))
}
