//! Number words put together, and numbers with their units.

use super::Term;
use crate::{
    lexicon::Kind,
    tokens::{Shape, Token},
};

/// "twenty five", 二十五 and 7 点 2 become one number.
pub(super) fn combine(terms: &mut Vec<Term>, tokens: &[Token]) {
    join_by_and(terms, tokens);
    let mut at = 0;
    while at < terms.len() {
        if spelled(terms.get(at), tokens).is_some() {
            let run = terms[at..].iter().enumerate().take_while(|(step, term)| {
                spelled(Some(term), tokens).is_some()
                    && (*step == 0
                        || terms.get(at + step - 1).is_some_and(|before| before.until == term.from))
            });
            let values: Vec<Value> = run.filter_map(|(_, term)| spelled(Some(term), tokens)).collect();
            let sums = sum(&values);
            let (mut taken, from) = (0, at);
            for (value, parts) in sums {
                let until = terms.get(from + taken + parts - 1).map_or(0, |term| term.until);
                if let Some(term) = terms.get_mut(from + taken) {
                    term.key = value.to_string();
                    term.until = until;
                }
                terms.drain(from + taken + 1..from + taken + parts);
                taken += 1;
            }
            at += taken;
        } else {
            at += 1;
        }
    }
    fractions(terms);
    ordinals(terms);
}

/// "One hundred and five" is one number, other than "five and one hundred".
fn join_by_and(terms: &mut Vec<Term>, tokens: &[Token]) {
    let value =
        |term: Option<&Term>| spelled(term, tokens).filter(|(_, digits)| !digits).map(|(value, _)| value);
    for at in (1..terms.len()).rev() {
        let is_and = terms[at].kind == Kind::Turn && terms[at].key == "and";
        let (before, after) = (terms.get(at - 1), terms.get(at + 1));
        let touch = before.is_some_and(|before| before.until == terms[at].from)
            && after.is_some_and(|after| after.from == terms[at].until);
        let hundreds = value(before).is_some_and(|value| value > 0 && value.is_multiple_of(100));
        if is_and && touch && hundreds && value(after).is_some_and(|value| (1..100).contains(&value)) {
            terms[at - 1].until = terms[at].until;
            terms.remove(at);
        }
    }
}

/// A number, and whether it was in digits.
type Value = (u64, bool);

fn spelled(term: Option<&Term>, tokens: &[Token]) -> Option<Value> {
    // 007 is a name, and adds up to nothing.
    let is_value =
        |term: &&Term| term.kind == Kind::Number && (term.key == "0" || !term.key.starts_with('0'));
    let term = term.filter(is_value)?;
    let digits = tokens.get(term.from).is_some_and(|token| token.shape == Shape::Number);
    Some((term.key.parse().ok()?, digits))
}

/// Values in a row as the numbers they make, each with how many it took. Digits may be multiplied, as in "2 million",
/// and take part in nothing else.
fn sum(values: &[Value]) -> Vec<(u64, usize)> {
    let mut sums: Vec<(u64, usize)> = Vec::new();
    // The part under the last large multiplier, and whether it is in digits.
    let (mut part, mut in_digits) = (0_u64, false);
    for (value, digits) in values {
        let scale = !digits && matches!(*value, 10 | 100 | 1_000 | 10_000 | 1_000_000 | 1_000_000_000);
        match sums.last_mut() {
            Some((total, count)) if scale && part > 0 && part < *value => {
                *total = total.saturating_sub(part).saturating_add(part.saturating_mul(*value));
                part = if *value >= 1_000 { 0 } else { part.saturating_mul(*value) };
                *count += 1;
            }
            Some((total, count)) if !digits && !in_digits && fits_behind(*total, *value) => {
                *total += value;
                part += value;
                *count += 1;
            }
            _ => {
                sums.push((*value, 1));
                (part, in_digits) = (*value, *digits);
            }
        }
    }
    sums
}

/// 5 behind 20 or 100, 40 behind 200: the zeros have room for it.
fn fits_behind(total: u64, value: u64) -> bool {
    let room =
        (1..=12).map(|digits| 10_u64.pow(digits)).take_while(|power| total.is_multiple_of(*power)).last();
    value > 0 && total > 0 && room.is_some_and(|room| value < room)
}

/// "7 point 2". The lexicons name the word `point` among units.
fn fractions(terms: &mut Vec<Term>) {
    let mut at = 0;
    while at + 2 < terms.len() {
        let joined = match &terms[at..at + 3] {
            [whole, point, digit]
                if whole.kind == Kind::Number
                    && point.kind == Kind::Unit
                    && point.key == "point"
                    && digit.kind == Kind::Number
                    && digit.key.len() == 1
                    && whole.until == point.from
                    && point.until == digit.from =>
            {
                Some((format!("{}.{}", whole.key, digit.key), digit.until))
            }
            _ => None,
        };
        if let Some((key, until)) = joined {
            terms.drain(at + 1..at + 3);
            if let Some(term) = terms.get_mut(at) {
                (term.key, term.until) = (key, until);
            }
        }
        at += 1;
    }
}

/// "fourth chapter" and "chapter 4" are the same number; "four chapters" is another.
fn ordinals(terms: &mut [Term]) {
    for at in 0..terms.len() {
        let behind_numbered = at > 0 && terms.get(at - 1).is_some_and(|term| term.kind == Kind::Numbered);
        let Some(term) = terms.get_mut(at) else { continue };
        if term.kind == Kind::Ordinal || (term.kind == Kind::Number && behind_numbered) {
            term.key.insert(0, '#');
            term.kind = Kind::Number;
        }
    }
}

/// A unit at a number's side becomes part of it; one that stands alone is a word.
pub(super) fn attach_units(terms: &mut Vec<Term>) {
    let mut at = 0;
    while at < terms.len() {
        if !terms.get(at).is_some_and(|term| matches!(term.kind, Kind::Unit | Kind::Period)) {
            at += 1;
            continue;
        }
        let unit = terms[at].clone();
        let free = |term: &&mut Term| term.kind == Kind::Number && !term.key.contains(['|', '#']);
        let number = match at.checked_sub(1).and_then(|before| terms.get_mut(before)).filter(free) {
            Some(number) => Some(number),
            // Money and percentages may stand in front.
            None if unit.kind == Kind::Unit => terms.get_mut(at + 1).filter(free),
            None => None,
        };
        match number {
            Some(number) => {
                number.key = format!("{}|{}", number.key, unit.key);
                terms.remove(at);
            }
            None => {
                terms[at].kind = Kind::Word;
                at += 1;
            }
        }
    }
}
