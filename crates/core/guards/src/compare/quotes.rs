//! What is quoted must be the same, or stand in the other text unquoted.

use crate::{
    reading::Reading,
    tokens::{Shape, Token},
};

pub(super) fn difference(a: &Reading, b: &Reading) -> Option<String> {
    let (mut in_a, mut in_b) = (quotes(a), quotes(b));
    let lone = match (in_a.is_empty(), in_b.is_empty()) {
        (true, true) => return None,
        (false, false) => {
            in_a.sort_unstable();
            in_b.sort_unstable();
            (in_a != in_b)
                .then(|| in_a.iter().find(|quote| !in_b.contains(quote)).or_else(|| in_b.first()).cloned())?
        }
        (false, true) => in_a.into_iter().find(|quote| !says(b, quote)),
        (true, false) => in_b.into_iter().find(|quote| !says(a, quote)),
    };
    lone.map(|quote| format!("only one says \"{}\"", quote.join(" ")))
}

/// The words inside each pair of quotation marks.
fn quotes(reading: &Reading) -> Vec<Vec<&str>> {
    let runs = reading.tokens.split(|token| !token.quoted);
    runs.map(|run| words(run).collect::<Vec<_>>()).filter(|words| !words.is_empty()).collect()
}

fn says(reading: &Reading, quote: &[&str]) -> bool {
    let all: Vec<&str> = words(&reading.tokens).collect();
    all.windows(quote.len()).any(|window| window == quote)
}

fn words(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().filter(|token| token.shape != Shape::Mark).map(|token| token.text.as_str())
}
