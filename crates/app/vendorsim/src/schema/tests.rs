use super::*;
use serde_json::json;

fn of(schema: &Value) -> Value {
    instance(schema, 0)
}

#[test]
fn only_required_members_are_given_when_some_are_required() {
    let schema = json!({"type": "object", "required": ["b"], "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}});
    assert_eq!(of(&schema), json!({"b": true}));
}

#[test]
fn members_that_are_required_but_not_described_follow_additional_properties() {
    let schema = json!({"type": "object", "required": ["x"], "additionalProperties": {"type": "integer", "minimum": 3}});
    assert_eq!(of(&schema), json!({"x": 3}));
}

#[test]
fn numbers_keep_to_their_bounds() {
    assert_eq!(of(&json!({"type": "integer", "minimum": 4, "multipleOf": 5})), json!(5));
    assert_eq!(of(&json!({"type": "integer", "exclusiveMinimum": 4})), json!(5));
    assert_eq!(of(&json!({"type": "integer", "maximum": -2})), json!(-2));
    assert_eq!(instance(&json!({"type": "integer", "minimum": 1, "maximum": 2}), 7), json!(1));
    assert_eq!(of(&json!({"type": "number", "minimum": 0.25, "maximum": 0.5})), json!(0.25));
}

#[test]
fn arrays_have_as_many_items_as_the_schema_demands() {
    assert_eq!(of(&json!({"type": "array", "items": {"type": "integer"}, "minItems": 2})), json!([1, 2]));
    assert_eq!(of(&json!({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 1})), json!(["a"]));
}

#[test]
fn references_and_recursion_come_to_an_end() {
    let tree = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {"type": "object", "required": ["value", "next"], "properties": {
            "value": {"const": 1}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}}
    });
    let text = of(&tree).to_string();
    assert!(text.starts_with(r#"{"next":{"next":"#) || text.starts_with(r#"{"value":1,"next":{"#), "{text}");
    assert!(text.contains("null"));
}

#[test]
fn variants_are_merged_with_what_stands_beside_them() {
    let schema = json!({"required": ["a"], "properties": {"a": {"const": 1}}, "anyOf": [{"required": ["b"], "properties": {"b": {"const": 2}}}]});
    assert_eq!(of(&schema), json!({"a": 1, "b": 2}));
}

#[test]
fn strings_keep_their_length_and_format() {
    assert_eq!(of(&json!({"type": "string", "maxLength": 3})), json!("sim"));
    assert_eq!(of(&json!({"type": "string", "minLength": 12})), json!("simulated ✓."));
    assert_eq!(of(&json!({"type": "string", "format": "date"})), json!("2026-11-29"));
}

#[test]
fn geminis_capital_types_are_understood() {
    assert_eq!(of(&json!({"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}}})), json!({"n": 1}));
}
