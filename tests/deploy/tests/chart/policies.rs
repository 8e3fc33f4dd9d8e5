//! What every pod keeps to: Kubernetes' restricted profile, limits, probes that mean something, and no secret in the open.

use super::manifests::{Faults, Manifests, Pod, list, text};
use serde_json::{Value, json};
use signalbox_deploy::{helm::CHART, read, yaml};

/// Volumes that the restricted profile has.
const VOLUMES: [&str; 3] = ["configMap", "emptyDir", "secret"];

fn faults_of(pod: &Pod<'_>, faults: &mut Faults) {
    let of = pod.name();
    let security = &pod.spec["securityContext"];
    let user = security["runAsUser"].as_u64().unwrap_or_default();
    faults.unless(security["runAsNonRoot"] == true && user > 0, || format!("{of}: may be root"));
    faults.unless(security["seccompProfile"]["type"] == "RuntimeDefault", || {
        format!("{of}: no seccomp profile")
    });
    faults.unless(pod.spec["automountServiceAccountToken"] == false, || format!("{of}: has a token"));
    faults.unless(pod.spec["enableServiceLinks"] == false, || format!("{of}: gets variables of Services"));
    for host in ["hostNetwork", "hostPID", "hostIPC"] {
        faults.unless(pod.spec[host].is_null(), || format!("{of}: {host}"));
    }
    for volume in list(pod.spec, "/volumes") {
        let known = VOLUMES.iter().any(|kind| volume.get(kind).is_some());
        faults.unless(known, || format!("{of}: {volume} is not of the restricted profile"));
        let bounded = volume.get("emptyDir").is_none_or(|folder| folder["sizeLimit"].is_string());
        faults.unless(bounded, || format!("{of}: {volume} has no limit"));
    }
    for container in pod.containers() {
        container_faults(&format!("{of}/{}", text(container, "/name")), container, faults);
    }
}

fn container_faults(of: &str, container: &Value, faults: &mut Faults) {
    let security = &container["securityContext"];
    faults.unless(security["allowPrivilegeEscalation"] == false, || format!("{of}: may gain privileges"));
    faults.unless(security["readOnlyRootFilesystem"] == true, || format!("{of}: may write to its image"));
    faults.unless(security["capabilities"] == json!({"drop": ["ALL"]}), || format!("{of}: has capabilities"));
    for (kind, name) in [("requests", "cpu"), ("requests", "memory"), ("limits", "cpu"), ("limits", "memory")]
    {
        faults.unless(!container["resources"][kind][name].is_null(), || format!("{of}: no {kind} of {name}"));
    }
    let image = text(container, "/image");
    let tag = image.rsplit('/').next().unwrap_or_default().split_once([':', '@']).map(|(_, tag)| tag);
    faults.unless(tag.is_some_and(|tag| tag != "latest"), || format!("{of}: {image} may change"));
    for variable in list(container, "/env") {
        let name = text(variable, "/name");
        let secret = ["_KEY", "_SECRET", "_PASSWORD", "_TOKEN"].iter().any(|end| name.ends_with(end));
        let hidden = !secret || variable["valueFrom"]["secretKeyRef"].is_object();
        faults.unless(hidden, || format!("{of}: {name} stands in the open"));
    }
}

#[test]
fn every_pod_keeps_to_the_restricted_profile_and_to_limits() {
    let mut faults = Faults::default();
    for manifests in Manifests::all() {
        manifests.pods().for_each(|pod| faults_of(&pod, &mut faults));
    }
    faults.assert_none();
}

#[test]
fn every_pod_that_serves_is_probed_and_has_time_to_drain() {
    let mut faults = Faults::default();
    for manifests in Manifests::all() {
        let name = &manifests.name;
        let config = super::configuration::of(&manifests);
        let drain: u64 = text(&config, "/server/drain_timeout").trim_end_matches('s').parse().unwrap();
        for pod in manifests.serving() {
            let (of, container) = (format!("{name}: {}", pod.name()), pod.main());
            let health = json!({"port": 50053});
            faults.unless(container["readinessProbe"]["grpc"] == health, || {
                format!("{of}: not asked for health")
            });
            for probe in ["startupProbe", "livenessProbe"] {
                let asked = json!({"path": "/livez", "port": "metrics"});
                faults.unless(container[probe]["httpGet"] == asked, || format!("{of}: {probe}"));
            }
            let sleep = container["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().unwrap_or_default();
            let grace = pod.spec["terminationGracePeriodSeconds"].as_u64().unwrap_or_default();
            faults.unless(grace >= sleep + drain + 10, || {
                format!("{of}: {grace} s to sleep {sleep} s and drain {drain} s")
            });
        }
    }
    faults.assert_none();
}

#[test]
fn no_secret_is_rendered_ever() {
    for manifests in Manifests::all() {
        assert_eq!(manifests.of_kind("Secret").count(), 0, "{}", manifests.name);
        for config in manifests.of_kind("ConfigMap") {
            let said = config["data"].to_string();
            let shown = ["sk-", "sbx_", "BEGIN PRIVATE KEY", "BEGIN EC PRIVATE"]
                .iter()
                .any(|secret| said.contains(secret));
            assert!(!shown, "{}: {}", manifests.name, config["metadata"]["name"]);
        }
    }
}

/// Or a pod is gone before those who look names up know of the one in its place: common clusters' DNS keeps answers for 30
/// seconds, and a hop between roles asks every 5.
#[test]
fn a_pod_serves_on_until_everybody_has_looked_its_name_up_again() {
    let values = yaml(&format!("{CHART}/values.yaml"));
    assert!(values["shutdown"]["preStopSeconds"].as_u64().unwrap() >= 30 + 5);
    let hop = read("crates/kit/src/hop/balance.rs");
    assert!(
        hop.contains("const RESOLVE_EVERY: Duration = Duration::from_secs(5);"),
        "then it takes another time"
    );
}
