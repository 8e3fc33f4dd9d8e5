//! The connection to NATS, over which processes tell each other what they have seen and accounts travel.

use signalbox_kit::config::ConfigHandle;
use signalbox_nats::{Nats, NatsOptions, StreamOptions};

use crate::roles::Role;

/// Connects, where NATS is configured. It may be away.
pub(crate) async fn connect(config: &ConfigHandle, roles: &[Role]) -> Result<Option<Nats>, String> {
    let loaded = config.loaded();
    let nats = &loaded.config.nats;
    if nats.servers.is_empty() {
        return Ok(None);
    }
    let login = nats.login(config.environment()).map_err(|problem| format!("nats.password: {problem}"))?;
    let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    let options = NatsOptions {
        servers: nats.servers.clone(),
        credentials_file: nats.credentials_file.clone(),
        login: login.map(|(user, password)| (user, password.expose().to_owned())),
        ca_file: nats.ca_file.clone(),
        name: format!("signalbox {}", names.join(",")),
    };
    Nats::connect(options).await.map(Some).map_err(|error| format!("nats: {error}"))
}

/// How the servers keep accounts.
pub(crate) fn streams(config: &ConfigHandle) -> StreamOptions {
    let loaded = config.loaded();
    let (replicas, max_bytes) = (loaded.config.nats.replicas, loaded.config.nats.max_bytes);
    StreamOptions { replicas, max_bytes, ..StreamOptions::default() }
}
