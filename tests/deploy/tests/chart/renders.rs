//! What other programs say of the chart.

use super::manifests::{Faults, Manifests, files, stem};
use signalbox_deploy::helm::Helm;
use signalbox_testkit::tool;
use std::{fs, path::Path, process::Command};

/// Kubernetes' oldest version that the chart is for, and the newest there is.
const VERSIONS: [&str; 2] = ["1.30", "1.37"];
/// Kinds that Kubernetes itself does not know.
const CUSTOM: [&str; 3] = ["Certificate", "PrometheusRule", "ServiceMonitor"];

#[test]
fn helm_lint_finds_nothing() {
    let mut faults = Faults::default();
    for helm in Helm::BOTH {
        // Without any values, too, as somebody who looks at the chart lints it.
        let runs = files().into_iter().map(Some).chain([None]);
        for file in runs {
            let values: Vec<&Path> = file.iter().map(AsRef::as_ref).collect();
            let output = helm.run(&["lint", "--strict"], &values, &[]);
            let said = String::from_utf8_lossy(&output.stdout);
            let clean = output.status.success() && !said.contains("[WARNING]") && !said.contains("[ERROR]");
            faults.unless(clean, || format!("{helm:?} {file:?}: {said}"));
        }
    }
    faults.assert_none();
}

#[test]
fn kubernetes_takes_every_object_in_every_version() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = Manifests::all()
        .iter()
        .map(|manifests| {
            let own = |object: &&serde_json::Value| !CUSTOM.iter().any(|kind| object["kind"] == *kind);
            let texts: Vec<String> = manifests.objects.iter().filter(own).map(ToString::to_string).collect();
            let path = folder.path().join(format!("{}.yaml", manifests.name));
            fs::write(&path, texts.join("\n---\n")).unwrap();
            path
        })
        .collect();
    for version in VERSIONS {
        let mut validate = Command::new(tool("kubernetes-validate"));
        let output =
            validate.args(["--strict", "--kubernetes-version", version]).args(&paths).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("INFO")).collect();
        assert!(output.status.success() && lines.is_empty(), "{version}: {}", lines.join("\n"));
        assert!(said.matches("passed").count() > 100, "{version}: hardly anything was looked at");
    }
}

/// By helm 4: the older one wants a cluster for this.
fn notes(file: &Path) -> String {
    let output = Helm::Four.run(&["install", "--dry-run=client", "signalbox"], &[file], &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let whole = String::from_utf8_lossy(&output.stdout).into_owned();
    whole.rsplit("NOTES:").next().unwrap_or_default().to_owned()
}

#[test]
fn an_installation_says_what_to_do_next_and_what_is_missing() {
    for file in files() {
        let notes = notes(&file);
        let has = |what: &&str| notes.contains(*what);
        let wanted: &[&str] = match stem(&file).as_str() {
            "small" => &[
                "in the clear (server.tls)",
                "The one pod with everything is away when it is replaced, until it has finished its calls: up to 140",
                "router has ingest and budget and cache beside router: whoever may call router reaches",
                "STORES IN FILES ARE FOR TRYING THINGS OUT",
                "on the volume data-signalbox-router-0",
            ],
            "split" => &[
                "in the clear (server.tls)",
                "in the clear (mtls.enabled)",
                "emptyDirs",
                "http://signalbox-batch.llm.svc:50051",
            ],
            "mtls-cert-manager" => &["https://signalbox.llm.svc:50051", "Each pod caches"],
            "air-gapped" => &["ALL VENDORS ARE SIMULATED", "Each pod caches"],
            "bare" => &[
                "the accounts of all requests",
                "GO WITH THE POD",
                "set sqlite.retentionDays",
                "Any pod reaches",
            ],
            _ => &[],
        };
        let always = ["signalbox tenant create", "signalbox key create"];
        assert!(always.iter().chain(wanted).all(has), "{}: {notes}", file.display());
        let encrypted = ["mtls-cert-manager", "production", "everything"].contains(&&*stem(&file));
        assert!(!has(&"nobody else gets in"), "{}: API keys may decide, too", file.display());
        assert!(!encrypted || !has(&"in the clear"), "{}: {notes}", file.display());
    }
}
