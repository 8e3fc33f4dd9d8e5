//! The roles of Signalbox, each with a configuration of its own.

use crate::{
    Kind, Part, Purpose, Stack,
    certificates::Files,
    engines::USER,
    folder,
    launch::{Launch, built},
};
use serde_json::{Map, Value, json};
use signalbox_testkit::{KEYS, at_vendors, merge};

/// Variable in which roles find the key of their operator.
pub(crate) const ADMIN_KEY: &str = "SIGNALBOX_ADMIN_KEY";
/// Variable in which roles find the password of every engine.
const PASSWORD: &str = "ENGINES_PASSWORD";

pub(crate) fn prepare(stack: &Stack, part: Part) -> Result<Launch, String> {
    let file = stack.folder().config(part);
    // JSON is YAML.
    folder::write(&file, &format!("{:#}\n", configuration(stack, part)))?;
    let secrets = stack.secrets();
    let mut launch = Launch::of(built(stack, "signalbox")?)
        .args(["serve", "--role", part.kind.name(), "--config"])
        .args([file.display().to_string()])
        .env("SIGNALBOX_DATA_DIR", stack.folder().data(part).display().to_string())
        .env(ADMIN_KEY, &secrets.admin_key)
        .env(PASSWORD, &secrets.engines)
        .env("RUST_BACKTRACE", "1");
    let fit = stack.fit();
    match part.kind {
        Kind::Cache => {
            let secret = fit.map_or(&secrets.cache, |fit| &fit.cache_secret);
            launch = launch.env("SIGNALBOX_CACHE_SECRET", secret);
        }
        // They call the vendors, and nobody else has their keys.
        Kind::Adapter if fit.is_none() => {
            launch = KEYS.iter().fold(launch, |launch, (name, key)| launch.env(name, *key));
        }
        _ => {}
    }
    for (name, value) in fit.iter().flat_map(|fit| &fit.environment) {
        launch = launch.env(name, value);
    }
    Ok(launch)
}

/// The configuration of one process.
fn configuration(stack: &Stack, part: Part) -> Value {
    let mut config = everybodys(stack);
    if part.kind == Kind::Adapter {
        let vendors = Part { kind: Kind::Vendors, number: 1 };
        let vendors = at_vendors(stack.ports().address(vendors, Purpose::Clients));
        merge(&mut config, json!({"vendors": vendors["vendors"]}));
    }
    merge(&mut config, json!({"server": listeners(stack, part), "peers": peers(stack, part.kind)}));
    if stack.mtls() {
        let Files { certificate, key, authorities } = Files::of(stack.folder(), part);
        let mtls = json!({"certificate_file": certificate, "key_file": key, "ca_file": authorities});
        merge(&mut config, json!({"mtls": mtls}));
    }
    for over in [Some(stack.overlay()), stack.fit().map(|fit| &fit.overlay)].into_iter().flatten() {
        if !over.is_null() {
            merge(&mut config, over.clone());
        }
    }
    if part.kind == Kind::Cache {
        // Without it the role would have nothing to do, and end. Whether it is asked is the routers' business.
        merge(&mut config, json!({"cache": {"enabled": true}}));
    }
    config
}

/// What all have in common.
fn everybodys(stack: &Stack) -> Value {
    let port = |kind| stack.ports().of(Part { kind, number: 1 }, Purpose::Clients);
    let password = json!({"env": PASSWORD});
    let postgres = json!({"postgres": {
        "url": format!("postgres://{USER}@127.0.0.1:{}/postgres", port(Kind::Postgres)),
        "password": password,
    }});
    json!({
        "access": {"authentication": "required"},
        "nats": {"servers": stack.urls(Kind::Nats), "user": USER, "password": password, "max_bytes": 256 << 20},
        "redis": {"url": format!("redis://127.0.0.1:{}", port(Kind::Redis)), "password": password},
        "budgets": {"store": postgres},
        "batch": {"store": postgres, "window_wait": "2s", "poll_interval": "1s", "max_poll_interval": "10s"},
        "usage": {"store": {"clickhouse": {
            "url": format!("http://127.0.0.1:{}", port(Kind::ClickHouse)),
            "database": "signalbox",
            "user": USER,
            "password": password,
        }}},
        "drills": {"enabled": true},
        "vendors": patient(),
    })
}

/// Timeouts for people who wait, so that a drill can pass.
fn patient() -> Map<String, Value> {
    let timeouts = json!({"timeouts": {"connect": "3s", "first_byte": "5s", "idle": "10s", "total": "60s"}});
    ["openai", "anthropic", "gemini", "xai"]
        .map(|vendor| (vendor.to_owned(), timeouts.clone()))
        .into_iter()
        .collect()
}

fn listeners(stack: &Stack, part: Part) -> Value {
    let at = |purpose| stack.ports().address(part, purpose).to_string();
    let mut listeners = json!({"listen": at(Purpose::Clients), "metrics_listen": at(Purpose::Metrics)});
    if stack.mtls() {
        let more = json!({"internal_listen": at(Purpose::Internal), "health_listen": at(Purpose::Health)});
        merge(&mut listeners, more);
    }
    listeners
}

/// Whom a role calls.
fn peers(stack: &Stack, kind: Kind) -> Value {
    let whom: &[Kind] = match kind {
        Kind::Batch => &[Kind::Router, Kind::Adapter, Kind::Budget],
        Kind::Router => &[Kind::Adapter, Kind::Cache, Kind::Budget],
        Kind::Cache => &[Kind::Adapter, Kind::Budget],
        Kind::Budget => &[Kind::Ingest],
        _ => &[Kind::Budget],
    };
    let (scheme, purpose) =
        if stack.mtls() { ("https", Purpose::Internal) } else { ("http", Purpose::Clients) };
    let of = |kind: &Kind| {
        let url = |part| format!("{scheme}://{}", stack.ports().address(part, purpose));
        (kind.name().to_owned(), kind.parts().map(url).collect::<Value>())
    };
    whom.iter().map(of).collect::<Map<_, _>>().into()
}
