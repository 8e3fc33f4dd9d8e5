//! Variables and what looks for them go together: a slip on either side would leave a vendor, or a hook, out silently.

use super::{clashes::assert_told, refusals::refusal_of_all};
use signalbox_deploy::{
    helm::{CHART, Helm, values_files},
    yaml,
};

pub(super) fn split_takes(sets: &[&str]) {
    let split =
        values_files(&format!("{CHART}/examples")).into_iter().find(|file| file.ends_with("split.yaml"));
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set-json", set]).collect();
    Helm::Four.template(&[&split.unwrap()], &sets).unwrap();
}

fn keys(names: &[&str]) -> String {
    let key = |name: &&str| format!(r#"{{"env":"{name}","existingSecret":{{"name":"v","key":"k"}}}}"#);
    format!("vendorKeys=[{}]", names.iter().map(key).collect::<Vec<_>>().join(","))
}

#[test]
fn a_key_that_no_vendor_looks_for_is_refused_by_its_name() {
    let message = refusal_of_all("split", &[&keys(&["OPENAI_APIKEY", "XAI_API_KEY"])]);
    assert!(message.contains("vendorKeys: no vendor looks for its key in OPENAI_APIKEY;"), "{message}");
    assert!(!message.contains("in XAI_API_KEY"), "{message}");
}

#[test]
fn a_variable_that_the_configuration_names_and_nothing_gives_is_refused_by_its_name() {
    assert_told(
        "split",
        &[
            (
                r#"config.vendors.openai={"api_key":{"env":"OPENAI_KEY"},"base_url":{"env":"OPENAI_URL"}}"#,
                "config.vendors.openai.api_key.env: nothing gives the role adapter the variable OPENAI_KEY; add it to vendorKeys",
            ),
            (
                r#"defaults.revisionHistoryLimit=2"#,
                "config.vendors.openai.base_url.env: nothing gives the role adapter the variable OPENAI_URL; add it to deployments.adapter.extraEnv",
            ),
            (
                r#"config.vendors.xai={"api_key":{"env":["XAI_ONE","XAI_TWO"]}}"#,
                "config.vendors.xai.api_key.env: nothing gives the role adapter the variable XAI_ONE or XAI_TWO",
            ),
            (
                r#"deployments.router.extraEnv=[{"name":"XAI_ONE","value":"not an adapter's"},{"name":"MODERATION","value":"x"}]"#,
                "config.vendors.xai.api_key.env: nothing gives",
            ),
            (
                r#"config.content_policies.strict={"moderation":{"api_key":{"env":"MODERATION"}}}"#,
                "config.content_policies.strict.moderation.api_key.env: nothing gives the role batch the variable MODERATION; add it to deployments.batch.extraEnv",
            ),
            (
                r#"config.alerts={"webhook":{"url":{"env":"HOOK"},"secret":{"env":"SIGNED"}}}"#,
                "config.alerts.webhook.url.env: nothing gives the role ingest the variable HOOK",
            ),
            (
                r#"defaults.priorityClassName="low""#,
                "config.alerts.webhook.secret.env: nothing gives the role ingest the variable SIGNED",
            ),
        ],
    );
}

const GROQ: &str = r#"config.vendors.groq={"kind":"openai-compatible","base_url":"https://groq","api_key":{"env":"GROQ_KEY"}}"#;

#[test]
fn a_variable_may_come_from_any_place_that_adapters_see() {
    split_takes(&[GROQ, &keys(&["OPENAI_API_KEY", "GROQ_KEY"])]);
    let reference = r#"[{"name":"GROQ_KEY","valueFrom":{"secretKeyRef":{"name":"v","key":"groq"}}}]"#;
    split_takes(&[GROQ, &format!("deployments.adapter.extraEnv={reference}")]);
    split_takes(&[GROQ, r#"defaults.extraEnvFrom=[{"secretRef":{"name":"vendors"}}]"#]);
    let simulated = r#"config.vendors={"xai":null,"groq":{"simulate":true,"api_key":{"env":"GROQ_KEY"}}}"#;
    split_takes(&[simulated]);
    split_takes(&[simulated, &keys(&["GROQ_KEY"])]);
}

#[test]
fn a_key_file_that_the_configuration_names_and_nothing_mounts_is_refused() {
    let file = r#"config.vendors.openai.api_key.file="/nowhere/key""#;
    let told = "config.vendors.openai.api_key.file: nothing mounts /nowhere/key for the role adapter; add its folder to \
                deployments.adapter.extraVolumeMounts";
    let elsewhere = r#"deployments.adapter={"extraVolumes":[{"name":"k","emptyDir":{}}],"extraVolumeMounts":[{"name":"k","mountPath":"/now"}]}"#;
    for sets in [&[file][..], &[file, elsewhere]] {
        let message = refusal_of_all("split", sets);
        assert!(message.contains(told), "{message}");
    }
    split_takes(&[file, &elsewhere.replace("/now", "/nowhere")]);
    split_takes(&[file, r#"deployments.adapter.podAnnotations={"vault.hashicorp.com/agent-inject":"true"}"#]);
    split_takes(&[file, "config.vendors.openai.simulate=true"]);
}

#[test]
fn each_variable_of_the_built_in_vendors_is_known() {
    let catalogue = yaml("deploy/catalog/base.yaml");
    let vendors = catalogue["vendors"].as_object().unwrap().values();
    let names: Vec<&str> = vendors.filter_map(|vendor| vendor["api_key"]["env"].as_str()).collect();
    assert!(names.len() >= 5, "{names:?}");
    split_takes(&[&keys(&names)]);
}
