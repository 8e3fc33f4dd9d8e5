//! signalbox.yaml: what the chart writes into it, that the program takes it, and what a change of it does.

use super::manifests::{Faults, Manifests, Pod, list, text};
use serde_json::{Value, json};
use signalbox_deploy::{
    documents,
    helm::{CHART, Helm, values_files},
    read, yaml,
};
use signalbox_testkit::built;
use std::{collections::BTreeSet, fs, process::Command};

/// What is in the environment where it is needed.
const SECRETS: [&str; 5] = [
    "SIGNALBOX_ADMIN_KEY",
    "SIGNALBOX_CACHE_SECRET",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "MODERATION_API_KEY",
];

/// The configuration of the pods that serve.
pub(crate) fn of(manifests: &Manifests) -> Value {
    let config =
        manifests.of_kind("ConfigMap").find(|config| text(config, "/metadata/name").ends_with("-config"));
    serde_saphyr::from_str(text(config.unwrap(), "/data/signalbox.yaml")).unwrap()
}

#[test]
fn the_program_takes_every_configuration_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signalbox.yaml");
    let mut checked = 0;
    for manifests in Manifests::all() {
        let configs = manifests.of_kind("ConfigMap").map(|config| text(config, "/data/signalbox.yaml"));
        for config in configs.filter(|config| !config.is_empty()) {
            fs::write(&path, config).unwrap();
            let mut check = Command::new(built("signalbox"));
            check.arg("check-config").arg(&path).env_clear();
            for secret in SECRETS {
                check.env(secret, "0123456789abcdef0123456789abcdef");
            }
            let output = check.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {said}", manifests.name);
            let warnings = said.lines().skip_while(|line| !line.starts_with("warnings")).skip(1);
            // Prometheus asks from elsewhere, and certificates are in pods.
            let known = |line: &&str| {
                line.contains(": server.metrics_listen: ")
                    || line.contains(": /etc/signalbox-") && line.contains("No such file")
            };
            let odd: Vec<&str> = warnings.filter(|line| !known(line)).collect();
            assert!(odd.is_empty(), "{}: {odd:?}", manifests.name);
            checked += 1;
        }
    }
    assert!(checked >= 15, "only {checked} were checked");
}

#[test]
fn peers_are_the_services_of_roles_in_other_deployments() {
    let peers = |name| of(&Manifests::example(name))["peers"].clone();
    let at = |role: &str| json!([format!("http://signalbox-{role}:50051")]);
    assert_eq!(peers("small"), Value::Null);
    assert_eq!(
        peers("split"),
        json!({"adapter": at("adapter"), "budget": at("budget"), "cache": at("cache"), "ingest": at("ingest"), "router": at("router")})
    );
    assert_eq!(
        peers("air-gapped"),
        json!({"adapter": at("adapter"), "budget": at("budget"), "ingest": at("ingest"), "router": at("router")})
    );
    let internal = |role: &str| json!([format!("https://signalbox-{role}:50052")]);
    assert_eq!(
        peers("mtls-cert-manager"),
        json!({"adapter": internal("adapter"), "budget": internal("budget"), "ingest": internal("ingest"), "router": internal("router")})
    );
}

#[test]
fn certificates_say_the_roles_of_their_process_and_nothing_else() {
    let manifests = Manifests::example("mtls-cert-manager");
    let certificates: Vec<&Value> = manifests.of_kind("Certificate").collect();
    let names: Vec<&str> = certificates.iter().map(|one| text(one, "/metadata/name")).collect();
    let made = ["batch", "ingest", "router"].map(|of| format!("signalbox-{of}-mtls"));
    assert_eq!(names, made, "the adapter's is from elsewhere");
    let uris = ["router", "budget", "cache"].map(|role| format!("spiffe://llm.example.com/{role}"));
    assert_eq!(certificates[2]["spec"]["uris"], json!(uris));
    assert_eq!(of(&manifests)["mtls"]["trust_domain"], "llm.example.com");
    for pod in manifests.serving() {
        let secret = list(pod.spec, "/volumes").iter().find(|volume| volume["name"] == "mtls").unwrap();
        let wanted = match pod.name() {
            "signalbox-adapter" => "adapter-from-vault",
            "signalbox-ingest" => "signalbox-ingest-mtls",
            "signalbox-batch" => "signalbox-batch-mtls",
            _ => "signalbox-router-mtls",
        };
        assert_eq!(text(secret, "/secret/secretName"), wanted);
        assert!(pod.has_port("internal"));
    }
}

/// Configuration and checksums with some values laid over the example `production`.
fn with(set: &str) -> (String, BTreeSet<String>) {
    let files = values_files(&format!("{CHART}/examples"));
    let production = files.iter().find(|file| file.ends_with("production.yaml")).unwrap();
    let more = ["--set-json", set];
    let text = Helm::Four.template(&[production], if set.is_empty() { &[] } else { &more }).unwrap();
    let objects = documents(&text);
    let checksums = objects.iter().filter_map(|object| {
        object.pointer("/spec/template/metadata/annotations/checksum~1config").and_then(Value::as_str)
    });
    let checksums = checksums.map(str::to_owned).collect();
    (of(&Manifests { name: String::new(), file: production.clone(), objects }).to_string(), checksums)
}

#[test]
fn pods_are_replaced_for_what_is_read_at_start_and_for_nothing_else() {
    let (before, checksums) = with("");
    assert_eq!(checksums.len(), 1, "all pods have one configuration");
    for (set, replaces) in [
        (r#"config.tenants={"sports":{"display_name":"Sport"}}"#, false),
        (r#"config.vendors={"xai":null}"#, false),
        (r#"config.aliases={"quick":{"targets":["openai/gpt-6-luna"]}}"#, false),
        (r#"config.task_types={"headline":{"max_output_tokens":90}}"#, false),
        (r#"config.cache={"defaults":{"ttl":"2h"}}"#, false),
        (r#"config.cache={"exact_timeout":"4ms"}"#, true),
        (r#"config.access={"reflection":false}"#, true),
        (r#"config.budgets={"lease_ttl":"30s"}"#, true),
        (r#"config.usage={"ingest":{"batch_events":100}}"#, true),
        (r#"config.batch={"window_wait":"5m"}"#, true),
        (r#"config.alerts={"enabled":false}"#, true),
        (r#"nats.servers=["tls://other:4222"]"#, true),
        (r#"telemetry.logLevel="debug""#, true),
        (r#"shutdown.longestStreamSeconds=301"#, true),
    ] {
        let (after, changed) = with(set);
        assert_ne!(after, before, "{set} changed nothing");
        assert_eq!(changed != checksums, replaces, "{set}");
    }
}

#[test]
fn the_sections_that_replace_pods_are_those_that_the_program_reads_at_start_only() {
    let schema = yaml("docs/signalbox.schema.json");
    let sections = schema["properties"].as_object().unwrap().iter();
    let at_start =
        sections.filter(|(_, section)| text(section, "/description").contains("Read at start only"));
    let at_start: BTreeSet<&str> = at_start.map(|(name, _)| name.as_str()).collect();
    let template = read(&format!("{CHART}/templates/_config.tpl"));
    let picked = template.lines().find(|line| line.contains("pick .config")).unwrap();
    let picked: BTreeSet<&str> = picked.split('"').skip(1).step_by(2).collect();
    // The cache's own section but for its defaults is added beside them.
    assert_eq!(picked, at_start);
    assert!(text(&schema, "/$defs/CacheConfig/description").contains("but for `defaults`"));
}

#[test]
fn a_pod_has_the_secrets_of_its_roles_and_no_others() {
    let mut faults = Faults::default();
    let manifests = Manifests::example("split");
    let variables = |pod: &Pod<'_>| -> BTreeSet<String> {
        let all = list(pod.main(), "/env").iter();
        let secret = all.filter(|variable| variable["valueFrom"].is_object());
        secret.map(|variable| text(variable, "/name").to_owned()).collect()
    };
    for pod in manifests.pods() {
        let wanted: &[&str] = match pod.name() {
            "signalbox-adapter" => &["OPENAI_API_KEY"],
            "signalbox-budget" => &["POSTGRES_PASSWORD"],
            "signalbox-batch" => &["BATCH_POSTGRES_PASSWORD"],
            "signalbox-migrate" => &["BATCH_POSTGRES_PASSWORD", "POSTGRES_PASSWORD"],
            "signalbox-cache" => &["SIGNALBOX_CACHE_SECRET"],
            _ => &[],
        };
        // Migrations call nobody.
        let shared = (pod.of["kind"] != "Job").then_some("SIGNALBOX_ADMIN_KEY");
        let wanted: BTreeSet<String> = wanted.iter().copied().chain(shared).map(str::to_owned).collect();
        let found = variables(&pod);
        faults.unless(found == wanted, || format!("{}: {found:?}", pod.name()));
    }
    faults.assert_none();
}

/// What upgrades of others broke on: a Job that had to be told everything a second time.
#[test]
fn migrations_have_what_the_services_have() {
    for name in ["everything", "persistence", "production", "air-gapped"] {
        let manifests = Manifests::example(name);
        let job = manifests.pods().find(|pod| pod.of["kind"] == "Job").unwrap();
        let budget = manifests.serving().find(|pod| pod.roles().contains(&"budget")).unwrap();
        for same in ["imagePullSecrets", "securityContext", "initContainers", "hostAliases", "tolerations"] {
            assert_eq!(job.spec[same], budget.spec[same], "{name}: {same}");
        }
        let (ours, theirs) = (job.main(), budget.main());
        for same in ["image", "imagePullPolicy", "envFrom", "securityContext", "command"] {
            assert_eq!(ours[same], theirs[same], "{name}: {same}");
        }
        let variable = |of: &Value, name: &str| {
            list(of, "/env").iter().find(|variable| variable["name"] == name).cloned()
        };
        for shared in ["POSTGRES_PASSWORD", "SSL_CERT_FILE"] {
            assert_eq!(variable(ours, shared), variable(theirs, shared), "{name}: {shared}");
        }
    }
}
