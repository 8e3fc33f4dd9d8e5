//! Disk of nodes: pods ask for what they may take, and it is enough for what they are to keep.

use super::{
    manifests::{Faults, Manifests, list, text},
    refusals::refusal_of_all,
};

const MEBIBYTE: u64 = 1 << 20;

fn bytes(quantity: &str) -> u64 {
    let (number, unit) = quantity
        .split_at(quantity.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(quantity.len()));
    let unit = match unit {
        "" => 1,
        "Mi" => MEBIBYTE,
        "Gi" => MEBIBYTE << 10,
        other => panic!("{other} is not used here"),
    };
    number.parse::<u64>().unwrap() * unit
}

/// Those that have more than they asked for are evicted first, which is when NATS is away and spools are full.
#[test]
fn a_pod_asks_for_the_disk_that_its_folders_may_take() {
    let mut faults = Faults::default();
    for manifests in Manifests::all() {
        for pod in manifests.pods() {
            let folders = list(pod.spec, "/volumes").iter().filter(|volume| volume.get("emptyDir").is_some());
            let most: u64 = folders.map(|volume| bytes(text(volume, "/emptyDir/sizeLimit"))).sum();
            let resources = &pod.main()["resources"];
            let [asked, limit] = ["requests", "limits"]
                .map(|kind| bytes(resources[kind]["ephemeral-storage"].as_str().unwrap_or("0")));
            let of = format!("{}: {}", manifests.name, pod.name());
            faults.unless(asked >= most + 128 * MEBIBYTE, || format!("{of}: asks for {asked} of {most}"));
            faults.unless(limit > asked, || format!("{of}: {limit} is no more than {asked}"));
        }
    }
    faults.assert_none();
}

#[test]
fn only_who_keeps_something_asks_for_the_spools_disk() {
    let split = Manifests::example("split");
    let asked = |name: &str| {
        let pod = split.serving().find(|pod| pod.name() == name).unwrap();
        bytes(pod.main()["resources"]["requests"]["ephemeral-storage"].as_str().unwrap())
    };
    assert_eq!(asked("signalbox-router"), 1792 * MEBIBYTE);
    assert_eq!(asked("signalbox-budget"), 320 * MEBIBYTE);
}

#[test]
fn what_is_given_stays_as_it_is() {
    use signalbox_deploy::{
        documents,
        helm::{CHART, Helm, values_files},
    };
    let split =
        values_files(&format!("{CHART}/examples")).into_iter().find(|file| file.ends_with("split.yaml"));
    let set = r#"deployments.router.resources.limits.ephemeral-storage="8Gi""#;
    let objects = documents(&Helm::Four.template(&[&split.unwrap()], &["--set-json", set]).unwrap());
    let router = objects
        .iter()
        .find(|object| object["kind"] == "Deployment" && object["metadata"]["name"] == "signalbox-router");
    let resources = &router.unwrap()["spec"]["template"]["spec"]["containers"][0]["resources"];
    assert_eq!(resources["limits"]["ephemeral-storage"], "8Gi");
    assert!(resources["requests"]["ephemeral-storage"].is_null(), "{resources}");
}

#[test]
fn a_spool_that_does_not_fit_is_refused() {
    let told = "spool.maxBytes and what is done with and not removed yet take 1536Mi";
    for (base, set, key) in [
        ("split", r#"spool.sizeLimit="1535Mi""#, "spool.sizeLimit: "),
        (
            "persistence",
            r#"spool.maxBytes=1073741824,spool.persistence.size="1.4Gi""#,
            "spool.persistence.size: ",
        ),
        ("small", r#"spool.persistence.size=1600000000"#, "spool.persistence.size: "),
    ] {
        let message = refusal_of_all(base, &[set]);
        assert!(message.contains(&format!("{key}{told}")), "{set}: {message}");
    }
}
