//! Every symbol must stand in both texts, in the same order and at the same words: -5 is not 5, and "O+" not "O-".

use crate::written::{Symbol, Written};

pub(super) fn difference([a, b]: &[Written; 2]) -> Option<String> {
    let mut at_a = a.symbols.iter().map(|symbol| at(a, *symbol));
    let mut at_b = b.symbols.iter().map(|symbol| at(b, *symbol));
    loop {
        match (at_a.next(), at_b.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (Some((sign, ..)), Some((other, ..))) if sign != other => {
                return Some(format!("`{sign}` against `{other}`"));
            }
            (Some((sign, before, after)), _) | (None, Some((sign, before, after))) => {
                return Some(format!("only one says `{}{sign}{}`", before.0, after.0));
            }
        }
    }
}

/// A symbol with what it belongs to: a word, and which of those that are the same.
fn at(written: &Written, symbol: Symbol) -> (char, (&str, usize), (&str, usize)) {
    let word = |at: Option<usize>| {
        let (before, word) = at.and_then(|at| Some((written.words.get(..at)?, written.words.get(at)?)))?;
        Some((word.bare.as_str(), before.iter().filter(|before| before.bare == word.bare).count()))
    };
    (symbol.sign, word(symbol.before).unwrap_or_default(), word(symbol.after).unwrap_or_default())
}
