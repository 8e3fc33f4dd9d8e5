//! Two requests have the same bytes if and only if they say the same.

use super::samples::{assistant, user};
use crate::{Canonical, Context};
use proptest::prelude::*;
use signalbox_types::{GenerateRequest, Message, Part, Prompt, Purpose, Tool};

/// Texts that are easily confused: few letters, and what separators and lengths might be made of.
fn text() -> impl Strategy<Value = String> {
    "[ab|:\u{0}]{0,3}"
}

fn purpose() -> impl Strategy<Value = Purpose> {
    prop_oneof![
        3 => Just(Purpose::Unspecified),
        1 => Just(Purpose::Instruction),
        1 => Just(Purpose::Content),
    ]
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let part = (text(), purpose()).prop_map(|(text, purpose)| Part::Text { text, purpose });
    let parts = prop::collection::vec(part, 1..3);
    let message = (any::<bool>(), parts)
        .prop_map(|(is_user, parts)| if is_user { user(parts) } else { assistant(parts) });
    prop::collection::vec(message, 1..3)
}

fn tools() -> impl Strategy<Value = Vec<Tool>> {
    let tool = (text(), text()).prop_map(|(name, description)| Tool {
        name,
        description,
        parameters: None,
        strict: None,
    });
    prop::collection::vec(tool, 0..2)
}

fn requests() -> impl Strategy<Value = GenerateRequest> {
    let names = (text(), text(), text());
    (names, text(), messages(), tools(), prop::collection::vec(text(), 0..3)).prop_map(
        |((tenant_id, task_type, locale), system, messages, tools, stop)| GenerateRequest {
            tenant_id,
            task_type,
            locale,
            prompt: Prompt { system, messages, tools, stop, ..Prompt::default() },
            ..GenerateRequest::default()
        },
    )
}

/// The request with nothing said of its texts but which of them are the instruction.
fn as_understood(request: &GenerateRequest) -> GenerateRequest {
    let canonical = Canonical::of(request, &Context::default());
    let mut understood = request.clone();
    for (message, turn) in understood.prompt.messages.iter_mut().enumerate() {
        for (index, part) in turn.parts.iter_mut().enumerate() {
            let Part::Text { purpose, .. } = part else { continue };
            let is_it = canonical.instruction().is_some_and(|held| held.holds(message, index));
            *purpose = if is_it { Purpose::Instruction } else { Purpose::Content };
        }
    }
    understood
}

fn whole(request: &GenerateRequest) -> Vec<u8> {
    Canonical::of(request, &Context::default()).whole()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_two_requests_run_into_the_same_bytes(one in requests(), other in requests()) {
        prop_assert_eq!(whole(&one) == whole(&other), as_understood(&one) == as_understood(&other));
    }

    #[test]
    fn a_text_moved_over_a_border_is_another_request(request in requests(), letter in "[ab|:\u{0}]") {
        let (mut before, mut after) = (request.clone(), request);
        before.task_type.push_str(&letter);
        after.locale.insert_str(0, &letter);
        prop_assert_ne!(whole(&before), whole(&after));
    }

    #[test]
    fn the_order_of_labels_never_matters(mut labels in prop::collection::vec((text(), text()), 0..6)) {
        let with = |labels: &[(String, String)]| {
            let mut request = super::samples::full();
            request.prompt.metadata = labels.iter().cloned().collect();
            whole(&request)
        };
        let forth = with(&labels);
        labels.reverse();
        prop_assert_eq!(forth, with(&labels));
    }
}
