//! Nothing that is named is missing: every port, mount, ConfigMap, Secret, account and pod.

use super::manifests::{Faults, Manifests, Pod, list, map, text};
use serde_json::Value;
use signalbox_deploy::{helm::CHART, yaml};
use std::collections::BTreeSet;

/// Every text in a value.
fn texts<'v>(value: &'v Value, into: &mut BTreeSet<&'v str>) {
    match value {
        Value::String(text) => drop(into.insert(text)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, into)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, into)),
        _ => {}
    }
}

/// Every (kind, name, key) that a pod takes from a ConfigMap or a Secret; a key of "" is all of them.
fn sources(pod: &Pod<'_>) -> Vec<(&'static str, String, String)> {
    let mut found = Vec::new();
    let mut add = |kind, at: &Value, name: &str| {
        if let Some(source) = at.as_object() {
            let items = source.get("items").and_then(Value::as_array);
            let key = source.get("key").and_then(Value::as_str).unwrap_or_default();
            let keys: Vec<&str> = items
                .map_or_else(|| vec![key], |items| items.iter().map(|item| text(item, "/key")).collect());
            let name = source.get(name).and_then(Value::as_str).unwrap_or_default();
            found.extend(keys.into_iter().map(|key| (kind, name.to_owned(), key.to_owned())));
        }
    };
    for volume in list(pod.spec, "/volumes") {
        add("ConfigMap", &volume["configMap"], "name");
        add("Secret", &volume["secret"], "secretName");
    }
    for container in pod.containers() {
        for variable in list(container, "/env") {
            add("ConfigMap", &variable["valueFrom"]["configMapKeyRef"], "name");
            add("Secret", &variable["valueFrom"]["secretKeyRef"], "name");
        }
        for from in list(container, "/envFrom") {
            add("ConfigMap", &from["configMapRef"], "name");
            add("Secret", &from["secretRef"], "name");
        }
    }
    for secret in list(pod.spec, "/imagePullSecrets") {
        add("Secret", secret, "name");
    }
    found
}

/// Whether helm brings the object before the hook that needs it.
fn comes_before(object: &Value, job: &Value) -> bool {
    let weight = |object: &Value| -> i64 {
        let hooks = &object["metadata"]["annotations"];
        assert_eq!(hooks["helm.sh/hook"], "pre-install,pre-upgrade");
        hooks["helm.sh/hook-weight"].as_str().and_then(|weight| weight.parse().ok()).unwrap()
    };
    weight(object) < weight(job)
}

#[test]
fn every_config_map_secret_and_account_is_there_in_time() {
    let mut faults = Faults::default();
    let defaults = yaml(&format!("{CHART}/values.yaml"));
    for manifests in Manifests::all() {
        let given: Value =
            serde_saphyr::from_str(&std::fs::read_to_string(&manifests.file).unwrap()).unwrap();
        let mut known = BTreeSet::from(["tls.crt", "tls.key", "ca.crt", ""]);
        texts(&given, &mut known);
        let mut keys = known.clone();
        texts(&defaults, &mut keys);
        for certificate in manifests.of_kind("Certificate") {
            known.insert(text(certificate, "/spec/secretName"));
        }
        for pod in manifests.pods() {
            let of = format!("{}: {}", manifests.name, pod.name());
            let hook = pod.of["kind"] == "Job";
            for (kind, name, key) in sources(&pod) {
                let there = match manifests.find(kind, &name) {
                    Some(object) => !hook || comes_before(object, pod.of),
                    None => known.contains(&*name) && keys.contains(&*key),
                };
                faults.unless(there, || format!("{of}: {kind} {name}, key {key}"));
            }
            let account = text(pod.spec, "/serviceAccountName");
            let there = match manifests.find("ServiceAccount", account) {
                Some(object) => !hook || comes_before(object, pod.of),
                None => known.contains(account),
            };
            faults.unless(there, || format!("{of}: account {account}"));
        }
    }
    faults.assert_none();
}

#[test]
fn every_mount_has_its_volume_and_every_volume_is_mounted_whole() {
    let mut faults = Faults::default();
    for manifests in Manifests::all() {
        for pod in manifests.pods() {
            let of = format!("{}: {}", manifests.name, pod.name());
            let names = |of: &'static str, at| list(at, of).iter().map(|item| text(item, "/name"));
            let volumes: BTreeSet<&str> = names("/volumes", pod.spec)
                .chain(
                    list(pod.of, "/spec/volumeClaimTemplates")
                        .iter()
                        .map(|claim| text(claim, "/metadata/name")),
                )
                .collect();
            let mounted: BTreeSet<&str> =
                pod.containers().flat_map(|container| names("/volumeMounts", container)).collect();
            faults.unless(volumes == mounted, || format!("{of}: {volumes:?} are not {mounted:?}"));
            for container in pod.containers() {
                let mounts = list(container, "/volumeMounts");
                // A file that is mounted alone never changes again.
                let whole = mounts.iter().all(|mount| mount["subPath"].is_null());
                faults.unless(whole, || format!("{of}: a file is mounted alone"));
                let paths: BTreeSet<&str> = mounts.iter().map(|mount| text(mount, "/mountPath")).collect();
                faults.unless(paths.len() == mounts.len(), || format!("{of}: two mounts at one place"));
                let variables = list(container, "/env");
                let once: BTreeSet<&str> = variables.iter().map(|variable| text(variable, "/name")).collect();
                faults.unless(once.len() == variables.len(), || format!("{of}: a variable is set twice"));
            }
        }
    }
    faults.assert_none();
}

#[test]
fn every_file_that_the_configuration_names_is_mounted_where_it_is_read() {
    let mut faults = Faults::default();
    for manifests in Manifests::all() {
        let config = super::configuration::of(&manifests);
        let mut all = BTreeSet::new();
        texts(&config, &mut all);
        let files = all.iter().map(|text| text.rsplit("sslrootcert=").next().unwrap());
        for file in files.filter(|file| file.starts_with("/etc/signalbox")) {
            let folder = file.rsplit_once('/').unwrap().0;
            let role = match folder.rsplit('/').next().unwrap() {
                "postgresql" | "redis" => "budget",
                "cache-redis" => "cache",
                "batch-postgresql" => "batch",
                "clickhouse" => "ingest",
                _ => "router",
            };
            for pod in manifests.serving().filter(|pod| pod.roles().contains(&role)) {
                let there =
                    list(pod.main(), "/volumeMounts").iter().any(|mount| mount["mountPath"] == folder);
                faults.unless(there, || format!("{}: {} has no {file}", manifests.name, pod.name()));
            }
        }
    }
    faults.assert_none();
}

#[test]
fn every_service_has_pods_and_ports_of_theirs() {
    let mut faults = Faults::default();
    for manifests in Manifests::all() {
        for service in manifests.of_kind("Service") {
            let of = format!("{}: {}", manifests.name, text(service, "/metadata/name"));
            let pods: Vec<Pod<'_>> =
                manifests.pods().filter(|pod| pod.is_selected_by(&service["spec"]["selector"])).collect();
            faults.unless(!pods.is_empty(), || format!("{of}: no pods"));
            faults.unless(pods.iter().all(|pod| pod.of["kind"] != "Job"), || format!("{of}: reaches a Job"));
            for port in list(service, "/spec/ports") {
                let name = text(port, "/targetPort");
                faults.unless(pods.iter().all(|pod| pod.has_port(name)), || format!("{of}: no port {name}"));
            }
        }
        for workload in manifests.of_kind("StatefulSet") {
            let service = text(workload, "/spec/serviceName");
            let headless =
                manifests.find("Service", service).is_some_and(|found| found["spec"]["clusterIP"] == "None");
            faults.unless(headless, || format!("{}: no headless Service {service}", manifests.name));
        }
    }
    faults.assert_none();
}

#[test]
fn pods_belong_to_one_deployment_each_and_are_scraped_once() {
    for manifests in Manifests::all() {
        for workload in manifests.workloads() {
            let selector = &workload["spec"]["selector"]["matchLabels"];
            let found = manifests.pods().filter(|pod| pod.is_selected_by(selector)).count();
            assert_eq!(found, 1, "{}: {}", manifests.name, workload["metadata"]["name"]);
        }
        for monitor in manifests.of_kind("ServiceMonitor") {
            let wanted = map(monitor, "/spec/selector/matchLabels");
            let scraped: Vec<&str> = manifests
                .of_kind("Service")
                .filter(|service| {
                    wanted.iter().all(|(name, value)| service["metadata"]["labels"].get(name) == Some(value))
                })
                .filter(|service| list(service, "/spec/ports").iter().any(|port| port["name"] == "metrics"))
                .map(|service| text(service, "/metadata/name"))
                .collect();
            assert_eq!(scraped.len(), 1, "{}: {scraped:?}", manifests.name);
        }
    }
}
