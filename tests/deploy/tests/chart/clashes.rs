//! What operators add is refused where the chart, or they themselves, have it already; and addresses that the program would
//! refuse are refused before there is a pod.

use super::refusals::refusal_of_all;

/// What is set, and what is told of it: all in one, since all problems are told at once.
pub(super) fn assert_told(base: &str, clashes: &[(&str, &str)]) {
    let sets: Vec<&str> = clashes.iter().map(|(set, _)| *set).collect();
    let message = refusal_of_all(base, &sets);
    for (set, told) in clashes {
        assert!(message.contains(told), "{set}: {message}");
    }
    assert!(!message.contains("s3cr3t"), "{message}");
}

#[test]
fn what_is_added_to_a_pod_is_not_what_the_chart_has_there() {
    assert_told(
        "split",
        &[
            (
                r#"defaults.extraVolumes=[{"name":"data"},{"name":"redis-ca"},{"name":"own"},{"name":"own"}]"#,
                "defaults.extraVolumes: data is the chart's own",
            ),
            (r#"defaults.nodeSelector={}"#, "defaults.extraVolumes: redis-ca is the chart's own"),
            (r#"defaults.affinity={}"#, "defaults.extraVolumes: has own twice"),
            (
                r#"deployments.cache.extraVolumeMounts=[{"name":"own","mountPath":"/etc/signalbox/"},{"name":"own","mountPath":"/a"},{"name":"own","mountPath":"/a/"},{"name":"lost","mountPath":"/b"}]"#,
                "deployments.cache.extraVolumeMounts: /etc/signalbox is the chart's own",
            ),
            (r#"deployments.cache.nodeSelector={}"#, "deployments.cache.extraVolumeMounts: has /a twice"),
            (
                r#"deployments.cache.affinity={}"#,
                "deployments.cache.extraVolumeMounts: there is no volume lost",
            ),
            (
                r#"deployments.adapter.extraInitContainers=[{"name":"signalbox","image":"a:1"}]"#,
                "deployments.adapter.extraInitContainers: signalbox is the chart's own",
            ),
            (
                r#"deployments.budget.extraEnv=[{"name":"A","value":"1"},{"name":"A","value":"2"}]"#,
                "deployments.budget.extraEnv: has A twice",
            ),
            (
                r#"deployments.ingest.podLabels={"role.signalbox/router":"true"}"#,
                "deployments.ingest.podLabels: role.signalbox/router is the chart's own",
            ),
            (
                r#"deployments.ingest.podAnnotations={"checksum/config":"x"}"#,
                "deployments.ingest.podAnnotations: checksum/config is the chart's own",
            ),
            (
                r#"commonLabels={"app.kubernetes.io/name":"x"}"#,
                "commonLabels: app.kubernetes.io/name is the chart's own",
            ),
            (
                r#"commonAnnotations={"helm.sh/hook":"pre-install"}"#,
                "commonAnnotations: helm.sh/hook is the chart's own",
            ),
            (
                r#"defaults.strategy.rollingUpdate={"maxSurge":"0%","maxUnavailable":0}"#,
                "defaults.strategy.rollingUpdate: with maxSurge and maxUnavailable at 0",
            ),
        ],
    );
}

#[test]
fn a_vendors_key_is_no_variable_that_means_something_else_and_is_given_once() {
    let key = |name: &str| format!(r#"{{"env":"{name}","existingSecret":{{"name":"v","key":"k"}}}}"#);
    let names = ["SIGNALBOX_ADMIN_KEY", "SIGNALBOX_LOG", "PATH", "NATS_PASSWORD", "A_KEY", "A_KEY"];
    let keys = format!("vendorKeys=[{}]", names.map(key).join(","));
    let message = refusal_of_all("split", &[&keys]);
    for name in &names[..4] {
        assert!(message.contains(&format!("vendorKeys: {name} is not a vendor's key")), "{message}");
    }
    assert!(message.contains("vendorKeys: has A_KEY twice"), "{message}");
}

#[test]
fn addresses_keep_to_the_rules_of_the_program() {
    assert_told(
        "split",
        &[
            (
                r#"nats.servers=["nats://s3cr3t@nats:4222","nats://nats:4222/x","tls://nats:70000","nats://[fd00::1]:4222","nats://a,b"]"#,
                "nats.servers[0]: is not an address without user, token and path",
            ),
            (r#"nats.maxBytes=null"#, "nats.servers[1]: is not an address without user"),
            (r#"nats.replicas=null"#, "nats.servers[2]: has a port that is not from 1 to 65535"),
            (
                r#"clickhouse.url="http://clickhouse:8123/?password=s3cr3t""#,
                "clickhouse.url: is not an address",
            ),
            (r#"redis.url="redis://s3cr3t@redis:6379""#, "redis.url: is not an address without user"),
            (r#"cache.redis.url="redis://cache:6379/zero""#, "cache.redis.url: is not an address"),
            (r#"postgresql.url="postgres://me@pg/db?password=s3cr3t""#, "postgresql.url: holds a password"),
            (
                r#"telemetry.otlpEndpoint="http://me:s3cr3t@otel:4317""#,
                "telemetry.otlpEndpoint: holds a password",
            ),
        ],
    );
    assert_told(
        "split",
        &[
            (
                r#"clickhouse.url="https://s3cr3t@clickhouse""#,
                "clickhouse.url: is not an address without user",
            ),
            (r#"postgresql.url="postgres://me@pg:0/db""#, "postgresql.url: has a port that is not from 1"),
        ],
    );
    let plain = [r#"clickhouse.ca={"existingSecret":{"name":"ca","key":"ca.crt"}}"#];
    assert!(
        refusal_of_all("split", &plain).contains("clickhouse.ca: has no effect unless clickhouse.url begins")
    );
}

#[test]
fn addresses_of_every_good_form_are_taken() {
    use signalbox_deploy::helm::{CHART, Helm, values_files};
    let split =
        values_files(&format!("{CHART}/examples")).into_iter().find(|file| file.ends_with("split.yaml"));
    let sets = [
        r#"nats.servers=["nats://a","tls://[fd00::1]:4222/"]"#,
        r#"clickhouse.url="https://clickhouse.example/behind/a/path@2""#,
        r#"redis.url="rediss://[fd00::2]:6379/3""#,
        r#"postgresql.url="postgresql://me@[fd00::3]:5432/db?sslmode=verify-full""#,
        r#"telemetry.otlpEndpoint="http://otel:4317""#,
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set-json", set]).collect();
    Helm::Four.template(&[&split.unwrap()], &sets).unwrap();
}
