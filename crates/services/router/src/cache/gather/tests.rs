use super::*;
use v1::part::Part;

fn text_delta(text: &str) -> Event {
    Event::TextDelta(v1::TextDelta { text: text.to_owned() })
}

fn thought(text: &str, signature: &str) -> Event {
    Event::ReasoningDelta(v1::ReasoningDelta {
        text: text.to_owned(),
        signature: signature.to_owned(),
        vendor: "anthropic".to_owned(),
        ..Default::default()
    })
}

fn gathered(events: &[Event]) -> Option<Vec<v1::Part>> {
    let mut gathered = Gathered::new();
    events.iter().for_each(|event| gathered.take(event));
    gathered.whole()
}

#[test]
fn pieces_become_the_parts_that_they_were() {
    let events = [
        thought("Hm", ""),
        thought("…", "s1"),
        thought("More", "s2"),
        text_delta("Good "),
        text_delta("day"),
    ];
    let parts: Vec<Part> = gathered(&events).unwrap().into_iter().filter_map(|part| part.part).collect();
    let block = |text: &str, signature: &str| {
        Part::Reasoning(v1::Reasoning {
            text: text.to_owned(),
            signature: signature.to_owned(),
            redacted: false,
            vendor: "anthropic".to_owned(),
        })
    };
    assert_eq!(parts, [block("Hm…", "s1"), block("More", "s2"), Part::Text("Good day".to_owned())]);
}

#[test]
fn what_is_too_long_or_calls_a_tool_is_let_go() {
    let long = "x".repeat(MOST_BYTES);
    assert!(gathered(&[text_delta(&long)]).is_some());
    assert_eq!(gathered(&[text_delta(&long), text_delta("y"), text_delta("z")]), None);
    assert_eq!(
        gathered(&[text_delta("a"), Event::ToolCallDelta(v1::ToolCallDelta::default()), text_delta("b")]),
        None
    );
}
