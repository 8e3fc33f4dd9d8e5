//! Rules, dashboards and runbooks: they parse, they ask for what is really exported, and they lead to each other.

mod commands;
mod dashboards;
mod exported;
mod expressions;
mod pages;
mod promql;
mod promtool;
mod rules;
mod traffic;

use serde_json::Value;
use signalbox_deploy::yaml;
use signalbox_testkit::built;
use std::{collections::BTreeMap, process::Command};

/// The rules that are shipped.
const ALERTS: &str = "deploy/prometheus/alerts.yaml";

/// Every rule, as it is written.
fn written_rules() -> Vec<Value> {
    let file = yaml(ALERTS);
    let groups = file["groups"].as_array().unwrap().iter();
    groups.flat_map(|group| group["rules"].as_array().unwrap().clone()).collect()
}

/// A metric that the program registers.
#[derive(Debug, Clone)]
struct Family {
    kind: String,
    labels: Vec<String>,
    help: String,
}

/// What `signalbox metrics` lists, by name.
fn families() -> BTreeMap<String, Family> {
    let output = Command::new(built("signalbox")).args(["metrics", "--json"]).output().unwrap();
    let listed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let family = |listed: &Value| Family {
        kind: text(&listed["kind"]),
        labels: listed["labels"].as_array().unwrap().iter().map(text).collect(),
        help: text(&listed["help"]),
    };
    listed.iter().map(|listed| (text(&listed["name"]), family(listed))).collect()
}
