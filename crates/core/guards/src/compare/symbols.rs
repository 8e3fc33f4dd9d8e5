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
                return Some(format!("only one says `{before}{sign}{after}`"));
            }
        }
    }
}

/// A symbol with what it belongs to.
fn at(written: &Written, symbol: Symbol) -> (char, &str, &str) {
    let word =
        |at: Option<usize>| at.and_then(|at| written.words.get(at)).map_or("", |word| word.bare.as_str());
    (symbol.sign, word(symbol.before), word(symbol.after))
}
