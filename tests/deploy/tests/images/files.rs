//! The files that containers read: each is good, and each name in it leads to a service that is there.

use super::compose::Compose;
use serde_json::Value;
use signalbox_deploy::{read, yaml};
use signalbox_testkit::{built, tool, workspace};
use std::{collections::BTreeSet, fs, process::Command};

/// Where a service takes connections.
fn ports(service: &str) -> &'static [u16] {
    match service {
        "router" | "adapter" | "ingest" => &[50051, 50053, 9464],
        "postgres" => &[5432],
        "redis" | "redis-cache" => &[6379],
        "nats" => &[4222, 8222],
        "clickhouse" => &[8123],
        "otel-collector" => &[4317, 8888, 13133],
        "prometheus" => &[9090],
        "grafana" => &[3000],
        other => panic!("no service is called {other}"),
    }
}

/// Every text in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Name and port of an address; nothing where it leads to the process itself.
fn destination(text: &str) -> Option<(&str, u16)> {
    let after = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = after.split('/').next()?.rsplit('@').next()?;
    let (name, port) = host.rsplit_once(':')?;
    let port = port.parse().ok()?;
    (!name.starts_with(|first: char| first.is_ascii_digit()) && name != "localhost").then_some((name, port))
}

fn leads_to_a_service(text: &str, file: &str, compose: &Compose) -> bool {
    let Some((name, port)) = destination(text) else { return false };
    assert!(compose.services().any(|service| service.name == name), "{file}: {text} leads to no service");
    assert!(ports(name).contains(&port), "{file}: {name} does not listen on {port}");
    true
}

#[test]
fn every_address_leads_to_a_service_and_a_port_that_it_listens_on() {
    let compose = Compose::read();
    for (file, count) in [
        ("deploy/signalbox.yaml", 8),
        ("deploy/prometheus/prometheus.yaml", 1),
        ("deploy/grafana/provisioning/datasources/prometheus.yaml", 1),
    ] {
        let value = yaml(file);
        let found = texts(&value).into_iter().filter(|text| leads_to_a_service(text, file, &compose)).count();
        assert!(found >= count, "{file}: only {found} addresses were found");
    }
}

#[test]
fn every_role_is_scraped_on_its_port_of_metrics() {
    let scrapes = yaml("deploy/prometheus/prometheus.yaml")["scrape_configs"].clone();
    let signalbox = scrapes.as_array().unwrap().iter().find(|job| job["job_name"] == "signalbox").unwrap();
    let looked_up = &signalbox["dns_sd_configs"][0];
    let names: BTreeSet<&str> = texts(&looked_up["names"]).into_iter().collect();
    let compose = Compose::read();
    let served = compose.roles().filter(|role| role.strings("command")[0] == "serve").map(|role| role.name);
    assert_eq!(names, served.collect());
    let listens = yaml("deploy/signalbox.yaml")["server"]["metrics_listen"].as_str().unwrap().to_owned();
    assert!(listens.ends_with(&format!(":{}", looked_up["port"])));
}

#[test]
fn promtool_finds_nothing() {
    let mut promtool = Command::new(tool("promtool"));
    let output = promtool
        .args(["check", "config"])
        .arg(workspace().join("deploy/prometheus/prometheus.yaml"))
        .output();
    let output = output.unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn the_configurations_are_good_and_all_there_is_to_warn_of_is_that_metrics_need_no_key() {
    for file in ["deploy/signalbox.yaml", "deploy/image.yaml"] {
        let mut check = Command::new(built("signalbox"));
        check.arg("check-config").arg(workspace().join(file)).env_clear();
        // As the roles have it together.
        Compose::read().roles().for_each(|role| _ = check.envs(role.environment()));
        let output = check.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("warnings    1") && said.contains("server.metrics_listen"), "{said}");
        assert!(said.contains("openai: simulated") && !said.contains("real"), "{said}");
    }
}

#[test]
fn the_collectors_pipelines_are_made_of_what_is_defined() {
    let collector = yaml("deploy/otel/collector.yaml");
    let defined =
        |kind: &str| -> BTreeSet<String> { collector[kind].as_object().unwrap().keys().cloned().collect() };
    let mut used: Vec<(&str, BTreeSet<String>)> = vec![("extensions", BTreeSet::new())];
    let extensions = texts(&collector["service"]["extensions"]).into_iter().map(str::to_owned);
    used[0].1.extend(extensions);
    for kind in ["receivers", "processors", "exporters"] {
        let pipelines = collector["service"]["pipelines"].as_object().unwrap().values();
        used.push((kind, pipelines.flat_map(|pipeline| texts(&pipeline[kind])).map(str::to_owned).collect()));
    }
    for (kind, used) in used {
        assert_eq!(used, defined(kind), "{kind}");
    }
    // What its image has: the collector's own distribution, with its core components.
    let core = ["otlp", "memory_limiter", "batch", "debug", "health_check"];
    for kind in ["receivers", "processors", "exporters", "extensions"] {
        assert!(defined(kind).iter().all(|name| core.contains(&name.as_str())), "{kind}");
    }
    let grpc = &collector["receivers"]["otlp"]["protocols"]["grpc"]["endpoint"];
    let sent = yaml("deploy/signalbox.yaml")["telemetry"]["otlp_endpoint"].clone();
    assert_eq!(destination(sent.as_str().unwrap()), Some(("otel-collector", 4317)));
    assert_eq!(grpc, "0.0.0.0:4317");
}

#[test]
fn grafana_finds_its_dashboards_and_they_find_their_source() {
    let compose = Compose::read();
    let mounts = compose.service("grafana").binds();
    let provider = yaml("deploy/grafana/provisioning/dashboards/signalbox.yaml");
    let path = provider["providers"][0]["options"]["path"].as_str().unwrap();
    let mount = mounts.iter().find(|mount| mount.target == path).unwrap();
    let source = yaml("deploy/grafana/provisioning/datasources/prometheus.yaml")["datasources"][0].clone();
    let mut dashboards = 0;
    for file in fs::read_dir(&mount.source).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let dashboard: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let mut uids = BTreeSet::new();
        sources(&dashboard, &mut uids);
        let own = uids.iter().filter(|uid| !uid.starts_with("${") && !uid.starts_with("--"));
        let own: Vec<_> = own.filter(|uid| uid.as_str() != "grafana").collect();
        assert!(
            own.iter().all(|uid| Some(uid.as_str()) == source["uid"].as_str()),
            "{}: {own:?}",
            file.display()
        );
        dashboards += 1;
    }
    assert!(dashboards > 0, "there is no dashboard in {}", mount.source.display());
}

/// The datasources that panels name.
fn sources(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| sources(item, found)),
        Value::Object(fields) => {
            let uid = fields.get("datasource").and_then(|source| source["uid"].as_str());
            found.extend(uid.map(str::to_owned));
            fields.values().for_each(|field| sources(field, found));
        }
        _ => {}
    }
}

#[test]
fn grafana_and_prometheus_read_what_is_shipped() {
    let compose = Compose::read();
    let targets: Vec<String> =
        compose.service("grafana").binds().into_iter().map(|bind| bind.target).collect();
    assert!(targets.contains(&"/etc/grafana/provisioning".to_owned()), "where Grafana looks");
    let prometheus = compose.service("prometheus");
    let mounts = prometheus.binds();
    let command = prometheus.strings("command");
    let file = command.iter().find_map(|argument| argument.strip_prefix("--config.file=")).unwrap();
    let inside = file.strip_prefix(&format!("{}/", mounts[0].target)).unwrap();
    assert!(mounts[0].source.join(inside).is_file());
    let rules = yaml("deploy/prometheus/prometheus.yaml")["rule_files"].clone();
    for rules in texts(&rules) {
        assert!(mounts[0].source.join(rules).is_file(), "{rules}");
    }
    assert!(read("deploy/prometheus/alerts.yaml").contains("alert:"));
}
