use super::*;
use proptest::prelude::*;
use serde_json::json;

fn rules(schema: Value) -> Result<Rules, String> {
    Rules::of(&schema)
}

/// `a0` applies `a1` twice, which applies `a2` twice, and so on.
fn doubling(levels: usize, reference: impl Fn(usize) -> Value, name: impl Fn(usize) -> Value) -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..=levels {
        let mut schema = name(level);
        if level < levels {
            schema["allOf"] = json!([reference(level + 1), reference(level + 1)]);
        }
        defs.insert(format!("a{level}"), schema);
    }
    json!({ "$defs": defs, "allOf": [reference(0)] })
}

#[test]
fn references_that_multiply_are_refused_however_they_are_written() {
    let plain = |_| json!({});
    let pointer = |level| json!({"$ref": format!("#/$defs/a{level}")});
    assert!(rules(doubling(5, pointer, plain)).is_ok());
    for schema in [
        doubling(20, pointer, plain),
        doubling(20, |level| json!({"$ref": format!("#/%24defs/a{level}")}), plain),
        doubling(
            20,
            |level| json!({"$ref": format!("#n{level}")}),
            |level| json!({"$anchor": format!("n{level}")}),
        ),
        doubling(
            20,
            |level| json!({"$ref": format!("n{level}")}),
            |level| json!({"$id": format!("n{level}")}),
        ),
        doubling(
            20,
            |level| json!({"$ref": format!("https://example.com/n{level}#")}),
            |level| json!({"$id": format!("https://example.com/n{level}")}),
        ),
    ] {
        let problem = rules(schema).unwrap_err();
        assert!(problem.contains("apply to one value"), "{problem}");
    }
}

#[test]
fn a_circle_at_one_place_is_refused_and_one_through_a_property_is_not() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"not": {"$ref": "#"}}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
    ] {
        assert!(rules(schema).unwrap_err().contains("leads back to itself"));
    }
    for schema in [
        json!({"properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}),
        json!({"items": {"$ref": "#"}}),
        json!({"$id": "https://example.com/tree", "additionalProperties": {"$ref": "tree"}}),
        json!({"const": {"$ref": "#"}, "properties": {"$ref": {"type": "string"}}}),
    ] {
        assert!(rules(schema).is_ok());
    }
}

#[test]
fn a_way_without_end_is_refused() {
    let chain = |length: usize| {
        let defs: serde_json::Map<_, _> = (0..length)
            .map(|at| (format!("a{at}"), json!({"$ref": format!("#/$defs/a{}", at + 1)})))
            .chain([(format!("a{length}"), json!({"type": "integer"}))])
            .collect();
        rules(json!({"$defs": defs, "$ref": "#/$defs/a0"}))
    };
    assert!(chain(LONGEST_WAY - 2).is_ok());
    assert!(chain(LONGEST_WAY).unwrap_err().contains("lead on from each other"));
    assert!(chain(100_000).is_err());
}

#[test]
fn many_names_and_references_to_them_are_read_in_one_go() {
    let defs: serde_json::Map<_, _> = (0..30_000)
        .map(|at| (format!("d{at}"), json!({"$id": format!("urn:x/{at}"), "items": {"$ref": "urn:y/29999"}})))
        .collect();
    assert!(rules(json!({ "$defs": defs })).is_ok());
}

#[test]
fn many_different_patterns_are_refused_and_one_used_often_is_not() {
    let schema = |pattern: &dyn Fn(usize) -> String| {
        let properties: serde_json::Map<_, _> =
            (0..100).map(|at| (format!("p{at}"), json!({"pattern": pattern(at)}))).collect();
        rules(json!({ "properties": properties, "patternProperties": {"^x-": true} }))
    };
    assert_eq!(schema(&|_| "^[a-z]+$".into()).unwrap().patterns(), 2);
    assert!(schema(&|at| format!("^a{{{at}}}$")).unwrap_err().contains("different patterns"));
}

#[test]
fn the_work_at_the_deepest_place_is_foreseen() {
    let most = |schema: Value, depth| rules(schema).unwrap().most_at_a_place(depth, u64::MAX);
    let list = json!({"properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}});
    assert_eq!(most(list.clone(), 0), 1);
    assert_eq!(most(list.clone(), 1), 4);
    assert_eq!(most(list, 100), 4);
    let pair = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    assert_eq!(most(pair, 100), 2);
    let twice = json!({"anyOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]});
    assert_eq!(most(twice.clone(), 3), 8 * 4);
    assert_eq!(most(twice, 200), u64::MAX);
}

fn schema() -> impl Strategy<Value = Value> {
    let reference =
        prop::sample::select(vec!["#", "#/$defs/a", "#/properties/a", "#x", "y", "y#x", "#/%", "#%2"]);
    let leaf = prop_oneof![
        Just(json!({"type": "integer"})),
        Just(json!(true)),
        reference.prop_map(|to| json!({ "$ref": to })),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let keyword = prop::sample::select(vec![
            "allOf",
            "anyOf",
            "not",
            "if",
            "properties",
            "items",
            "prefixItems",
            "$defs",
            "contains",
            "$id",
            "$anchor",
        ]);
        prop::collection::vec((keyword, inner.clone(), inner), 0..4).prop_map(|entries| {
            let keywords = entries.into_iter().map(|(keyword, a, b)| {
                let value = match keyword {
                    "allOf" | "anyOf" | "prefixItems" => json!([a, b]),
                    "properties" | "$defs" => json!({"a": a, "b": b}),
                    "$id" => json!("y"),
                    "$anchor" => json!("x"),
                    _ => a,
                };
                (keyword.to_owned(), value)
            });
            Value::Object(keywords.collect())
        })
    })
}

proptest! {
    #[test]
    fn any_schema_can_be_measured(schema in schema(), depth in 0_usize..130) {
        if let Ok(rules) = Rules::of(&schema) {
            prop_assert_eq!(rules.order.len(), rules.nodes.len());
            let most = rules.most_at_a_place(depth, u64::MAX);
            prop_assert!(most >= 1);
            prop_assert!(rules.most_at_a_place(depth + 1, u64::MAX) >= most);
        }
    }
}
