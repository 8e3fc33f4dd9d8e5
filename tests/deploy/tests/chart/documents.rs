//! What comes with the chart says what is so.

use super::{golden::agree, manifests::text, values_table};
use signalbox_deploy::{
    documents,
    helm::{CHART, Helm, values_files},
    read, yaml,
};
use signalbox_testkit::workspace;
use std::{collections::BTreeMap, fs, path::Path};

const BEGIN: &str = "<!-- values:begin -->\n";
const END: &str = "\n<!-- values:end -->";

#[test]
fn the_readme_has_every_value_with_its_default() {
    let (rows, silent) = values_table::rows(&read(&format!("{CHART}/values.yaml")));
    assert_eq!(silent, [""; 0], "these are described nowhere");
    assert!(rows.len() > 120, "only {} values were found", rows.len());
    let readme = read(&format!("{CHART}/README.md"));
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END.trim_start()).unwrap();
    let wanted = format!("{before}{BEGIN}{}{END}{after}", values_table::markdown(&rows));
    agree(&workspace().join(CHART).join("README.md"), &wanted, |found, wanted| found == wanted).unwrap();
}

#[test]
fn every_example_is_in_the_readme_and_says_what_it_is_for() {
    let readme = read(&format!("{CHART}/README.md"));
    let examples = values_files(&format!("{CHART}/examples"));
    assert!(examples.len() >= 6);
    for example in examples {
        let name = example.file_name().unwrap().to_string_lossy();
        assert!(readme.contains(&format!("(examples/{name})")), "{name}");
        assert!(fs::read_to_string(&example).unwrap().starts_with("# "), "{name}");
    }
}

#[test]
fn every_link_of_the_chart_leads_somewhere() {
    for name in ["README.md", "UPGRADING.md"] {
        let text = read(&format!("{CHART}/{name}"));
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
            let there =
                link.is_empty() || link.starts_with("http") || workspace().join(CHART).join(link).exists();
            assert!(there, "{name}: {link}");
        }
    }
}

#[test]
fn chart_and_program_have_one_version() {
    let chart = yaml(&format!("{CHART}/Chart.yaml"));
    assert_eq!(chart["appVersion"], env!("CARGO_PKG_VERSION"));
}

/// The JSON files below a folder, by name.
fn dashboards(folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            dashboards(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn rules_and_dashboards_are_those_of_the_deploy_folder() {
    let chart = workspace().join(CHART);
    let same = |found: &str, wanted: &str| found == wanted;
    agree(&chart.join("files/alerts.yaml"), &read("deploy/prometheus/alerts.yaml"), same).unwrap();
    let mut wanted = BTreeMap::new();
    dashboards(&workspace().join("deploy/grafana"), &mut wanted);
    for (name, dashboard) in &wanted {
        agree(&chart.join("files/dashboards").join(name), dashboard, same).unwrap();
    }
    let mut found = BTreeMap::new();
    dashboards(&chart.join("files/dashboards"), &mut found);
    assert!(found.keys().eq(wanted.keys()), "{:?} are not {:?}", found.keys(), wanted.keys());
}

#[test]
fn rules_and_dashboards_reach_the_cluster_as_they_are() {
    let files = values_files(&format!("{CHART}/examples"));
    let production = files.into_iter().find(|file| file.ends_with("production.yaml")).unwrap();
    let objects = documents(&Helm::Four.template(&[&production], &[]).unwrap());
    let rules = objects.iter().find(|object| object["kind"] == "PrometheusRule").unwrap();
    assert!(rules["spec"] == yaml("deploy/prometheus/alerts.yaml"), "other rules are installed");
    let mut wanted = BTreeMap::new();
    dashboards(&workspace().join("deploy/grafana"), &mut wanted);
    for config in objects.iter().filter(|object| object["metadata"]["labels"]["grafana_dashboard"] == "1") {
        let object = text(config, "/metadata/name");
        let good = object.chars().all(|letter| letter.is_ascii_lowercase() || "-0123456789".contains(letter));
        assert!(good && object.len() <= 63, "{object} cannot be a name");
        for (name, dashboard) in config["data"].as_object().unwrap() {
            let same =
                wanted.remove(name).is_some_and(|wanted| json(&wanted) == json(dashboard.as_str().unwrap()));
            assert!(same, "{object} is not the dashboard {name}");
        }
    }
    assert!(wanted.is_empty(), "{:?} are not installed", wanted.keys());
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// Or they would fire for certificates that are as they should be.
#[test]
fn certificates_are_renewed_before_an_alert_speaks_of_them() {
    let values = yaml(&format!("{CHART}/values.yaml"));
    let hours = |name: &str| -> u64 {
        let text = values["mtls"]["certManager"][name].as_str().unwrap().trim_end_matches('h');
        text.parse().unwrap()
    };
    // So much of its time is left when the first of them fires.
    let rules = read("deploy/prometheus/alerts.yaml");
    let (_, after) = rules.split_once("(signalbox_tls_certificate_lifetime_seconds) / ").unwrap();
    let share: u64 = after.split(',').next().unwrap().parse().unwrap();
    assert!(hours("duration") > hours("renewBefore") && hours("renewBefore") * share > hours("duration"));
}
