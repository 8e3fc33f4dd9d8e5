//! Instructions made from frames with slots: every way to change one slot, and to let two change places.

mod languages;

use crate::sets::{Half, Pair};
use languages::{Frame, LANGUAGES, Language};

/// All pairs, in an order that never changes.
pub fn pairs() -> Vec<Pair> {
    LANGUAGES
        .iter()
        .flat_map(|language| language.frames.iter().flat_map(|frame| of(language, frame)))
        .collect()
}

fn of(language: &Language, frame: &Frame) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let longest = frame.slots.iter().map(|slot| slot.values.len()).max().unwrap_or_default();
    // Each slot begins elsewhere in its list, so that two slots of a kind hold different values.
    for turn in 0..longest {
        let values: Vec<&str> = frame
            .slots
            .iter()
            .enumerate()
            .map(|(index, slot)| slot.values[(turn + index) % slot.values.len()])
            .collect();
        let text = fill(frame.text, &values);
        let mut push = |kind: &str, asked: String, same| {
            if asked != text || same {
                pairs.push(pair(language, kind, &text, asked, same));
            }
        };
        for (index, slot) in frame.slots.iter().enumerate() {
            for other in slot.values {
                let mut changed = values.clone();
                changed[index] = other;
                push(slot.kind, fill(frame.text, &changed), false);
            }
            for (later, other) in frame.slots.iter().enumerate().skip(index + 1) {
                if slot.kind == other.kind {
                    let mut swapped = values.clone();
                    swapped.swap(index, later);
                    push("order", fill(frame.text, &swapped), false);
                }
            }
        }
        for asked in reworded(language, frame, &values) {
            push("same words", asked, true);
        }
    }
    pairs
}

/// The same with politeness, other spaces, other marks at the end, and numbers in words.
fn reworded(language: &Language, frame: &Frame, values: &[&str]) -> Vec<String> {
    let text = fill(frame.text, values);
    let mut texts: Vec<String> =
        language.polite.iter().map(|(before, after)| format!("{before}{text}{after}")).collect();
    texts.push(format!("  {}.", text.replace(' ', "  ")));
    let spelled: Vec<&str> = values
        .iter()
        .zip(frame.slots)
        .map(|(value, slot)| {
            let word = language.numbers.iter().find(|(digits, _)| slot.kind == "number" && digits == value);
            word.map_or(*value, |(_, word)| *word)
        })
        .collect();
    if spelled != values {
        texts.push(fill(frame.text, &spelled));
    }
    texts
}

fn fill(text: &str, values: &[&str]) -> String {
    values.iter().fold(text.to_owned(), |text, value| text.replacen("{}", value, 1))
}

fn pair(language: &Language, kind: &str, stored: &str, asked: String, same: bool) -> Pair {
    Pair {
        language: language.code.to_owned(),
        kind: kind.to_owned(),
        stored: stored.to_owned(),
        asked,
        same,
        half: Half::HeldOut,
    }
}
