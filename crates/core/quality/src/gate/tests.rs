use super::*;
use proptest::prelude::*;
use serde_json::json;
use signalbox_types::{JsonText, Reasoning};

fn text(text: &str) -> Vec<Part> {
    vec![Part::Reasoning(Reasoning { text: "{\"no\":1}".into(), ..Reasoning::default() }), Part::text(text)]
}

fn call(name: &str, arguments: &str) -> Part {
    let (name, arguments) = (name.to_owned(), arguments.to_owned());
    Part::ToolCall(ToolCall { id: "call_0".into(), name, arguments, signature: None })
}

fn free() -> Prompt {
    Prompt::default()
}

fn object() -> Prompt {
    Prompt { response_format: ResponseFormat::JsonObject, ..Prompt::default() }
}

fn schema() -> Prompt {
    let schema = json!({
        "type": "object",
        "properties": {"title": {"type": "string", "maxLength": 10}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["title"],
        "additionalProperties": false,
    });
    let schema = JsonText::from(&schema);
    let response_format = ResponseFormat::JsonSchema { name: "headline".into(), schema, strict: false };
    Prompt { response_format, ..Prompt::default() }
}

fn tools(tool_choice: ToolChoice, strict: Option<bool>) -> Prompt {
    let parameters = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
    let parameters = Some(JsonText::from(&parameters));
    let lookup = Tool { name: "lookup".into(), description: String::new(), parameters, strict };
    let ping = Tool { name: "ping".into(), description: String::new(), parameters: None, strict };
    Prompt { tools: vec![lookup, ping], tool_choice, ..Prompt::default() }
}

fn judge(prompt: &Prompt, parts: &[Part], finish: FinishReason) -> Verdict {
    check(&Schemas::new(8), prompt, parts, finish)
}

fn passes(prompt: &Prompt, parts: &[Part]) {
    assert_eq!(judge(prompt, parts, FinishReason::Stop), Verdict::Pass);
}

fn refused(prompt: &Prompt, parts: &[Part], finish: FinishReason) -> String {
    match judge(prompt, parts, finish) {
        Verdict::Invalid { message } => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn free_text_passes_whatever_it_says_and_however_it_ends() {
    for finish in [
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::Refusal,
        FinishReason::ContentFilter,
        FinishReason::ContextExceeded,
        FinishReason::Pause,
        FinishReason::Unknown,
        FinishReason::StopSequence,
    ] {
        assert_eq!(judge(&free(), &text("{\"a\":"), finish), Verdict::Pass);
        assert_eq!(judge(&free(), &[], finish), Verdict::Pass);
    }
    assert!(!is_gated(&free()));
}

#[test]
fn a_json_object_is_asked_for_and_given() {
    passes(&object(), &text(" {\"a\":1}\n"));
    passes(&object(), &[Part::text("{\"a\""), Part::text(":1}")]);
    let message = refused(&object(), &text("[1]"), FinishReason::Stop);
    assert_eq!(message, "the answer is JSON, but not an object");
    let message = refused(&object(), &text("{\"a\":1,}"), FinishReason::Stop);
    assert_eq!(message, "the answer is not valid JSON: key must be a string at line 1 column 8");
    assert_eq!(refused(&object(), &[], FinishReason::Stop), "the answer is empty");
    assert!(is_gated(&object()) && is_gated(&schema()));
}

#[test]
fn fenced_json_is_recovered_and_takes_the_texts_place() {
    let mut parts = text("Sure!\n```json\n{\"a\":");
    parts.push(Part::text("1}\n```"));
    let verdict = judge(&object(), &parts, FinishReason::Stop);
    assert_eq!(verdict, Verdict::Recovered { json: "{\"a\":1}".into() });
    assert!(verdict.passed());
    verdict.apply(&mut parts);
    assert_eq!(parts, text("{\"a\":1}"));
    let before = parts.clone();
    Verdict::Pass.apply(&mut parts);
    assert_eq!(parts, before);
}

#[test]
fn the_schema_is_held_whether_or_not_the_vendor_was_to_enforce_it() {
    passes(&schema(), &text(r#"{"title":"Rain","tags":["a"]}"#));
    let verdict = judge(&schema(), &text(r#"Here: {"title":"Rain"}"#), FinishReason::Stop);
    assert_eq!(verdict, Verdict::Recovered { json: r#"{"title":"Rain"}"#.into() });
    let message = refused(&schema(), &text(r#"{"title":"Rain","tags":["a",5]}"#), FinishReason::Stop);
    assert_eq!(message, r#"the answer does not match the schema: at /tags/1: value is not of type "string""#);
    let message = refused(&schema(), &text(r#"{"title":"secret secret"}"#), FinishReason::Stop);
    assert!(message.contains("/title") && !message.contains("secret"), "{message}");
    assert!(refused(&schema(), &text("{}"), FinishReason::Stop).contains("title"));
}

#[test]
fn structured_output_cut_for_length_says_so() {
    for prompt in [object(), schema()] {
        let message = refused(&prompt, &text("{\"title\":\"Ra"), FinishReason::Length);
        assert_eq!(
            message,
            "the answer was cut at the output limit: the JSON is not complete; allow more output tokens"
        );
        let message = refused(&prompt, &text("{\"title\":\"Ra"), FinishReason::ContextExceeded);
        assert!(message.contains("context window"), "{message}");
    }
}

#[test]
fn a_refusal_is_the_answer_even_where_json_was_asked_for() {
    for finish in [FinishReason::Refusal, FinishReason::ContentFilter] {
        assert_eq!(judge(&schema(), &text("I cannot."), finish), Verdict::Pass);
        assert_eq!(judge(&tools(ToolChoice::Required, None), &text("I cannot."), finish), Verdict::Pass);
    }
}

#[test]
fn required_tools_must_be_called() {
    let required = tools(ToolChoice::Required, None);
    passes(&required, &[call("ping", "{}")]);
    assert!(refused(&required, &text("Hello"), FinishReason::Stop).contains("called no tool"));
    assert!(refused(&required, &[call("other", "{}")], FinishReason::Stop).contains("called no tool"));
    let named = tools(ToolChoice::Named("lookup".into()), None);
    passes(&named, &[call("ping", "{}"), call("lookup", "{\"id\":1}")]);
    assert!(refused(&named, &[call("ping", "{}")], FinishReason::Stop).contains("`lookup`"));
    assert!(is_gated(&required) && is_gated(&named));
    let message = refused(&required, &text("Let me th"), FinishReason::Length);
    assert!(message.starts_with("the answer was cut at the output limit: "), "{message}");
}

#[test]
fn arguments_must_be_json_and_match_only_where_strict() {
    for choice in [ToolChoice::Auto, ToolChoice::Required] {
        let (loose, strict) = (tools(choice.clone(), None), tools(choice, Some(true)));
        passes(&loose, &[call("lookup", "{\"id\":\"x\"}")]);
        passes(&strict, &[call("lookup", "{\"id\":7}"), call("ping", "{}")]);
        let message = refused(&strict, &[call("lookup", "{\"id\":\"x\"}")], FinishReason::ToolCalls);
        assert_eq!(
            message,
            r#"the arguments of `lookup` do not match its schema: at /id: value is not of type "integer""#
        );
        for prompt in [&loose, &strict] {
            let message = refused(prompt, &[call("lookup", "{\"id\":")], FinishReason::ToolCalls);
            assert!(message.contains("`lookup` are not JSON"), "{message}");
        }
        assert_eq!(judge(&loose, &[call("lookup", "{\"id\":")], FinishReason::Length), Verdict::Pass);
        let message = refused(&strict, &[call("lookup", "{\"id\":")], FinishReason::Length);
        assert!(message.contains("cut at the output limit"), "{message}");
    }
    assert!(!is_gated(&tools(ToolChoice::Auto, None)) && is_gated(&tools(ToolChoice::Auto, Some(true))));
}

#[test]
fn a_turn_that_calls_tools_is_not_yet_the_answer() {
    let prompt = Prompt { response_format: schema().response_format, ..tools(ToolChoice::Auto, None) };
    passes(&prompt, &[Part::text("Let me look."), call("lookup", "{\"id\":1}")]);
    refused(&prompt, &text("Let me look."), FinishReason::Stop);
}

#[test]
fn a_call_that_the_vendor_could_not_read_is_refused() {
    let message = refused(&tools(ToolChoice::Auto, None), &[], FinishReason::MalformedToolCall);
    assert!(message.contains("cannot be read"), "{message}");
}

fn prompt() -> impl Strategy<Value = Prompt> {
    let choice = prop::sample::select(vec![
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Named("lookup".into()),
    ]);
    let format = prop::sample::select(vec![
        ResponseFormat::Text,
        ResponseFormat::JsonObject,
        schema().response_format,
    ]);
    let strict = prop::sample::select(vec![None, Some(false), Some(true)]);
    (choice, format, strict)
        .prop_map(|(choice, response_format, strict)| Prompt { response_format, ..tools(choice, strict) })
}

fn part() -> impl Strategy<Value = Part> {
    let json = prop::sample::select(vec![
        "",
        "{",
        "{}",
        "[1]",
        "{\"id\":1}",
        "{\"title\":\"x\"}",
        "{\"title\":7}",
        "Here:",
        "```json\n{}\n```",
        "\u{feff}",
    ]);
    let name = prop::sample::select(vec!["lookup", "ping", "other"]);
    prop_oneof![
        json.clone().prop_map(Part::text),
        any::<String>().prop_map(Part::text),
        (name, json).prop_map(|(name, json)| call(name, json)),
    ]
}

fn finish() -> impl Strategy<Value = FinishReason> {
    prop::sample::select(vec![
        FinishReason::Unknown,
        FinishReason::Stop,
        FinishReason::StopSequence,
        FinishReason::Length,
        FinishReason::ToolCalls,
        FinishReason::ContentFilter,
        FinishReason::Refusal,
        FinishReason::ContextExceeded,
        FinishReason::Pause,
        FinishReason::MalformedToolCall,
    ])
}

proptest! {
    #[test]
    fn what_is_recovered_passes_as_it_is(
        prompt in prompt(), mut parts in prop::collection::vec(part(), 0..5), finish in finish(),
    ) {
        let verdict = judge(&prompt, &parts, finish);
        if let Verdict::Invalid { message } = &verdict {
            prop_assert!(message.len() < 1_000, "{}", message);
        }
        let passed = verdict.passed();
        verdict.apply(&mut parts);
        if passed {
            prop_assert_eq!(judge(&prompt, &parts, finish), Verdict::Pass);
        }
        if !is_gated(&prompt) && !parts.iter().any(|part| matches!(part, Part::ToolCall(_))) {
            prop_assert!(passed || finish == FinishReason::MalformedToolCall);
        }
    }
}
