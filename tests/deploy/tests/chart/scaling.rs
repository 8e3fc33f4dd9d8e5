//! How many pods there are, and how they come and go.

use super::manifests::{Faults, Manifests, list, text};

#[test]
fn budgets_for_disruption_are_there_where_there_is_more_than_one_pod_and_nowhere_else() {
    let mut faults = Faults::default();
    for manifests in Manifests::all() {
        for workload in manifests.workloads() {
            let name = text(workload, "/metadata/name");
            let scaled = manifests.find("HorizontalPodAutoscaler", name).is_some();
            let several = scaled || workload["spec"]["replicas"].as_u64().is_some_and(|pods| pods > 1);
            let budget = manifests.find("PodDisruptionBudget", name);
            faults.unless(budget.is_some() == several, || format!("{}: {name}", manifests.name));
            let same = budget.is_none_or(|budget| budget["spec"]["selector"] == workload["spec"]["selector"]);
            faults.unless(same, || format!("{}: the budget of {name} is for other pods", manifests.name));
        }
    }
    faults.assert_none();
}

#[test]
fn an_autoscaler_has_a_target_and_nobody_else_says_how_many_pods_that_has() {
    let mut seen = 0;
    for manifests in Manifests::all() {
        for scaler in manifests.of_kind("HorizontalPodAutoscaler") {
            let target = &scaler["spec"]["scaleTargetRef"];
            let workload = manifests.workloads().find(|workload| {
                workload["kind"] == target["kind"] && workload["metadata"]["name"] == target["name"]
            });
            let workload = workload.unwrap_or_else(|| panic!("{}: {target} is not there", manifests.name));
            assert!(workload["spec"]["replicas"].is_null(), "{}: {target}", manifests.name);
            assert!(!list(scaler, "/spec/metrics").is_empty(), "{}: {target}", manifests.name);
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} were looked at");
}

#[test]
fn what_is_kept_in_files_has_one_pod_that_is_gone_before_the_next_comes() {
    let small = Manifests::example("small");
    let workload = small.workloads().next().unwrap();
    assert_eq!(
        (workload["kind"].as_str(), workload["spec"]["replicas"].as_u64()),
        (Some("StatefulSet"), Some(1))
    );
    // Without volumes, a Deployment that never has two.
    let manifests = Manifests::example("bare");
    let workload = manifests.workloads().find(|workload| workload["metadata"]["name"] == "signalbox-on");
    assert_eq!(workload.unwrap()["spec"]["strategy"]["type"], "Recreate");
}

/// Kubernetes refuses one with both.
#[test]
fn a_deployment_that_replaces_all_its_pods_at_once_does_not_say_how_it_replaces_them_one_by_one() {
    let everything = Manifests::example("everything");
    let money = everything.find("Deployment", "llm-box-money").unwrap();
    assert_eq!(money["spec"]["strategy"], serde_json::json!({"type": "Recreate"}));
}

#[test]
fn volumes_outlive_pods_where_they_are_asked_for() {
    let persistence = Manifests::example("persistence");
    let kinds: Vec<(&str, &str)> = persistence
        .workloads()
        .map(|workload| (text(workload, "/metadata/name"), text(workload, "/kind")))
        .collect();
    // An ingester before ClickHouse has nothing to keep.
    assert_eq!(
        kinds,
        [
            ("signalbox-ingest", "Deployment"),
            ("signalbox-adapter", "StatefulSet"),
            ("signalbox-batch", "StatefulSet"),
            ("signalbox-router", "StatefulSet")
        ]
    );
    for workload in persistence.of_kind("StatefulSet") {
        let claim = &workload["spec"]["volumeClaimTemplates"][0];
        assert_eq!(claim["metadata"]["name"], "data");
        assert_eq!(claim["spec"]["storageClassName"], "fast");
        assert_eq!(workload["spec"]["persistentVolumeClaimRetentionPolicy"]["whenScaled"], "Retain");
    }
}
