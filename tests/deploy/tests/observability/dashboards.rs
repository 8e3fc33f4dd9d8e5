//! What every dashboard has.

use super::expressions::Expression;
use serde_json::Value;
use signalbox_deploy::yaml;
use signalbox_testkit::workspace;
use std::collections::BTreeSet;

/// The dashboards, by file.
fn dashboards() -> Vec<(String, Value)> {
    let folder = std::fs::read_dir(workspace().join("deploy/grafana")).unwrap();
    let names = folder.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".json")).collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), yaml(&format!("deploy/grafana/{name}")))).collect()
}

fn panels(dashboard: &Value) -> impl Iterator<Item = &Value> {
    dashboard["panels"].as_array().unwrap().iter().filter(|panel| panel["type"] != "row")
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Grafana's own variables in expressions, with something that they may be.
const VARIABLES: [(&str, &str); 2] = [("$__rate_interval", "1m"), ("$__range", "3h")];

fn filled(expression: &str) -> String {
    VARIABLES.iter().fold(expression.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// Those of all panels and of the variables.
pub(super) fn expressions() -> Vec<Expression> {
    let mut found = Vec::new();
    for (file, dashboard) in dashboards() {
        for panel in panels(&dashboard) {
            for target in panel["targets"].as_array().into_iter().flatten() {
                let place = format!("{file}: {}", text(panel, "title"));
                let shown = shown(text(target, "legendFormat"));
                found.push(Expression { place, text: filled(text(target, "expr")), shown });
            }
        }
        for variable in dashboard["templating"]["list"].as_array().unwrap() {
            let query = text(variable, "query");
            if let Some((metric, label)) =
                query.strip_prefix("label_values(").and_then(|of| of.rsplit_once(','))
            {
                let place = format!("{file}: ${}", text(variable, "name"));
                let shown = vec![label.trim_end_matches(')').trim().to_owned()];
                found.push(Expression { place, text: metric.to_owned(), shown });
            }
        }
    }
    found
}

/// The labels of a legend, as in `{{vendor}} p95`.
fn shown(legend: &str) -> Vec<String> {
    legend.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0.trim().to_owned())).collect()
}

#[test]
fn there_is_one_for_whoever_is_on_call_for_cost_for_cache_and_for_providers() {
    let files: Vec<String> = dashboards().into_iter().map(|(file, _)| file).collect();
    assert_eq!(files, ["cache.json", "cost.json", "deployment.json", "on-call.json", "providers.json"]);
}

#[test]
fn every_panel_says_what_it_shows_and_in_which_unit() {
    for (file, dashboard) in dashboards() {
        let (mut titles, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for panel in panels(&dashboard) {
            let title = text(panel, "title");
            assert!(
                !title.is_empty() && titles.insert(title),
                "{file}: a title of each panel's own: {title}"
            );
            assert!(ids.insert(panel["id"].as_u64()), "{file}: {title}: an id of its own");
            assert!(text(panel, "description").ends_with('.'), "{file}: {title}: a description");
            if panel["type"] != "text" {
                assert!(
                    !text(&panel["fieldConfig"]["defaults"], "unit").is_empty(),
                    "{file}: {title}: a unit"
                );
                assert!(
                    panel["targets"].as_array().is_some_and(|targets| !targets.is_empty()),
                    "{file}: {title}"
                );
            }
        }
    }
}

#[test]
fn panels_do_not_lie_on_each_other() {
    for (file, dashboard) in dashboards() {
        let mut taken = BTreeSet::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
            assert!(at("x") + at("w") <= 24, "{file}: {} is too wide", panel["title"]);
            for x in at("x")..at("x") + at("w") {
                for y in at("y")..at("y") + at("h") {
                    assert!(taken.insert((x, y)), "{file}: {} lies on another", panel["title"]);
                }
            }
        }
    }
}

#[test]
fn dashboards_ask_the_data_source_that_is_chosen() {
    for (file, dashboard) in dashboards() {
        let variables = dashboard["templating"]["list"].as_array().unwrap();
        assert!(variables.iter().any(|variable| variable["type"] == "datasource"), "{file}");
        let used = sources(&dashboard);
        assert_eq!(used, BTreeSet::from(["${datasource}".to_owned()]), "{file}");
        assert!(
            dashboard.get("uid").is_none() && dashboard.get("id").is_none(),
            "{file}: Grafana's own to give"
        );
    }
}

/// The uids of all data sources in it.
fn sources(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("datasource").map(|source| text(source, "uid").to_owned());
            own.into_iter().chain(fields.values().flat_map(sources)).collect()
        }
        Value::Array(values) => values.iter().flat_map(sources).collect(),
        _ => BTreeSet::new(),
    }
}
