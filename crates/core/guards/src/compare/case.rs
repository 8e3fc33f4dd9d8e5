//! A word that both texts have must have the same letters in both, capital or small, with or without accents: MW is not
//! mW, nor Turkey turkey, nor `è` `e`. Only the capital that begins a sentence says nothing, where the word is surely no
//! name.

use crate::{
    lexicon::Lexicon,
    written::{Spelling, Written},
};
use std::collections::BTreeMap;

pub(super) fn difference([a, b]: &[Written; 2], lexicon: &Lexicon) -> Option<String> {
    let (a, b) = (sorted(a), sorted(b));
    let (mut a, mut b) = (a.as_slice(), b.as_slice());
    while let (Some(one), Some(other)) = (a.first(), b.first()) {
        let bare = one.bare.as_str().min(&other.bare);
        let (of_a, of_b) = (take(&mut a, bare), take(&mut b, bare));
        let (lone_a, lone_b) = (lone(of_a, of_b, lexicon), lone(of_b, of_a, lexicon));
        if let (Some(one), Some(other)) = (lone_a.first(), lone_b.first()) {
            return Some(format!("`{}` against `{}`", one.written, other.written));
        }
        if !in_order(of_a, of_b) {
            return Some(format!("`{bare}` is written in several ways, in another order"));
        }
    }
    None
}

/// By what they are without case and accents.
fn sorted(written: &Written) -> Vec<&Spelling> {
    let mut words: Vec<&Spelling> = written.words.iter().collect();
    words.sort_unstable();
    words
}

/// The spellings of one word, which come first, if any.
fn take<'s, 'w>(words: &mut &'s [&'w Spelling], bare: &str) -> &'s [&'w Spelling] {
    let many = words.iter().take_while(|word| word.bare == bare).count();
    let (taken, rest) = words.split_at(many);
    *words = rest;
    taken
}

/// Whether a word that is written in several ways is so in the same order: "Polish polish" is not "polish Polish".
fn in_order(of_a: &[&Spelling], of_b: &[&Spelling]) -> bool {
    let is_one_way = |words: &[&Spelling]| {
        words.first().is_none_or(|one| words.iter().all(|word| word.written == one.written))
    };
    is_one_way(of_a) && is_one_way(of_b) || by_place(of_a).into_values().eq(by_place(of_b).into_values())
}

fn by_place<'w>(words: &[&'w Spelling]) -> BTreeMap<usize, &'w str> {
    words.iter().map(|word| (word.from, word.written.as_str())).collect()
}

/// Those that the other text has not, or not as often.
fn lone<'w>(all: &[&'w Spelling], other: &[&Spelling], lexicon: &Lexicon) -> Vec<&'w Spelling> {
    let mut left = other.to_vec();
    let is_lone = |word: &&&Spelling| {
        let may_be = |other: &Spelling| !one_is_a_name(word, other, lexicon);
        let same = left.iter().position(|other| other.written == word.written && may_be(other));
        let found =
            same.or_else(|| left.iter().position(|other| is_capital_of_place(word, other) && may_be(other)));
        found.map(|at| left.swap_remove(at)).is_none()
    };
    all.iter().filter(is_lone).copied().collect()
}

/// Whether both begin a sentence, one of them with a capital, and it may be that of a name: "Turkey costs" and "turkey
/// costs".
fn one_is_a_name(one: &Spelling, other: &Spelling, lexicon: &Lexicon) -> bool {
    one.opens && other.opens && one.initial != other.initial && !lexicon.opens(&one.written.to_lowercase())
}

/// Whether the words differ in the first letter's case, of which one of them says nothing.
fn is_capital_of_place(one: &Spelling, other: &Spelling) -> bool {
    let of_place = |initial: &Spelling, other: &Spelling| {
        initial.initial
            && other.written.chars().skip(1).eq(initial.written.chars().skip(1))
            && other.written.to_lowercase() == initial.written
    };
    of_place(one, other) || of_place(other, one)
}
