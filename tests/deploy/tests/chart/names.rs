//! Names: what YAML would take for something else stays a text, and what is too long stays one of its kind.

use serde_json::Value;
use signalbox_deploy::{
    documents,
    helm::{CHART, Helm, values_files},
};

fn rendered(release: &str, sets: &[&str]) -> Result<Vec<Value>, String> {
    let files = values_files(&format!("{CHART}/examples"));
    let split = files.into_iter().find(|file| file.ends_with("split.yaml")).unwrap();
    let arguments: Vec<&str> = sets.iter().flat_map(|set| ["--set-json", set]).collect();
    let output = Helm::Four.run(&["template", release], &[&split], &arguments);
    match output.status.success() {
        true => Ok(documents(&String::from_utf8_lossy(&output.stdout))),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Where something is not the text that Kubernetes wants there.
fn odd(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, field)| {
            let at = format!("{at}.{name}");
            let map = ["labels", "annotations", "matchLabels", "nodeSelector"].contains(&&**name);
            let texts =
                ["name", "namespace", "secretName", "serviceAccountName", "serviceName", "image", "key"];
            if map && field.as_object().is_some_and(|map| !map.values().all(Value::is_string))
                || texts.contains(&&**name) && !field.is_string()
            {
                found.push(format!("{at}: {field}"));
            }
            odd(field, &at, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| odd(item, at, found)),
        _ => {}
    }
}

#[test]
fn names_that_look_like_numbers_and_truths_stay_names() {
    let sets = [
        r#"adminKey.existingSecret={"name":"1e3","key":"yes"}"#,
        r#"cacheSecret.existingSecret={"name":"no","key":"0x1f"}"#,
        r#"vendorKeys=[{"env":"Y","existingSecret":{"name":"null","key":"12"}}]"#,
        r#"config.vendors.local={"kind":"openai-compatible","base_url":"http://local","api_key":{"env":"Y"}}"#,
        r#"deployments.true={"roles":["cache"],"mtls":{"existingSecret":{"name":"017"}},"podLabels":{"a":"1e3"}}"#,
        r#"deployments.cache.enabled=false"#,
        r#"mtls.enabled=true"#,
        r#"mtls.certManager.issuerRef.name="12""#,
        r#"image={"repository":"12","tag":"30"}"#,
        r#"commonLabels={"b":"true"}"#,
        r#"serviceAccount={"create":false,"name":"0x1f"}"#,
        r#"spool.persistence={"enabled":true,"storageClass":"12","size":"4Gi"}"#,
    ];
    for (release, more) in [
        ("true", r#"nameOverride="true""#),
        ("12", r#"fullnameOverride="y""#),
        ("0x1f", r#"fullnameOverride="null""#),
    ] {
        let objects = rendered(release, &[&sets[..], &[more]].concat()).unwrap();
        let mut found = Vec::new();
        objects.iter().for_each(|object| odd(object, &object["kind"].to_string(), &mut found));
        assert_eq!(found, [""; 0], "{release}");
        assert!(
            objects
                .iter()
                .all(|object| object["metadata"]["labels"]["app.kubernetes.io/instance"] == release)
        );
    }
}

#[test]
fn long_names_that_begin_alike_stay_two() {
    let name = |release: &str, sets: &[&str]| -> String {
        let objects = rendered(release, sets).unwrap();
        let clients = objects
            .iter()
            .find(|object| object["kind"] == "Service" && object["spec"]["type"] == "ClusterIP");
        clients.unwrap()["metadata"]["name"].as_str().unwrap().to_owned()
    };
    let [one, other] = ["east", "west"]
        .map(|end| name(&format!("language-models-of-the-newsroom-{end}"), &[r#"nameOverride="signalbox""#]));
    assert_ne!(one, other);
    for name in [&one, &other] {
        assert!(name.len() <= 36 && name.starts_with("language-models-of-the-newsro-"), "{name}");
    }
    assert_eq!(name("short", &[]), "short-signalbox");
}

#[test]
fn a_name_that_services_cannot_have_is_refused_saying_what_to_set() {
    let message = rendered("12", &[]).unwrap_err();
    assert!(message.contains("fullnameOverride: objects would be named after `12-signalbox`"), "{message}");
}
