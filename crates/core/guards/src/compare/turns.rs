//! Grammar that turns the meaning round: "for" against "against", "was" against "will".

use crate::{lexicon::Lexicon, reading::Reading};

/// One text has a class that the other has not, and the other has one that is opposed to it. What is only left out, as in
/// "tags for the recipe" and "recipe tags", is no difference but where a lexicon says so.
pub(super) fn difference(a: &Reading, b: &Reading, lexicon: &Lexicon) -> Option<String> {
    let (lone_a, lone_b) = (lone(&a.turns, &b.turns), lone(&b.turns, &a.turns));
    let with_none = |classes: &[&str]| classes.iter().any(|class| lexicon.are_opposed(class, "-"));
    let opposed = lone_a.iter().any(|a| lone_b.iter().any(|b| lexicon.are_opposed(a, b)));
    (opposed || with_none(&lone_a) || with_none(&lone_b)).then(|| super::shown(lone_a, lone_b))
}

/// What is in the first list more often than in the second.
fn lone<'a>(all: &'a [String], other: &[String]) -> Vec<&'a str> {
    let mut left: Vec<&str> = other.iter().map(String::as_str).collect();
    let is_lone = |class: &&str| {
        let found = left.iter().position(|other| other == class);
        found.map(|at| left.swap_remove(at)).is_none()
    };
    all.iter().map(String::as_str).filter(is_lone).collect()
}
