mod changes;
mod properties;
mod samples;

use super::*;
use crate::keys::Secret;
use ring::digest::{SHA256, digest};
use samples::{CONTEXT, full, single, user};
use signalbox_types::{Part, Purpose};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn said(text: &str, purpose: Purpose) -> Part {
    Part::Text { text: text.to_owned(), purpose }
}

fn request(parts: Vec<Part>) -> GenerateRequest {
    let mut request = single("");
    request.prompt.messages = vec![user(parts)];
    request
}

fn instruction(request: &GenerateRequest) -> Option<String> {
    Canonical::of(request, &CONTEXT).instruction().map(|found| found.text().into_owned())
}

/// Entries outlive releases: whoever changes these changes `VERSION` too, and every stored answer is lost.
#[test]
fn the_bytes_of_version_1_do_not_change() {
    let request = single("Hi");
    let canonical = Canonical::of(&request, &Context::default());
    let zeros = |count: usize| "00".repeat(count);
    let expected = [
        hex(b"signalbox.cache.request"),
        "01".to_owned(),
        zeros(6 * 8),                  // tenant, task, locale, requested, template, policy
        zeros(8),                      // capabilities
        zeros(8),                      // system
        "0000000000000001".to_owned(), // one message
        "00".to_owned(),               // of the user
        "0000000000000001".to_owned(), // one part
        "00".to_owned(),               // the instruction
        zeros(8),                      // tools
        zeros(1 + 1),                  // tool choice, parallel calls
        zeros(4 + 1 + 1),              // sampling
        zeros(1),                      // most tokens
        zeros(8),                      // stop
        zeros(1 + 1 + 1),              // format, effort, reasoning
    ];
    assert_eq!(hex(canonical.rest()), expected.concat());
    let whole = [
        format!("{:016x}", canonical.rest().len()),
        hex(canonical.rest()),
        "0000000000000001".to_owned(),
        "0000000000000002".to_owned(),
        hex(b"Hi"),
    ];
    assert_eq!(hex(&canonical.whole()), whole.concat());
    let full = full();
    let whole = Canonical::of(&full, &CONTEXT).whole();
    assert_eq!(
        hex(digest(&SHA256, &whole).as_ref()),
        "43e9e16f4246b140767c8b92da787061ef207fb25aba5beafaef1e7238518d40"
    );
}

#[test]
fn the_only_text_of_a_single_turn_is_the_instruction() {
    assert_eq!(instruction(&single("Translate")).as_deref(), Some("Translate"));
    let with_image = request(vec![samples::image(b"png"), Part::text("What is this?")]);
    assert_eq!(instruction(&with_image).as_deref(), Some("What is this?"));
}

#[test]
fn where_nothing_tells_it_from_content_there_is_none() {
    assert_eq!(instruction(&request(vec![Part::text("Summarise"), Part::text("An article")])), None);
    assert_eq!(instruction(&request(vec![said("An article", Purpose::Content)])), None);
    let mut dialogue = single("Hello");
    dialogue.prompt.messages.push(samples::assistant(vec![Part::text("Hello!")]));
    dialogue.prompt.messages.push(user(vec![Part::text("And now?")]));
    assert_eq!(instruction(&dialogue), None);
}

#[test]
fn what_says_that_it_is_the_instruction_is() {
    let parts = vec![
        said("Summarise", Purpose::Instruction),
        said("in Italian", Purpose::Instruction),
        said("An article", Purpose::Content),
        Part::text("Another"),
    ];
    let split = request(parts);
    let canonical = Canonical::of(&split, &CONTEXT);
    let found = canonical.instruction().unwrap();
    assert_eq!(found.text(), "Summarise\nin Italian");
    assert!(found.is_in_one_place());
    assert!(!hex(canonical.rest()).contains(&hex(b"Summarise")));
    assert!(hex(canonical.rest()).contains(&hex(b"An article")));
}

#[test]
fn an_instruction_around_content_is_not_in_one_place() {
    let parts = vec![
        said("Summarise", Purpose::Instruction),
        said("An article", Purpose::Content),
        said("in Italian", Purpose::Instruction),
    ];
    let split = request(parts);
    assert!(!Canonical::of(&split, &CONTEXT).instruction().unwrap().is_in_one_place());
}

#[test]
fn an_instruction_of_an_earlier_turn_is_history() {
    let mut dialogue = single("");
    dialogue.prompt.messages = vec![
        user(vec![said("Summarise", Purpose::Instruction)]),
        samples::assistant(vec![Part::text("Done")]),
        user(vec![said("Shorter", Purpose::Instruction), said("An article", Purpose::Content)]),
    ];
    assert_eq!(instruction(&dialogue).as_deref(), Some("Shorter"));
    assert!(hex(Canonical::of(&dialogue, &CONTEXT).rest()).contains(&hex(b"Summarise")));
}

#[test]
fn another_wording_leaves_the_rest_as_it_is() {
    let (one, other) = (single("Write a headline"), single("A headline, please"));
    let (one, other) = (Canonical::of(&one, &CONTEXT), Canonical::of(&other, &CONTEXT));
    assert_eq!(one.rest(), other.rest());
    assert_ne!(one.whole(), other.whole());
}

#[test]
fn saying_that_the_only_text_is_the_instruction_changes_nothing() {
    let (plain, explicit) = (single("Translate"), request(vec![said("Translate", Purpose::Instruction)]));
    assert_eq!(Canonical::of(&plain, &CONTEXT), Canonical::of(&explicit, &CONTEXT));
}

#[test]
fn zero_has_no_sign() {
    let with = |temperature| {
        let mut request = single("Hi");
        request.prompt.sampling.temperature = Some(temperature);
        Canonical::of(&request, &CONTEXT).whole()
    };
    assert_eq!(with(0.0), with(-0.0));
    assert_eq!(with(f64::NAN), with(-f64::NAN));
    assert_ne!(with(0.0), with(f64::MIN_POSITIVE));
}

#[test]
fn an_answer_of_a_lower_tier_is_found_by_those_who_ask_for_it() {
    let (mut fast, mut cheap) = (single("Hi"), single("Hi"));
    fast.model = "fast".parse().unwrap();
    cheap.model = "tier:economy".parse().unwrap();
    let keys = Secret::new(b"secret").tenant("acme");
    let served = Context { requested: "tier:economy", ..CONTEXT };
    let at = |request, context| keys.keys(request, &Canonical::of(request, context));
    assert_eq!(at(&fast, &served), at(&cheap, &served));
    assert_ne!(at(&fast, &served), at(&fast, &Context { requested: "fast", ..CONTEXT }));
}
