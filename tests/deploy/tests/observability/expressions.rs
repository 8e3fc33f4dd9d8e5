//! Every expression that is shipped, and what it asks for.

use super::{ALERTS, Family, dashboards, families, pages, promql, written_rules};
use signalbox_testkit::workspace;
use std::collections::{BTreeMap, BTreeSet};

/// An expression and where it is.
#[derive(Debug, Clone)]
pub(super) struct Expression {
    pub(super) place: String,
    pub(super) text: String,
    /// Labels that its legend shows.
    pub(super) shown: Vec<String>,
}

/// Labels that whoever scrapes puts on every series.
const SCRAPED: [&str; 3] = ["namespace", "job", "instance"];
/// What Prometheus itself tells.
const OF_PROMETHEUS: [(&str, &[&str]); 2] = [("ALERTS", &["alertname", "alertstate"]), ("up", &[])];

/// Those of rules, dashboards and runbooks.
pub(super) fn all() -> Vec<Expression> {
    of_rules().chain(dashboards::expressions()).chain(pages::expressions()).collect()
}

fn of_rules() -> impl Iterator<Item = Expression> {
    written_rules().into_iter().map(|rule| {
        let name = rule["alert"].as_str().or_else(|| rule["record"].as_str()).unwrap();
        let text = rule["expr"].as_str().unwrap().to_owned();
        Expression { place: format!("{ALERTS}: {name}"), text, shown: Vec::new() }
    })
}

/// Metrics that rules record, by name: what is before the first colon says by which labels.
fn recorded() -> BTreeSet<String> {
    written_rules().iter().filter_map(|rule| Some(rule["record"].as_str()?.to_owned())).collect()
}

/// The labels of a metric, where there is such a metric.
fn labels_of(
    name: &str,
    families: &BTreeMap<String, Family>,
    recorded: &BTreeSet<String>,
) -> Option<Vec<String>> {
    if recorded.contains(name) {
        let level = name.split(':').next()?;
        return Some(level.split('_').map(str::to_owned).collect());
    }
    if let Some((_, labels)) = OF_PROMETHEUS.iter().find(|(own, _)| *own == name) {
        return Some(labels.iter().map(|label| (*label).to_owned()).collect());
    }
    if let Some(family) = families.get(name).filter(|family| family.kind != "histogram") {
        return Some(family.labels.clone());
    }
    let (histogram, bucket) = ["_bucket", "_sum", "_count"]
        .iter()
        .find_map(|suffix| Some((name.strip_suffix(suffix)?, *suffix == "_bucket")))?;
    let family = families.get(histogram).filter(|family| family.kind == "histogram")?;
    let le = bucket.then(|| "le".to_owned());
    Some(family.labels.iter().cloned().chain(le).collect())
}

#[test]
fn every_metric_and_label_that_is_asked_for_is_exported() {
    let (families, recorded) = (families(), recorded());
    let mut wrong = Vec::new();
    for Expression { place, text, shown } in all() {
        let uses = promql::uses(&text);
        let mut there: Vec<String> = SCRAPED.map(str::to_owned).to_vec();
        for selector in &uses.selectors {
            let Some(labels) = labels_of(&selector.name, &families, &recorded) else {
                wrong.push(format!("{place}: there is no metric {}", selector.name));
                continue;
            };
            for label in selector.matchers.iter().map(|matcher| &matcher.label) {
                if !labels.contains(label) && !SCRAPED.contains(&&**label) {
                    wrong.push(format!("{place}: {} has no label {label}", selector.name));
                }
            }
            there.extend(labels);
        }
        for label in uses.grouped.iter().chain(&shown).filter(|label| !there.contains(label)) {
            wrong.push(format!("{place}: nothing there has a label {label}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Values that series are chosen by, of labels that are the program's own: metric, label and value.
pub(super) fn compared() -> BTreeSet<(String, String, String)> {
    let selectors = all().into_iter().flat_map(|expression| promql::uses(&expression.text).selectors);
    let own = |label: &str| !SCRAPED.contains(&label) && label != "le";
    let mut compared = BTreeSet::new();
    let of_prometheus =
        |selector: &promql::Selector| OF_PROMETHEUS.iter().any(|(own, _)| *own == selector.name);
    for selector in selectors.filter(|selector| !of_prometheus(selector)) {
        for matcher in selector.matchers.iter().filter(|matcher| own(&matcher.label)) {
            for value in matcher.value.split('|').filter(|value| *value != ".*") {
                compared.insert((selector.name.clone(), matcher.label.clone(), value.to_owned()));
            }
        }
    }
    compared
}

#[test]
fn every_reason_of_an_error_that_is_looked_for_has_a_page() {
    let pages = std::fs::read_dir(workspace().join("deploy/errors")).unwrap();
    let pages: Vec<String> = pages
        .map(|page| page.unwrap().file_name().to_string_lossy().trim_end_matches(".md").to_owned())
        .collect();
    let is_reason = |value: &str| value.chars().all(|c| c.is_ascii_uppercase() || "_.*".contains(c));
    for (metric, _, value) in compared().into_iter().filter(|(_, _, value)| is_reason(value)) {
        let prefix = value.trim_end_matches(".*");
        let found = pages.iter().any(|page| page == prefix || (prefix != value && page.starts_with(prefix)));
        assert!(found, "{metric} is asked for {value}, which is no error's reason");
    }
}
