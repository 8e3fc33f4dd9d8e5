//! What every alert has.

use super::{promtool, written_rules};
use serde_json::Value;
use signalbox_deploy::{read, yaml};
use signalbox_testkit::workspace;
use std::collections::BTreeSet;

/// The alerts, as they are written.
pub(super) fn alerts() -> Vec<(String, Value)> {
    let named = |rule: Value| Some((rule["alert"].as_str()?.to_owned(), rule));
    written_rules().into_iter().filter_map(named).collect()
}

#[test]
fn every_alert_says_how_urgent_it_is_what_happens_and_where_to_read_on() {
    for (name, rule) in alerts() {
        assert!(name.starts_with("Signalbox"), "{name}");
        let severity = rule["labels"]["severity"].as_str().unwrap_or_default();
        assert!(["page", "ticket"].contains(&severity), "{name}: severity {severity}");
        for annotation in ["summary", "description"] {
            assert!(
                rule["annotations"][annotation].as_str().is_some_and(|text| !text.is_empty()),
                "{name}: {annotation}"
            );
        }
        assert_eq!(rule["annotations"]["runbook_url"], *format!("docs/runbooks/{name}.md"), "{name}");
    }
}

#[test]
fn every_alert_has_a_page_and_every_page_an_alert() {
    let alerts: BTreeSet<String> = alerts().into_iter().map(|(name, _)| name).collect();
    let folder = std::fs::read_dir(workspace().join("docs/runbooks")).unwrap();
    let pages =
        folder.map(|page| page.unwrap().file_name().to_string_lossy().trim_end_matches(".md").to_owned());
    let pages: BTreeSet<String> = pages.filter(|page| page != "README").collect();
    assert_eq!(alerts, pages);
}

#[test]
fn every_alert_is_tested_to_fire_and_to_keep_silent() {
    let (mut firing, mut silent) = (BTreeSet::new(), BTreeSet::new());
    for file in promtool::tests() {
        let file = yaml(&file.strip_prefix(workspace()).unwrap().to_string_lossy());
        let tests = file["tests"].as_array().unwrap().iter();
        for check in tests.flat_map(|test| test["alert_rule_test"].as_array().unwrap()) {
            let name = check["alertname"].as_str().unwrap().to_owned();
            let fires = check["exp_alerts"].as_array().is_some_and(|alerts| !alerts.is_empty());
            if fires { &mut firing } else { &mut silent }.insert(name);
        }
    }
    let all: BTreeSet<String> = alerts().into_iter().map(|(name, _)| name).collect();
    assert_eq!(all.difference(&firing).collect::<Vec<_>>(), Vec::<&String>::new(), "never fire in a test");
    assert_eq!(
        all.difference(&silent).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "are never silent in a test"
    );
    assert_eq!(firing.difference(&all).collect::<Vec<_>>(), Vec::<&String>::new(), "are no alerts");
}

#[test]
fn installations_are_told_apart_by_rules_and_by_whoever_scrapes() {
    for rule in written_rules() {
        let expression = rule["expr"].as_str().unwrap();
        let mut of_namespaces =
            expression.split(" (namespace").skip(1).filter(|rest| !rest.starts_with("_job"));
        assert!(of_namespaces.all(|rest| rest.starts_with(", job")), "{expression}");
    }
    let compose = yaml("deploy/prometheus/prometheus.yaml");
    let jobs = compose["scrape_configs"].as_array().unwrap().iter();
    let ours: Vec<_> = jobs.filter(|job| job["job_name"] == "signalbox").collect();
    assert_eq!(ours.len(), 1, "all roles of an installation are under one job");
    let chart = read("k8s/charts/signalbox/templates/monitoring.yaml");
    assert!(chart.contains("jobLabel: app.kubernetes.io/instance\n"), "a release is a job");
}
