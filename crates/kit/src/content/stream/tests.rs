use super::*;
use crate::config::{Environment, load_text};
use crate::content::moderation::Judge;
use signalbox_pricing::Day;
use signalbox_types::ErrorReason;
use std::task::Waker;

/// The stream of an answer under a policy of these rules.
fn stream(policy: &str, structured: bool) -> StreamContent {
    let text = format!("content_policy: p\ncontent_policies: {{p: {policy}}}\n");
    let today = Day::parse("2026-11-29").unwrap();
    let loaded = load_text(&text, None, &Environment::default(), today).unwrap();
    let policy = loaded.catalog.content_policy("").unwrap().clone();
    let judge = Judge::without_endpoint(&policy);
    let content = Content { policy, judge, structured, findings: Vec::new(), unjudged: false };
    StreamContent::new(Box::new(content), None)
}

const REDACT: &str = "{rules: [{name: mail, pii: [email], action: redact}]}";
const FLAG: &str = "{rules: [{name: mail, pii: [email], action: flag}]}";

fn text(text: &str) -> Event {
    Event::TextDelta(v1::TextDelta { text: text.to_owned() })
}

fn reasoning(text: &str, signature: &str) -> Event {
    let (text, signature) = (text.to_owned(), signature.to_owned());
    Event::ReasoningDelta(v1::ReasoningDelta {
        text,
        signature,
        vendor: "anthropic".to_owned(),
        redacted: false,
    })
}

fn call(index: u32, name: &str, arguments: &str) -> Event {
    let (name, arguments) = (name.to_owned(), arguments.to_owned());
    Event::ToolCallDelta(v1::ToolCallDelta { index, name, arguments, ..Default::default() })
}

fn done() -> Event {
    Event::Done(v1::InvokeDone::default())
}

/// What may be sent at once.
fn passed(stream: &mut StreamContent) -> Result<Vec<Event>, Failure> {
    let mut events = Vec::new();
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(event) = stream.poll_passed(&mut cx) {
        match event? {
            Some(event) => events.push(event),
            None => break,
        }
    }
    Ok(events)
}

fn take(stream: &mut StreamContent, event: Event) -> Vec<Event> {
    stream.take(event).unwrap();
    passed(stream).unwrap()
}

#[test]
fn text_waits_only_while_it_may_become_something() {
    let mut stream = stream(REDACT, false);
    assert_eq!(take(&mut stream, text("Hello, ")), [text("Hello, ")]);
    assert_eq!(take(&mut stream, text("ann@example")), []);
    assert_eq!(take(&mut stream, text(".com!")), [text("[EMAIL]!")]);
    assert_eq!(take(&mut stream, text(" b")), [text(" ")]);
    assert_eq!(take(&mut stream, done()), [text("b"), done()]);
}

#[test]
fn tool_calls_wait_until_they_are_whole_and_come_after_the_text() {
    let mut stream = stream(REDACT, false);
    assert_eq!(take(&mut stream, call(0, "send", "{\"to\": \"ann@exam")), []);
    assert_eq!(take(&mut stream, call(1, "note", "{\"text\"")), []);
    assert_eq!(take(&mut stream, text("there")), []);
    assert_eq!(take(&mut stream, call(0, "", "ple.com\"}")), []);
    assert_eq!(take(&mut stream, call(1, "", ": 1}")), []);
    let calls = [call(0, "send", "{\"to\": \"[EMAIL]\"}"), call(1, "note", "{\"text\": 1}")];
    let [first, second] = calls;
    assert_eq!(take(&mut stream, done()), [text("there"), first, second, done()]);
    assert_eq!(stream.take_findings().len(), 1);
}

#[test]
fn reasoning_that_was_redacted_loses_its_signature_and_other_blocks_keep_theirs() {
    let mut stream = stream(REDACT, false);
    assert_eq!(take(&mut stream, reasoning("Ask ", "")), [reasoning("Ask ", "")]);
    assert_eq!(take(&mut stream, reasoning("ann@example.com", "")), []);
    assert_eq!(take(&mut stream, reasoning("", "signed")), [reasoning("[EMAIL]", "")]);
    assert_eq!(take(&mut stream, reasoning("Well", "signed")), [reasoning("Well", "signed")]);
    assert_eq!(take(&mut stream, reasoning("And", "")), []);
    assert_eq!(take(&mut stream, text("So: ")), [reasoning("And", ""), text("So: ")]);
    assert_eq!(take(&mut stream, done()), [done()]);
}

#[test]
fn json_that_was_asked_for_waits_until_it_is_whole() {
    let mut stream = stream(REDACT, true);
    assert_eq!(take(&mut stream, text("{\"to\": \"\\nann@example.")), []);
    assert_eq!(take(&mut stream, text("com\"}")), []);
    assert_eq!(take(&mut stream, done()), [text("{\"to\": \"\\n[EMAIL]\"}"), done()]);
}

#[test]
fn flags_hold_back_nothing() {
    let mut stream = stream(FLAG, true);
    let events =
        [text("ann@exam"), text("ple.com"), call(0, "send", "{\"to\""), call(0, "", ": \"b@c.example\"}")];
    for event in events {
        assert_eq!(take(&mut stream, event.clone()), [event]);
    }
    assert_eq!(take(&mut stream, done()), [done()]);
    assert_eq!(stream.take_findings()[0].count, 2);
}

#[test]
fn what_is_blocked_ends_the_answer_in_text_reasoning_and_calls_alike() {
    let blocked = "{rules: [{name: code, words: [zephyr], action: block}]}";
    for event in [text("the zephyr "), reasoning("the zephyr ", "")] {
        let failure = stream(blocked, false).take(event).unwrap_err();
        assert_eq!(failure.reason, ErrorReason::ContentPolicy);
        assert!(failure.message.ends_with("refuses the answer: rule `code`"), "{failure}");
    }
    let mut stream = stream(blocked, false);
    stream.take(call(0, "send", "{\"text\": \"Zephyr\"}")).unwrap();
    assert!(stream.take(done()).is_err());
    assert_eq!(passed(&mut stream).unwrap(), [], "nothing of a refused answer is left to send");
}

#[test]
fn nothing_is_sent_before_a_moderation_endpoint_that_may_block_has_judged() {
    let of = |on_error: &str, action: &str| {
        let policy = format!("{{moderation: {{on_error: {on_error}, action: {action}}}}}");
        let mut stream = stream(&policy, false);
        stream.take(text("Hello")).unwrap();
        let before = passed(&mut stream).unwrap();
        stream.take(done()).unwrap();
        (before, passed(&mut stream))
    };
    assert_eq!(of("allow", "block"), (vec![], Ok(vec![text("Hello"), done()])));
    assert_eq!(of("allow", "flag"), (vec![text("Hello")], Ok(vec![done()])));
    let (before, after) = of("block", "block");
    assert_eq!((before, after.unwrap_err().reason), (vec![], ErrorReason::Unavailable));
}
