//! What cannot work is refused before anything is installed, and the message names the key.

use signalbox_deploy::helm::{CHART, Helm, values_files};
use std::path::PathBuf;

fn example(name: &str) -> PathBuf {
    let file = format!("{name}.yaml");
    values_files(&format!("{CHART}/examples")).into_iter().find(|path| path.ends_with(&file)).unwrap()
}

fn refusal(base: &str, set: &str) -> String {
    refusal_of_all(base, &[set])
}

pub(super) fn refusal_of_all(base: &str, sets: &[&str]) -> String {
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set-json", set]).collect();
    let refused = Helm::Four.template(&[&example(base)], &sets);
    refused.err().unwrap_or_else(|| panic!("{base} with {sets:?} was taken"))
}

/// What is set, and what the message has of it: the place, and the key or what would be right.
const SLIPS: [(&str, &str, &str); 19] = [
    (r#"replicaCount=3"#, "", "replicaCount"),
    (r#"image.tagg="1""#, "image", "tagg"),
    (r#"imagePullSecrets=[{"nme":"x"}]"#, "imagePullSecrets", "nme"),
    (r#"deployments.router.replica=3"#, "router", "replica"),
    (r#"deployments.adapter.hpa.maxReplica=3"#, "hpa", "maxReplica"),
    (r#"defaults.pdb.minAvailable=1"#, "pdb", "minAvailable"),
    (r#"redis.password.existingSecrt={}"#, "password", "existingSecrt"),
    (r#"postgresql.password.existingSecret.secretKey="x""#, "existingSecret", "secretKey"),
    (r#"vendorKeys=[{"env":"A","existingSecret":{"name":"a","kee":"b"}}]"#, "existingSecret", "kee"),
    (r#"networkPolicy.egress.postgres={}"#, "egress", "postgres"),
    (r#"mtls.certManager.issuer={}"#, "certManager", "issuer"),
    (r#"spool.persistence.storageclass="x""#, "persistence", "storageclass"),
    (r#"config.vendrs={}"#, "config", "vendrs"),
    (r#"config.vendors.openai.base_ulr="x""#, "openai", "base_ulr"),
    (r#"config.tenants.a.task_types.b.rooting={}"#, "b", "rooting"),
    (r#"service.type="ClusterIp""#, "type", "ClusterIP"),
    (r#"nats.servers=["http://nats:4222"]"#, "servers", "^(nats|tls)"),
    (r#"deployments.router.replicas="two""#, "replicas", "integer"),
    (r#"deployments.Router={}"#, "deployments", "Router"),
];

/// All in one, since helm tells all that is wrong: each line is about one.
#[test]
fn slips_are_refused_by_both_helms_naming_the_keys() {
    let sets: Vec<&str> = SLIPS.iter().flat_map(|(set, ..)| ["--set-json", set]).collect();
    for helm in Helm::BOTH {
        let message = helm.template(&[&example("split")], &sets).unwrap_err();
        for (set, place, key) in SLIPS {
            let told = message.lines().any(|line| line.contains(place) && line.contains(key));
            assert!(told, "{helm:?} {set}: {message}");
        }
    }
}

/// An example, what is set over it, and what is said of that.
const TOGETHER: &[(&str, &str, &str)] = &[
    (
        "split",
        r#"deployments.cache.roles=["cache","router"]"#,
        "deployments.router.roles: deployments.cache.roles has",
    ),
    ("split", r#"deployments.budget.enabled=false"#, "deployments: none has the role budget"),
    ("split", r#"deployments.cache.enabled=false"#, "or set config.cache.enabled to false"),
    (
        "split",
        r#"batch.postgresql.url="postgres://me@jobs/db",batch.postgresql.password.existingSecret.name="",postgresql.password.existingSecret.name="""#,
        "batch.postgresql.password.existingSecret.name: is needed with batch.postgresql.url",
    ),
    (
        "split",
        r#"batch.postgresql.url="postgres://me:secret@jobs/db""#,
        "batch.postgresql.url: holds a password",
    ),
    (
        "split",
        r#"config.batch={"store":{"sqlite":{}}}"#,
        "config.batch.store: is written by the chart; use the values batch.postgresql and postgresql",
    ),
    (
        "small",
        r#"deployments={"router":{"roles":["router","adapter","ingest","budget","cache"]},"batch":{"enabled":true}}"#,
        "batch needs one; add batch to deployments.router.roles in place of deployments.batch",
    ),
    ("split", r#"deployments.other={"replicas":1}"#, "deployments.other.roles: name at least one of router"),
    ("split", r#"config.cache.enabled=false"#, "deployments.cache.enabled: set it to false"),
    (
        "small",
        r#"deployments.router.replicas=2"#,
        "deployments.router.replicas: without postgresql.url and clickhouse.url",
    ),
    (
        "small",
        r#"deployments.router.hpa.enabled=true"#,
        "deployments.router.hpa.enabled: without postgresql.url",
    ),
    (
        "split",
        r#"clickhouse.url="",sqlite.retentionDays=90"#,
        "deployments.ingest: without clickhouse.url what it keeps is in a file, which each upgrade",
    ),
    (
        "split",
        r#"service.type="NodePort""#,
        "networkPolicy.clients: names pods alone, so that nobody outside of the cluster gets in",
    ),
    (
        "split",
        r#"deployments.a-name-that-is-long={"roles":["router"]}"#,
        "deployments.a-name-that-is-long: its name has 19 characters",
    ),
    (
        "mtls-cert-manager",
        r#"mtls.certManager.renewBefore="31h",mtls.certManager.duration="30h60m""#,
        "mtls.certManager.renewBefore: is no shorter than mtls.certManager.duration",
    ),
    ("split", r#"postgresql.url="""#, "deployments.budget.replicas: without postgresql.url"),
    (
        "split",
        r#"deployments.router.hpa.maxReplicas=2"#,
        "deployments.router.hpa.minReplicas: is more than maxReplicas",
    ),
    ("split", r#"nats.servers=[]"#, "nats.servers: is needed"),
    (
        "small",
        r#"clickhouse.retentionDays=90"#,
        "clickhouse.retentionDays: has no effect without clickhouse.url",
    ),
    (
        "small",
        r#"redis.password.existingSecret.name="x""#,
        "redis.password.existingSecret.name: has no effect without",
    ),
    (
        "small",
        r#"clickhouse.password.existingSecret.name="x""#,
        "clickhouse.password.existingSecret.name: has no effect without clickhouse.url",
    ),
    (
        "small",
        r#"batch.postgresql.password.existingSecret.name="x""#,
        "batch.postgresql.password.existingSecret.name: has no effect without batch.postgresql.url or postgresql.url",
    ),
    (
        "small",
        r#"cacheSecret.existingSecret.name="x""#,
        "cacheSecret.existingSecret.name: has no effect without cache.redis.url",
    ),
    ("small", r#"nats.maxBytes=1073741824"#, "nats.maxBytes: has no effect without nats.servers"),
    ("split", r#"sqlite.retentionDays=90"#, "sqlite.retentionDays: has no effect with clickhouse.url"),
    (
        "split",
        r#"deployments.batch.enabled=false"#,
        "batch.postgresql.password.existingSecret.name: has no effect, since no deployment has the role batch",
    ),
    (
        "split",
        r#"telemetry.otlpEndpoint="http://otel:4318/v1/traces""#,
        "telemetry.otlpEndpoint: is not an address without user, path and query",
    ),
    ("split", r#"nats.user="me""#, "nats.password.existingSecret.name: is needed with nats.user"),
    ("production", r#"nats.user="me""#, "nats.user: give either a user or nats.credentials"),
    ("split", r#"nats.password.existingSecret.name="x""#, "nats.user: is needed with nats.password"),
    ("split", r#"adminKey.existingSecret.name="""#, "adminKey.existingSecret.name: is needed"),
    (
        "split",
        r#"cacheSecret.existingSecret.name="""#,
        "cacheSecret.existingSecret.name: is needed with cache.redis.url",
    ),
    (
        "split",
        r#"postgresql.password.existingSecret.name="""#,
        "postgresql.password.existingSecret.name: is needed",
    ),
    ("split", r#"redis.user="me""#, "redis.password.existingSecret.name: is needed with redis.user"),
    ("split", r#"cache.redis.user="me""#, "cache.redis.password.existingSecret.name: is needed"),
    ("split", r#"clickhouse.user="me""#, "clickhouse.password.existingSecret.name: is needed"),
    ("split", r#"postgresql.url="postgres://me:secret@pg/db""#, "postgresql.url: holds a password"),
    ("split", r#"redis.url="redis://:secret@redis""#, "redis.url: holds a password"),
    ("split", r#"nats.servers=["nats://me:secret@nats:4222"]"#, "nats.servers[0]: holds a password"),
    (
        "split",
        r#"mtls.enabled=true"#,
        "deployments.adapter.mtls.existingSecret.name: is needed with mtls.enabled",
    ),
    (
        "split",
        r#"mtls.certManager.issuerRef.name="ca""#,
        "mtls.certManager.issuerRef: has no effect without mtls.enabled",
    ),
    ("split", r#"deployments.adapter.mtls.existingSecret.name="x""#, "has no effect without mtls.enabled"),
    (
        "mtls-cert-manager",
        r#"mtls.certManager.issuerRef.kind="Isuer""#,
        "mtls.certManager.issuerRef.kind: cert-manager has Issuer and ClusterIssuer",
    ),
    (
        "mtls-cert-manager",
        r#"defaults.mtls.existingSecret.name="x""#,
        "defaults.mtls.existingSecret.name: a certificate says",
    ),
    (
        "split",
        r#"server.tls.existingSecret.name="x""#,
        "server.tls.existingSecret.name: roles call each other in the clear",
    ),
    ("split", r#"image.tag="latest""#, "image.tag: `latest`"),
    ("split", r#"config.server={}"#, "config.server: is written by the chart; use the values server"),
    (
        "split",
        r#"config.peers={"adapter":["http://a:1"]}"#,
        "config.peers: is written by the chart; use the values deployments",
    ),
    ("split", r#"config.nats={}"#, "config.nats: is written by the chart"),
    (
        "split",
        r#"config.usage={"store":{"sqlite":{}}}"#,
        "config.usage.store: is written by the chart; use the values clickhouse",
    ),
    (
        "split",
        r#"config.cache={"store":{"memory":{}}}"#,
        "config.cache.store: is written by the chart; use the values cache.redis",
    ),
    (
        "split",
        r#"config.budgets={"store":{"sqlite":{}}}"#,
        "config.budgets.store: is written by the chart; use the values postgresql",
    ),
    (
        "split",
        r#"defaults.extraEnv=[{"name":"POSTGRES_PASSWORD"}]"#,
        "POSTGRES_PASSWORD is set by postgresql.password.existingSecret",
    ),
    (
        "split",
        r#"deployments.adapter.extraEnv=[{"name":"OPENAI_API_KEY"}]"#,
        "deployments.adapter.extraEnv: OPENAI_API_KEY is set by vendorKeys",
    ),
    (
        "split",
        r#"defaults.extraEnv=[{"name":"WEBHOOK_SECRET","value":"s3cr3t"}]"#,
        "defaults.extraEnv: WEBHOOK_SECRET looks like a secret",
    ),
    (
        "small",
        r#"deployments={"router":{"roles":["router","adapter","ingest","budget"]},"cache":{"roles":["cache"]}},config.cache.verifier="openai/gpt-6-luna""#,
        "an adapter beside a router serves that router alone",
    ),
];

#[test]
fn what_cannot_work_together_is_refused_naming_what_to_change() {
    for (base, set, told) in TOGETHER {
        let message = refusal(base, set);
        assert!(message.contains(told), "{base} with {set}: {message}");
        assert!(!message.contains("s3cr3t"), "{message}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    for helm in Helm::BOTH {
        let message = helm.template(&[], &[]).unwrap_err();
        for key in ["adminKey.existingSecret.name: ", "nats.servers: ", "deployments.router.replicas: "] {
            assert!(message.contains(key), "{helm:?}: {message}");
        }
    }
}
