//! What Kubernetes would refuse, or quietly leave out, is refused before anything is installed.

use super::{clashes::assert_told, refusals::refusal_of_all, vendors::split_takes};

/// What is set, and what the message has of it: the place, and what is wrong there.
const SHAPES: [(&str, &str, &str); 31] = [
    (r#"defaults.affinity.podAfinity={}"#, "/defaults/affinity", "podAfinity"),
    (
        r#"defaults.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution=[{"topologyKey":"a","labelSelectr":{}}]"#,
        "podAntiAffinity",
        "labelSelectr",
    ),
    (r#"defaults.hpa.behavior.scaledown={}"#, "behavior", "scaledown"),
    (
        r#"defaults.hpa.behavior.scaleUp={"policies":[{"type":"Pods","value":1}]}"#,
        "policies",
        "periodSeconds",
    ),
    (r#"defaults.hpa.metrics=[{"type":"Pods","pod":{}}]"#, "metrics/0", "pod"),
    (r#"defaults.extraEnvFrom=[{"secretRef":{"nme":"a"}},{}]"#, "extraEnvFrom/0", "nme"),
    (r#"defaults.priorityClassName="On Line""#, "extraEnvFrom/1", "secretRef"),
    (r#"defaults.revisionHistoryLimit=1"#, "priorityClassName", "On Line"),
    (r#"defaults.extraEnv=[{"name":"A","valueFrom":{"secretKey":{}}}]"#, "valueFrom", "secretKey"),
    (r#"defaults.tolerations=[{"keys":"a"}]"#, "tolerations/0", "keys"),
    (r#"defaults.hostAliases=[{"ip":"10.0.0.1"}]"#, "hostAliases/0", "hostnames"),
    (r#"defaults.strategy.rollingUpdates={}"#, "strategy", "rollingUpdates"),
    (r#"defaults.pdb.maxUnavailable="100%""#, "maxUnavailable", "100%"),
    (r#"defaults.nodeSelector={"a b":"c"}"#, "nodeSelector", "a b"),
    (r#"defaults.podLabels={"a":"c d"}"#, "podLabels/a", "c d"),
    (
        r#"defaults.topologySpread=[{"maxSkew":1,"topologyKey":"","whenUnsatisfiable":"ScheduleAnyway"}]"#,
        "topologyKey",
        "minLength",
    ),
    (r#"defaults.resources.requests.cpu="1.2.3""#, "requests/cpu", "1.2.3"),
    (r#"commonLabels={"Team!":"a"}"#, "commonLabels", "Team!"),
    (r#"commonAnnotations={"a b":"free text"}"#, "commonAnnotations", "a b"),
    (r#"adminKey.existingSecret.name="My Secret""#, "/adminKey/existingSecret/name", "My Secret"),
    (r#"cacheSecret.existingSecret.key="a/b""#, "/cacheSecret/existingSecret/key", "a/b"),
    (r#"server.tls.existingSecret.name="A""#, "/server/tls/existingSecret/name", "'A'"),
    (r#"imagePullSecrets=[{"name":"A_B"}]"#, "/imagePullSecrets/0/name", "A_B"),
    (r#"vendorKeys[0].existingSecret={"name":"A_B","key":"k"}"#, "/vendorKeys/0/existingSecret/name", "A_B"),
    (r#"serviceAccount.name="Shared""#, "/serviceAccount/name", "Shared"),
    (r#"image.tag="a b""#, "/image/tag", "a b"),
    (r#"server.listenAddress="127.0.0.1""#, "/server/listenAddress", "'0.0.0.0', '::'"),
    (r#"clickhouse.database="a; drop""#, "/clickhouse/database", "a; drop"),
    (r#"clickhouse.cluster="1st""#, "/clickhouse/cluster", "1st"),
    (r#"telemetry.logLevel="info,loud""#, "/telemetry/logLevel", "info,loud"),
    (r#"redis.ca={"existingSecret":{"key":"ca.crt"}}"#, "/redis/ca/existingSecret", "'name'"),
];

#[test]
fn what_kubernetes_does_not_know_is_refused_at_its_place() {
    let sets: Vec<&str> = SHAPES.iter().map(|(set, ..)| *set).collect();
    let message = refusal_of_all("split", &sets);
    for (set, place, wrong) in SHAPES {
        let told = message.lines().any(|line| line.contains(place) && line.contains(wrong));
        assert!(told, "{set}: {message}");
    }
}

#[test]
fn what_kubernetes_knows_is_taken() {
    split_takes(&[
        r#"defaults.affinity={"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","labelSelector":{"matchLabels":{"a":"b"}}}]}}"#,
        r#"defaults.hpa.metrics=[{"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"3"}}}]"#,
        r#"defaults.hpa.behavior={"scaleUp":{"selectPolicy":"Max","policies":[{"type":"Percent","value":50,"periodSeconds":30}]}}"#,
        r#"defaults.extraEnv=[{"name":"POD_IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}}]"#,
        r#"defaults.strategy={"type":"RollingUpdate","rollingUpdate":{"maxSurge":"25%","maxUnavailable":0}}"#,
        r#"commonLabels={"example.com/team":"news_1.0","empty":""}"#,
        r#"image.tag="v1.2.3-rc.1""#,
        r#"server.listenAddress="::""#,
        r#"telemetry.logLevel="warn,signalbox_router=debug,h2=off""#,
    ]);
}

#[test]
fn sizes_that_contradict_each_other_are_refused() {
    assert_told(
        "split",
        &[
            (
                r#"deployments.adapter.resources={"requests":{"cpu":"2500m","memory":"1.5Gi"},"limits":{"cpu":2,"memory":"1536Mi"}}"#,
                "deployments.adapter.resources.requests.cpu: is more than limits.cpu",
            ),
            (
                r#"deployments.cache.resources.requests.memory="3Gi""#,
                "deployments.cache.resources.requests.memory: is more than limits.memory",
            ),
            (
                r#"migrations.resources.requests.memory="1Gi""#,
                "migrations.resources.requests.memory: is more than limits.memory",
            ),
            (
                r#"serviceMonitor={"enabled":true,"interval":"5s","scrapeTimeout":"1m"}"#,
                "serviceMonitor.scrapeTimeout: is longer than serviceMonitor.interval",
            ),
            (
                r#"deployments.budget.pdb.maxUnavailable=2"#,
                "deployments.budget.pdb.maxUnavailable: all 2 pods could be away at once",
            ),
            (
                r#"deployments.router.replicas=50"#,
                "deployments.router.replicas: has no effect with hpa.enabled; give hpa.minReplicas",
            ),
            (
                r#"deployments.router.hpa.targetCPUUtilizationPercentage=null"#,
                "deployments.router.hpa.metrics: is empty",
            ),
            (
                r#"deployments.batch.enabled=false"#,
                "batch.postgresql.url: has no effect, since no deployment has the role batch",
            ),
        ],
    );
    let message = refusal_of_all("split", &[r#"deployments.adapter.resources.requests.cpu=3"#]);
    assert!(!message.contains("memory"), "{message}");
}
