//! Whether structured output is what it should be. So far: whether a caller's JSON Schema is one at all.

use signalbox_types::JsonText;

/// Checks that a text is a JSON Schema that can be enforced. The error says where it is not, for the caller to read.
pub fn check_schema(schema: &JsonText) -> Result<(), String> {
    let schema = schema.to_value();
    jsonschema::meta::validate(&schema)
        .map_err(|error| {
            let at = error.instance_path().to_string();
            if at.is_empty() { error.to_string() } else { format!("at {at}: {error}") }
        })
        .and_then(|()| jsonschema::validator_for(&schema).map(drop).map_err(|error| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str) -> Result<(), String> {
        check_schema(&JsonText::parse(schema).unwrap())
    }

    #[test]
    fn a_schema_is_accepted() {
        check(r#"{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"]}"#)
            .unwrap();
    }

    #[test]
    fn what_is_no_schema_is_refused_with_the_place() {
        let problem = check(r#"{"type":"object","properties":{"a":{"type":"integr"}}}"#).unwrap_err();
        assert!(problem.contains("/properties/a/type"), "{problem}");
        assert!(check(r#"{"type":7}"#).is_err());
        assert!(check(r##"{"$ref":"#/$defs/missing"}"##).is_err());
    }

    #[test]
    fn a_reference_to_the_network_is_refused_and_never_followed() {
        let problem = check(r#"{"$ref":"https://example.com/schema.json"}"#).unwrap_err();
        assert!(problem.contains("example.com"), "{problem}");
    }
}
