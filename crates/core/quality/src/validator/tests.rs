use super::*;
use proptest::prelude::*;
use serde_json::json;

fn compile(schema: &Value) -> Result<Validator, String> {
    Validator::compile(&JsonText::from(schema))
}

fn problem(schema: Value, instance: &Value) -> String {
    compile(&schema).unwrap().check(&instance.to_string()).unwrap_err()
}

#[test]
fn a_schema_is_accepted() {
    let schema = json!({"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"]});
    let validator = compile(&schema).unwrap();
    validator.check(r#"{"a":1}"#).unwrap();
    assert!(validator.check(r#"{"a":0}"#).is_err());
}

#[test]
fn what_is_no_schema_is_refused_with_the_place() {
    let problem = compile(&json!({"type":"object","properties":{"a":{"type":"integr"}}})).unwrap_err();
    assert!(problem.contains("/properties/a/type"), "{problem}");
    for schema in [
        json!({"type": 7}),
        json!({"$ref": "#/$defs/missing"}),
        json!({"pattern": "("}),
        json!([]),
        json!({"$ref": "#"}),
    ] {
        assert!(compile(&schema).is_err(), "{schema}");
    }
}

#[test]
fn a_reference_outside_is_refused_and_never_followed() {
    for outside in ["https://example.com/schema.json", "http://127.0.0.1:9/x", "file:///etc/passwd"] {
        for keyword in ["$ref", "$dynamicRef", "$schema"] {
            let problem = compile(&json!({ keyword: outside })).unwrap_err();
            assert!(problem.contains(outside), "{problem}");
            assert!(!problem.contains("resolve-") && !problem.contains("feature"), "{problem}");
        }
    }
}

#[test]
fn the_first_places_at_fault_are_named_and_no_values() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "integer"}, "b": {"enum": ["x", "y"]}, "c": {"pattern": "^k"},
            "d": {"type": "array", "items": {"type": "boolean"}},
        },
        "required": ["e"],
    });
    let message = problem(schema, &json!({"a": "hush", "b": "hush", "c": "hush", "d": [true, "hush"]}));
    assert!(
        message.starts_with(r#""e" is a required property; at /a: value is not of type "integer"; at /b: "#),
        "{message}"
    );
    assert!(message.ends_with("; and 2 more"), "{message}");
    assert!(!message.contains("hush"), "{message}");
}

#[test]
fn a_message_stays_short_however_much_is_wrong() {
    let key = "é".repeat(5_000);
    let many: serde_json::Map<_, _> = (0..2_000).map(|at| (format!("{key}{at}"), json!(1))).collect();
    let message = problem(
        json!({"properties": {"x": {}}, "additionalProperties": false}),
        &Value::Object(many.clone()),
    );
    assert!(message.len() <= LONGEST_MESSAGE, "{}", message.len());
    assert!(message.ends_with('…'), "{message}");
    let message = problem(json!({"additionalProperties": {"type": "null"}}), &Value::Object(many));
    assert!(message.len() <= LONGEST_MESSAGE, "{}", message.len());
    assert!(message.contains("is not of type"), "{message}");
}

/// Saying what is wrong here takes `2^depth` steps; deciding that something is does not.
#[test]
fn what_takes_too_long_to_explain_is_refused_without_explanation() {
    let schema = json!({"type": "object", "anyOf": [
        {"properties": {"a": {"$ref": "#"}}},
        {"properties": {"a": {"$ref": "#"}}, "required": ["b"]},
    ]});
    let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!({ "a": inner }));
    assert!(problem(schema.clone(), &nested(3)).contains("anyOf"));
    assert!(problem(schema.clone(), &nested(30)).contains("too deep"));
    assert!(problem(schema, &nested(120)).contains("too deep"));
}

#[test]
fn an_answer_nested_deeper_than_can_be_read_is_refused() {
    let validator = compile(&json!({"items": {"$ref": "#"}})).unwrap();
    let text = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(validator.check(&text).unwrap_err().contains("recursion limit"));
    assert!(validator.check("[1e999]").unwrap_err().contains("out of range"));
}

#[test]
fn a_pattern_that_never_ends_is_given_up() {
    let validator = compile(&json!({"pattern": r"^(a|aa)+\1b$"})).unwrap();
    let text = json!("a".repeat(10_000)).to_string();
    assert!(validator.check(&text).unwrap_err().contains("backtracking"));
    validator.check("\"aaab\"").unwrap();
}

/// The longest way that a schema may have, taken at each level of the deepest text that is read.
#[test]
fn the_worst_schema_fits_a_worker_threads_stack() {
    let levels = 29;
    let mut defs: serde_json::Map<_, _> = (0..levels)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
            (format!("a{at}"), json!({"allOf": [next], "if": true, "then": {"minProperties": 1}}))
        })
        .collect();
    let last = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a0"}}, "required": ["b"]});
    defs.insert(format!("a{levels}"), last);
    let validator = compile(&json!({"$defs": defs, "$ref": "#/$defs/a0"})).unwrap();
    let read = move |depth: usize, leaf: &str| {
        let text = format!("{}{{{leaf}}}{}", r#"{"b":1,"a":"#.repeat(depth), "}".repeat(depth));
        validator.check(&text)
    };
    let test = move || {
        read(126, r#""b":1"#).unwrap();
        read(126, "").unwrap_err();
        read(DEEPEST - 1, "").unwrap_err();
    };
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(test).unwrap();
    thread.join().unwrap();
}

proptest! {
    #[test]
    fn any_text_can_be_checked(text: String, schema in prop::sample::select(vec![
        json!({"type": "object"}), json!({"maxLength": 3}), json!(true), json!({"items": {"$ref": "#"}}),
    ])) {
        let validator = compile(&schema).unwrap();
        if let Err(message) = validator.check(&text) {
            prop_assert!(message.len() <= LONGEST_MESSAGE && !message.is_empty());
        }
    }
}
