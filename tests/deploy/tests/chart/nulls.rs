//! Helm takes a key that is set to null out of the values, and with it what the chart checks. What has to be there is refused
//! by name when it is not.

use serde_json::{Map, Value, json};
use signalbox_deploy::{
    helm::{CHART, Helm},
    yaml,
};
use std::collections::{BTreeMap, BTreeSet};

/// What may be taken away: it means something then.
fn is_free(path: &str) -> bool {
    let free = ["/config", "/podSecurityContext/", "/defaults/hpa/behavior", "/grafanaDashboards/labels/"];
    free.iter().any(|start| path.starts_with(start))
        || path.contains("/resources/")
        || path.ends_with("/targetCPUUtilizationPercentage")
        || path.ends_with("/rollingUpdate")
        || path.contains("/rollingUpdate/")
}

/// Sets every key at a depth to null, where its default is something, and notes section and key.
fn without(values: &Value, at: &str, depth: usize, taken: &mut BTreeMap<String, BTreeSet<String>>) -> Value {
    let mut left = Map::new();
    for (name, value) in values.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
        let path = format!("{at}/{name}");
        if is_free(&path) || path.starts_with("/deployments/") {
            continue;
        }
        if depth > 0 {
            left.insert(name.clone(), without(value, &path, depth - 1, taken));
        } else {
            taken.entry(at.to_owned()).or_default().insert(name.clone());
            left.insert(name.clone(), Value::Null);
        }
    }
    match values {
        Value::Object(_) => Value::Object(left),
        other => other.clone(),
    }
}

/// A file of values without the keys at a depth, and what is told of it has to name each.
fn assert_each_is_missed(values: &Value, depth: usize) -> usize {
    let mut taken = BTreeMap::new();
    let nulls = without(values, "", depth, &mut taken);
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    std::fs::write(file.path(), nulls.to_string()).unwrap();
    let message = Helm::Four.template(&[file.path()], &[]).unwrap_err();
    for (section, names) in &taken {
        for name in names {
            let told =
                |line: &str| line.contains(&format!("at '{section}'")) && line.contains(&format!("'{name}'"));
            assert!(message.lines().any(told), "{section}/{name}: {message}");
        }
    }
    taken.values().map(BTreeSet::len).sum()
}

#[test]
fn whatever_has_a_default_is_missed_when_it_is_taken_away() {
    let values = yaml(&format!("{CHART}/values.yaml"));
    let counts: Vec<usize> = (0..5).map(|depth| assert_each_is_missed(&values, depth)).collect();
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

#[test]
fn both_helms_name_what_is_missed() {
    let nulls = json!({
        "adminKey": null,
        "spool": {"maxBytes": null},
        "shutdown": {"preStopSeconds": null},
        "defaults": {"replicas": null, "hpa": {"minReplicas": null}},
        "mtls": {"certManager": {"issuerRef": null}},
        "deployments": {"router": {"replicas": null, "hpa": null}},
    });
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    std::fs::write(file.path(), nulls.to_string()).unwrap();
    for helm in Helm::BOTH {
        let message = helm.template(&[file.path()], &[]).unwrap_err();
        for name in
            ["adminKey", "maxBytes", "preStopSeconds", "replicas", "minReplicas", "issuerRef", "router"]
        {
            assert!(message.contains(name), "{helm:?} {name}: {message}");
        }
        assert!(!message.contains("nil pointer"), "{helm:?}: {message}");
    }
}
