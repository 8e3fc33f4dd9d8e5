//! What Prometheus' own checker says.

use super::{ALERTS, expressions};
use serde_json::json;
use signalbox_testkit::{tool, workspace};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn promtool(arguments: &[&str], files: &[PathBuf]) {
    let output = Command::new(tool("promtool")).args(arguments).args(files).output().unwrap();
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&told));
}

#[test]
fn the_rules_are_good() {
    promtool(&["check", "rules", "--lint=all", "--lint-fatal"], &[workspace().join(ALERTS)]);
}

#[test]
fn every_alert_fires_when_it_should_and_only_then() {
    promtool(&["test", "rules"], &tests());
}

/// The files that `promtool test rules` reads.
pub(super) fn tests() -> Vec<PathBuf> {
    let folder = fs::read_dir(workspace().join("deploy/prometheus/tests")).unwrap();
    folder.map(|file| file.unwrap().path()).collect()
}

#[test]
fn every_expression_parses() {
    let all = expressions::all();
    assert!(all.len() > 180, "only {} expressions were found", all.len());
    let rule = |(index, expression): (usize, &expressions::Expression)| json!({"record": format!("expression_{index}"), "expr": expression.text});
    let rules: Vec<_> = all.iter().enumerate().map(rule).collect();
    let file = tempfile::NamedTempFile::with_suffix(".yaml").unwrap();
    fs::write(file.path(), json!({"groups": [{"name": "all", "rules": rules}]}).to_string()).unwrap();
    promtool(&["check", "rules"], &[Path::to_owned(file.path())]);
}
