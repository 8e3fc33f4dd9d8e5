//! The JSON Schema of the configuration.

use super::Config;
use serde_json::{Value, json};

/// Definitions whose entries the file may give in part, since the rest comes from the built-in catalogue.
const GIVEN_IN_PART: [&str; 4] = ["VendorConfig", "ModelConfig", "AliasConfig", "ExchangeRateConfig"];

/// The schema of a whole configuration, as the types have it.
pub(super) fn whole() -> Value {
    schemars::schema_for!(Config).to_value()
}

/// The published schema: of a file that is laid over the built-in catalogue. Entries may be given in part, and set
/// to null to remove them.
pub fn json_schema() -> Value {
    let mut schema = whole();
    for name in GIVEN_IN_PART {
        if let Some(definition) = schema.pointer_mut(&format!("/$defs/{name}")).and_then(Value::as_object_mut)
        {
            definition.remove("required");
        }
    }
    publish(&mut schema);
    schema
}

fn publish(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(publish),
        Value::Object(object) => {
            // Words for our own reader only.
            object.retain(|name, _| !name.starts_with("x-"));
            object.values_mut().for_each(publish);
            if let Some(entry) = object.get_mut("additionalProperties").filter(|entry| entry.is_object()) {
                *entry = json!({ "anyOf": [entry.take(), { "type": "null" }] });
            }
        }
        _ => {}
    }
}
