use super::*;
use proptest::prelude::*;
use serde_json::Value;

fn bare(text: &str) -> &str {
    let found = extract(text).unwrap();
    assert!(!found.recovered, "{text}");
    found.json
}

fn recovered(text: &str) -> &str {
    let found = extract(text).unwrap();
    assert!(found.recovered, "{text}");
    found.json
}

#[test]
fn bare_json_is_taken_as_it_is() {
    for json in [r#"{"a":[1,2]}"#, "[]", r#""text""#, "-1.5e3", "true", "null"] {
        assert_eq!(bare(json), json);
        assert_eq!(bare(&format!("\n {json}\r\n\t")), json);
    }
}

#[test]
fn a_byte_order_mark_and_foreign_space_are_cut_off() {
    assert_eq!(recovered("\u{feff}{\"a\":1}"), r#"{"a":1}"#);
    assert_eq!(recovered("\u{a0}[1]\u{a0}"), "[1]");
}

#[test]
fn fenced_json_is_found_whatever_is_written_around_it() {
    for text in [
        "```json\n{\"a\":1}\n```",
        "```\n{\"a\":1}\n```",
        "```JSON\r\n{\"a\":1}\r\n```\r\n",
        "Sure (see [1] and {x}):\n```json\n{\"a\":1}\n```\nHope it helps :-{",
        "In Python: \n```python\nd = {'a': 1}\n```\nso\n```json\n{\"a\":1}\n```",
        "```json {\"a\":1}```",
        "```json\n{\"a\":1}",
    ] {
        assert_eq!(recovered(text), r#"{"a":1}"#);
    }
    assert_eq!(recovered("The number:\n```\n42\n```"), "42");
}

#[test]
fn a_fence_inside_a_string_is_part_of_the_string() {
    let json = r#"{"md":"```rust\nfn main() {}\n```"}"#;
    assert_eq!(bare(json), json);
    assert_eq!(recovered(&format!("```json\n{json}\n```")), json);
    assert_eq!(recovered(&format!("Here: {json}")), json);
}

#[test]
fn json_in_prose_is_found() {
    let json = r#"{"say":"he said \"hi}\" \\","n":[1,{"b":2}]}"#;
    assert_eq!(recovered(&format!("Here is the \"JSON: {json}. Enjoy!")), json);
    assert_eq!(recovered(r#"The list: [{"a":1},{"a":2}] as asked"#), r#"[{"a":1},{"a":2}]"#);
    assert_eq!(recovered(r#"Per [1] and {name}: {"a":1}"#), r#"{"a":1}"#);
}

#[test]
fn nothing_is_chosen_among_several() {
    for text in
        ["{\"a\":1}\n{\"a\":2}", "either [1] or [2]", "```json\n{\"a\":1}\n```\nor\n```json\n{\"a\":2}\n```"]
    {
        assert_eq!(extract(text), Err(NoJson::Several), "{text}");
    }
}

#[test]
fn broken_json_is_neither_repaired_nor_searched_for_parts() {
    for text in [
        r#"{"a":1,}"#,
        r#"{"a":[{"b":1},]}"#,
        r#"{"a":NaN,"b":{"c":1}}"#,
        r#"{a:{"b":1}}"#,
        r#"{"items":[{"a":1},{"a":2}"#,
        r#"[{"a":1}, {"a":"#,
    ] {
        let problem = extract(text).unwrap_err();
        assert!(matches!(problem, NoJson::Invalid(_)), "{text}: {problem}");
        assert!(problem.to_string().contains("line 1 column"), "{problem}");
    }
    assert_eq!(extract(r#"Sure: {"items":[{"a":1}"#), Err(NoJson::Absent));
    assert_eq!(extract("```json\n{\"a\":1,}\n```"), Err(NoJson::Absent));
}

#[test]
fn what_holds_no_json_says_so() {
    assert_eq!(extract(""), Err(NoJson::Empty));
    assert_eq!(extract(" \u{feff}\n"), Err(NoJson::Empty));
    assert_eq!(extract("I cannot do that."), Err(NoJson::Absent));
    assert_eq!(extract("}}]] (it is \"5\" now)"), Err(NoJson::Absent));
}

/// Each of these is quadratic for a search that starts anew at every bracket; here each takes milliseconds.
#[test]
fn hostile_texts_are_read_once() {
    for unit in ["[", "{", "{\"a\":", "[1,", "]", "{}", "\"", "\\", "```\n", "```json\n[\n", "{\"\\"] {
        let _ = extract(&unit.repeat(1_000_000));
        let _ = extract(&format!("x{}", unit.repeat(1_000_000)));
    }
    let nested = format!("{}1{}", "[".repeat(500_000), "]".repeat(500_000));
    assert_eq!(bare(&nested), nested);
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[`{}\\[\\]\"\\\\\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z`\"{}]{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_found_bare_fenced_and_announced(value in json(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        prop_assert_eq!(bare(&text), &text);
        let fenced = format!("Here it is:\n```json\n{text}\n```\nAs asked.");
        prop_assert_eq!(recovered(&fenced), &text);
        if value.is_object() || value.is_array() {
            let announced = format!("Here's the \"answer: {text} (done)");
            prop_assert_eq!(recovered(&announced), &text);
        }
    }

    #[test]
    fn what_is_found_is_json_and_part_of_the_text(text in "([{}\\[\\]\",:\\\\`\n 1a\u{feff}é]|```json\n|\\{\"a\":1\\}){0,40}") {
        if let Ok(found) = extract(&text) {
            prop_assert!(is_json(found.json));
            prop_assert!(text.contains(found.json));
            prop_assert_eq!(found.recovered, !is_json(&text));
        }
    }

    #[test]
    fn no_text_is_too_odd(text: String) {
        let _ = extract(&text);
    }

    #[test]
    fn a_cut_object_is_never_taken_for_a_whole_one(value in json(), at: prop::sample::Index) {
        let text = serde_json::json!({ "answer": value }).to_string();
        let mut cut = at.index(text.len());
        while !text.is_char_boundary(cut) { cut -= 1; }
        prop_assert!(extract(&text[..cut]).is_err());
        let announced = format!("Here: {}", &text[..cut]);
        prop_assert!(extract(&announced).is_err());
    }
}
