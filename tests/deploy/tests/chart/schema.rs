//! values.schema.json: the part about `config` is the program's own schema, in the words of an older draft.

use super::golden::agree;
use serde_json::{Map, Value, json};
use signalbox_deploy::{helm::CHART, yaml};
use signalbox_testkit::workspace;

/// What only people read, and formats, which the two helms look at differently.
const LEFT_OUT: [&str; 5] = ["$schema", "default", "description", "format", "title"];

/// A schema of the program's, as part of the chart's.
fn part(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(part).collect(),
        Value::Object(fields) => fields_of(fields),
        other => other.clone(),
    }
}

fn fields_of(fields: &Map<String, Value>) -> Value {
    let mut parts = Map::new();
    for (name, value) in fields.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str())) {
        let value = match (name.as_str(), value) {
            ("$ref", Value::String(to)) => json!(to.replace("#/$defs/", "#/definitions/config/$defs/")),
            // Their keys are names, and none of the schema's words.
            ("properties" | "$defs", Value::Object(named)) => {
                named.iter().map(|(name, schema)| (name.clone(), part(schema))).collect()
            }
            _ => part(value),
        };
        parts.insert(name.clone(), value);
    }
    nullable(parts)
}

/// A key that is set to null takes something away; and helm says better what is wrong where it need not try alternatives.
fn nullable(mut parts: Map<String, Value>) -> Value {
    if let (1, Some(Value::Array(choices))) = (parts.len(), parts.get("anyOf"))
        && let [one, null] = choices.as_slice()
        && *null == json!({"type": "null"})
    {
        let Value::Object(one) = one.clone() else { return one.clone() };
        parts = one;
    }
    if parts.get("type") == Some(&json!("object")) {
        parts.insert("type".to_owned(), json!(["object", "null"]));
    }
    Value::Object(parts)
}

#[test]
fn the_operators_part_of_the_configuration_is_checked_by_the_programs_own_schema() {
    let name = format!("{CHART}/values.schema.json");
    let mut wanted = yaml(&name);
    wanted["definitions"]["config"] = part(&yaml("docs/signalbox.schema.json"));
    agree(&workspace().join(&name), &format!("{wanted:#}\n"), |found, wanted| found == wanted).unwrap();
}

/// Where a schema takes any key although nobody says that it may.
fn lax(schema: &Value, at: &str, found: &mut Vec<String>) {
    if schema["properties"].is_object() && schema["additionalProperties"] != false {
        found.push(at.to_owned());
    }
    if schema["items"].is_object() {
        lax(&schema["items"], &format!("{at}/*"), found);
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    properties.iter().for_each(|(name, property)| lax(property, &format!("{at}/{name}"), found));
}

/// The schema of one deployment, whatever its name.
fn deployment(schema: &Value) -> &Value {
    let by_name = schema["properties"]["deployments"]["patternProperties"].as_object().unwrap();
    by_name.values().next().unwrap()
}

#[test]
fn no_section_takes_keys_that_it_does_not_know() {
    let schema = yaml(&format!("{CHART}/values.schema.json"));
    let mut found = Vec::new();
    lax(&schema, "", &mut found);
    lax(deployment(&schema), "/deployments/*", &mut found);
    for (name, definition) in schema["definitions"].as_object().unwrap() {
        lax(definition, &format!("/definitions/{name}"), &mut found);
    }
    for (name, definition) in schema["definitions"]["config"]["$defs"].as_object().unwrap() {
        lax(definition, &format!("/$defs/{name}"), &mut found);
    }
    assert_eq!(found, [""; 0]);
}

/// What a schema stands for, where it only says where that is.
fn resolved<'a>(whole: &'a Value, schema: &'a Value) -> &'a Value {
    let to = schema["$ref"].as_str().and_then(|to| whole.pointer(to.trim_start_matches('#')));
    to.unwrap_or(schema)
}

/// The keys of every section of the values; one that is empty is for operators to fill.
fn sections(values: &Value, whole: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    let Some(fields) = values.as_object().filter(|fields| !fields.is_empty()) else { return };
    let Some(properties) = schema["properties"].as_object() else { return };
    for (name, value) in fields {
        match properties.get(name) {
            Some(property) => {
                sections(value, whole, resolved(whole, property), &format!("{at}.{name}"), found);
            }
            None => found.push(format!("{at}.{name} is in the values and not in the schema")),
        }
    }
    for name in properties.keys().filter(|name| !fields.contains_key(*name) && *name != "global") {
        found.push(format!("{at}.{name} is in the schema and not in the values"));
    }
}

#[test]
fn values_and_schema_have_the_same_keys() {
    let (values, schema) =
        (yaml(&format!("{CHART}/values.yaml")), yaml(&format!("{CHART}/values.schema.json")));
    let mut found = Vec::new();
    sections(&values, &schema, &schema, "", &mut found);
    // How a HorizontalPodAutoscaler behaves is Kubernetes' own, and has defaults there.
    found.retain(|fault| !fault.starts_with(".defaults.hpa.behavior."));
    assert_eq!(found, [""; 0]);
    // A deployment has the keys of `defaults`, and roles.
    let deployment = deployment(&schema)["properties"].as_object().unwrap();
    let defaults = schema["properties"]["defaults"]["properties"].as_object().unwrap();
    let mut wanted: Vec<&String> = defaults.keys().collect();
    let roles = "roles".to_owned();
    wanted.push(&roles);
    wanted.sort();
    assert_eq!(deployment.keys().collect::<Vec<_>>(), wanted);
    assert!(defaults.iter().all(|(name, schema)| deployment[name] == *schema));
}
