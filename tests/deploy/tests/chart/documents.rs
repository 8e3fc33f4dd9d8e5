//! What comes with the chart says what is so.

use super::{golden::agree, manifests::Manifests, manifests::text, values_table};
use signalbox_deploy::{
    helm::{CHART, values_files},
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
    let manifests = Manifests::example("production");
    let rules = manifests.of_kind("PrometheusRule").next().unwrap();
    assert_eq!(rules["spec"], yaml("deploy/prometheus/alerts.yaml"));
    let mut wanted = BTreeMap::new();
    dashboards(&workspace().join("deploy/grafana"), &mut wanted);
    let shipped =
        manifests.of_kind("ConfigMap").filter(|map| map["metadata"]["labels"]["grafana_dashboard"] == "1");
    let mut count = 0;
    for config in shipped {
        for (name, dashboard) in config["data"].as_object().unwrap() {
            let ours: serde_json::Value = serde_json::from_str(dashboard.as_str().unwrap()).unwrap();
            let theirs: serde_json::Value = serde_json::from_str(&wanted[name]).unwrap();
            assert_eq!(ours, theirs, "{}", text(config, "/metadata/name"));
            count += 1;
        }
    }
    assert_eq!(count, wanted.len());
}
