//! The same words with commas elsewhere may say something else: "No, more data" and "No more data".

use super::wording::words;
use crate::{lexicon::Kind, reading::Reading, tokens::Shape};

pub(super) fn difference(a: &Reading, b: &Reading) -> Option<String> {
    let differ = pauses(a) != pauses(b) && words(a) == words(b);
    differ.then(|| "the same words with other commas".to_owned())
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
