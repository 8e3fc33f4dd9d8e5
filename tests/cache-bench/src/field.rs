//! The processes that are measured.

use serde_json::{Value, json};
use signalbox_testkit::{KEYS, Options, RedisServer, Signalbox, Vendorsim, at_vendors, eventually, merge};
use std::{io, path::PathBuf, time::Duration};
use tempfile::TempDir;

/// The configuration over simulated vendors, with a cache.
pub(crate) fn config(vendors: &Vendorsim, change: Value) -> Value {
    let mut config = at_vendors(vendors.address());
    let cached = json!({
        "cache": {"enabled": true},
        "heartbeat": {"enabled": false},
        "routing": {"order": "listed"},
        "aliases": {"cheap": {"targets": [super::ask::MODEL]}},
    });
    for over in [cached, change] {
        merge(&mut config, over);
    }
    config
}

/// Answers in a Redis, as each process with the role `cache` has it.
pub(crate) fn in_redis(port: u16) -> Value {
    json!({"cache": {"store": {"redis": {"url": format!("redis://127.0.0.1:{port}")}}}})
}

/// Starts a process and waits until it takes calls.
pub(crate) async fn serve(
    folder: &TempDir,
    roles: &'static str,
    config: &Value,
) -> Result<Signalbox, io::Error> {
    let file: PathBuf = folder.path().join(format!("{}.yaml", roles.replace(',', "-")));
    std::fs::write(&file, config.to_string())?;
    let secret = [("SIGNALBOX_CACHE_SECRET", "a secret that nobody but these processes has")];
    let env = KEYS.iter().chain(&secret).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let options = Options { config: Some(file), roles, env: env.collect(), ..Options::default() };
    let signalbox = Signalbox::serve(options).await;
    if roles != "adapter" {
        eventually("it takes calls", || async { signalbox.ready().await.is_ok() }).await;
    }
    Ok(signalbox)
}

/// Routers that each keep answers beside them in one Redis, and an adapter.
pub(crate) struct Hall {
    pub(crate) redis: RedisServer,
    pub(crate) routers: Vec<Signalbox>,
    _rest: (Signalbox, Vendorsim, TempDir),
}

impl Hall {
    /// Vendors answer after `delay`.
    pub(crate) async fn open(routers: usize, delay: Duration) -> Result<Self, io::Error> {
        let (vendors, redis, folder) =
            (Vendorsim::serve(delay).await, RedisServer::start().await, tempfile::tempdir()?);
        let mut config = config(&vendors, in_redis(redis.port()));
        let adapter = serve(&folder, "adapter", &config).await?;
        merge(&mut config, json!({"peers": {"adapter": [format!("http://{}", adapter.address())]}}));
        let mut all = Vec::new();
        for _ in 0..routers {
            all.push(serve(&folder, "router,cache", &config).await?);
        }
        Ok(Self { redis, routers: all, _rest: (adapter, vendors, folder) })
    }
}
