//! What processes really export, compared with what they register and with what rules and dashboards ask for.

use super::{
    expressions, families,
    traffic::{Everything, LUNA},
};
use serde_json::json;
use signalbox_api::v1::GenerateRequest;
use signalbox_testkit::{
    KEYS, NatsServer, Options, RedisServer, Signalbox, Topology, World,
    ask::{Mode, ask, request},
    eventually,
};
use std::collections::{BTreeMap, BTreeSet};

/// What needs a helper outside, a disk that fails or the like; the tests of those who count it make it happen.
const UNSEEN: [&str; 1] = ["signalbox_moderation_failures_total"];

/// Values that appear after something that takes long to happen: a vendor that recovers or makes one wait, a model that thinks.
const UNSEEN_VALUES: [&str; 6] = ["held_back", "reasoning", "recovering", "refused", "too_slow", "bypass"];

/// Series by the metric's name: each one's labels.
type Series = BTreeMap<String, BTreeSet<BTreeMap<String, String>>>;

/// Reads Prometheus' text format.
fn series(text: &str) -> Series {
    let mut series = Series::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((of, _value)) = line.rsplit_once(' ') else { continue };
        let (name, labels) = of.split_once('{').unwrap_or((of, ""));
        series.entry(name.to_owned()).or_default().insert(labels_of(labels.trim_end_matches('}')));
    }
    series
}

/// Reads `a="b",c="d"`. Values with commas or quotes in them are not among those that tests make.
fn labels_of(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs.map(|(label, value)| (label.to_owned(), value.trim_matches('"').to_owned())).collect()
}

/// The registered metric that a series is of.
fn family(name: &str) -> &str {
    let known = families();
    let suffix = ["_bucket", "_sum", "_count"].into_iter().find_map(|suffix| name.strip_suffix(suffix));
    suffix.filter(|histogram| known.contains_key(*histogram)).unwrap_or(name)
}

/// A router, adapters and a cache that speak over TLS, an ingester, NATS and Redis between them.
struct Distributed {
    world: World,
    ingester: Signalbox,
    nats: NatsServer,
    redis: RedisServer,
    _dir: tempfile::TempDir,
}

impl Distributed {
    async fn start() -> Self {
        let (nats, redis) = (NatsServer::start().await, RedisServer::start().await);
        let dir = tempfile::tempdir().unwrap();
        let own = json!({"nats": {"servers": [nats.url()]}, "usage": {"ingest": {"batch_interval": "50ms"}}});
        let config = dir.path().join("ingest.yaml");
        std::fs::write(&config, own.to_string()).unwrap();
        let ingester =
            Signalbox::serve(Options { config: Some(config), roles: "ingest", ..Options::default() }).await;
        let store = json!({"redis": {"url": redis.url()}});
        let common = json!({
            "nats": {"servers": [nats.url()]},
            "cache": {"enabled": true, "exact_timeout": "5s", "semantic_timeout": "5s", "store": store, "secret": {"env": "CACHE_SECRET"}},
        });
        let secret = ("CACHE_SECRET", "a secret of at least thirty-two characters");
        let keys: Vec<_> = KEYS.into_iter().chain([secret]).collect();
        let world = World::with_keys(Topology::Remote, common, &keys).await;
        Self { world, ingester, nats, redis, _dir: dir }
    }

    async fn engines_that_go_away_are_told(&mut self) {
        self.nats.kill().await;
        self.redis.kill().await;
        for gauge in ["signalbox_nats_connected", "signalbox_cache_redis_connected"] {
            eventually(gauge, || async {
                let text = self.text().await;
                let zero = format!("{gauge} 0");
                text.lines().any(|line| line == zero)
                    && !text.lines().any(|line| line == format!("{gauge} 1"))
            })
            .await;
        }
    }

    async fn text(&self) -> String {
        self.world.signalbox.metrics().await.text().to_owned() + self.ingester.metrics().await.text()
    }
}

#[tokio::test]
async fn every_metric_is_exported_with_its_labels_and_values_by_running_processes() {
    let everything = Everything::start().await;
    everything.happen().await;
    let mut distributed = Distributed::start().await;
    for mode in Mode::ALL {
        let asked = GenerateRequest { tenant_id: "acme".to_owned(), ..request(LUNA, "Hello?") };
        ask(&mut distributed.world.client(), mode, asked).await.unwrap();
    }
    eventually("the ingester stores what happened", || async {
        distributed.ingester.metrics().await.sum("signalbox_usage_events_total", &[("result", "stored")])
            >= 2.0
    })
    .await;
    let expected: BTreeSet<String> =
        families().into_keys().filter(|name| !UNSEEN.contains(&&**name)).collect();
    let seen = || async {
        let one = everything.world.signalbox.metrics().await.text().to_owned();
        series(&(one + &distributed.text().await))
    };
    eventually("every metric that is registered is seen", || async {
        let seen = seen().await;
        let seen: BTreeSet<String> = seen.keys().map(|name| family(name).to_owned()).collect();
        let missing: Vec<_> = expected.difference(&seen).collect();
        if !missing.is_empty() {
            println!("not seen yet: {missing:?}");
        }
        missing.is_empty()
    })
    .await;
    let seen = seen().await;
    labels_are_as_registered(&seen);
    values_are_compared_with_some_that_there_are(&seen);
    why_there_are_fallbacks_is_told(&seen);
    distributed.engines_that_go_away_are_told().await;
}

fn why_there_are_fallbacks_is_told(seen: &Series) {
    let has = |metric: &str, reason: &str| {
        let labels = [("vendor", "openai"), ("reason", reason)];
        let labels = labels.map(|(label, value)| (label.to_owned(), value.to_owned())).into();
        assert!(seen[metric].contains(&labels), "{metric}: {reason} in {:?}", seen[metric]);
    };
    has("signalbox_fallbacks_total", "VENDOR_ERROR");
    // A hedge was faster.
    has("signalbox_fallbacks_total", "CANCELLED");
    has("signalbox_candidates_left_out_total", "breaker_open");
}

fn labels_are_as_registered(seen: &Series) {
    let families = families();
    for (name, all) in seen {
        let family =
            families.get(family(name)).unwrap_or_else(|| panic!("{name} is not in `signalbox metrics`"));
        for labels in all {
            let names: BTreeSet<&String> = labels.keys().filter(|label| *label != "le").collect();
            assert_eq!(names, family.labels.iter().collect(), "{name}");
        }
    }
}

/// An alert that looks for a value which never comes is silent for ever.
fn values_are_compared_with_some_that_there_are(seen: &Series) {
    let mut wrong = Vec::new();
    for (metric, label, value) in expressions::compared() {
        // Reasons of errors have a test of their own, and what a variable stands for is chosen from what there is.
        let is_reason = value.chars().all(|c| c.is_ascii_uppercase() || "_.*".contains(c));
        let all = seen.get(&metric).into_iter().flatten();
        let found = all.clone().any(|labels| labels.get(&label) == Some(&value));
        let is_rare = UNSEEN_VALUES.contains(&&*value);
        if !is_reason && !is_rare && !value.starts_with('$') && all.count() > 0 && !found {
            wrong.push(format!("{metric} has no {label} of {value}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
