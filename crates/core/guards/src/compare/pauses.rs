//! The same words with commas elsewhere may say something else: "No, more data" and "No more data". So may those with
//! another mark at the end: "You did it?" and "You did it."

use super::wording::words;
use crate::{lexicon::Kind, reading::Reading, tokens::Shape};

pub(super) fn difference(a: &Reading, b: &Reading) -> Option<String> {
    if pauses(a) != pauses(b) && words(a) == words(b) {
        return Some("the same words with other commas".to_owned());
    }
    let (asks_a, asks_b) = (asks(a)?, asks(b)?);
    // With politeness around it a request may be put either way.
    let differ = asks_a != asks_b && all_words(a).eq(all_words(b));
    differ.then(|| "one asks what the other states".to_owned())
}

/// Whether it ends as a question. `None` where no mark tells: many leave it out, end with dots, or put a full stop behind
/// a question, which "how" makes one whatever its mark.
fn asks(reading: &Reading) -> Option<bool> {
    let behind = reading.tokens.iter().rev().take_while(|token| token.shape == Shape::Mark);
    let marks: Vec<&str> = behind.map(|mark| mark.text.as_str()).filter(|mark| is_end(mark)).collect();
    let tells =
        !marks.is_empty() && marks != [".", ".", "."] && reading.keys(Kind::Question).next().is_none();
    tells.then(|| marks.contains(&"?"))
}

fn is_end(mark: &str) -> bool {
    matches!(mark, "." | "!" | "?" | "。")
}

fn all_words(reading: &Reading) -> impl Iterator<Item = &str> {
    let words = reading.tokens.iter().filter(|token| token.shape != Shape::Mark);
    words.map(|token| token.text.as_str())
}

/// Behind how many words each comma or full stop stands; those at politeness, in dates and at the end say nothing.
fn pauses(reading: &Reading) -> Vec<(usize, &str)> {
    let (mut words, mut polite, mut pauses, mut open) = (0, true, Vec::new(), Vec::new());
    let in_date = |at: usize| {
        reading.terms.iter().any(|term| term.kind == Kind::Date && term.from < at && at < term.until)
    };
    for (at, (token, is_polite)) in reading.tokens.iter().zip(&reading.polite).enumerate() {
        if token.shape != Shape::Mark {
            if !is_polite && !polite {
                pauses.append(&mut open);
            }
            open.clear();
            polite = *is_polite;
            words += usize::from(!is_polite);
        } else if matches!(token.text.as_str(), "," | ";" | "." | "?" | "!" | "、" | "。") && !in_date(at) {
            open.push((words, token.text.as_str()));
        }
    }
    pauses
}
