//! Where in a text a match begins that more text may complete or change.
//!
//! The beginnings of what a pattern matches are themselves the matches of a pattern. Demanded up to the end of the
//! text, it finds the first place from which a match may still be growing; before that, all is decided.

use regex_syntax::hir::{Hir, HirKind, Literal, Look, Repetition};

/// The pattern of every beginning of `hir`'s matches that reaches the end of the text.
pub(super) fn growing(hir: &Hir) -> Hir {
    Hir::concat(vec![beginnings(hir), Hir::look(Look::End)])
}

/// Matches every beginning of what `hir` matches, the empty and the whole one too. What an assertion looks at beyond
/// the text's end is not known yet, so that it may hold.
fn beginnings(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(Literal(bytes)) => beginnings_in_order(&characters(bytes)),
        HirKind::Class(class) => optional(Hir::class(class.clone())),
        HirKind::Repetition(repetition) => beginnings_of_repetition(repetition),
        HirKind::Capture(capture) => beginnings(&capture.sub),
        HirKind::Concat(parts) => beginnings_in_order(parts),
        HirKind::Alternation(branches) => Hir::alternation(branches.iter().map(beginnings).collect()),
    }
}

/// Of `ab`: the beginnings of `a`, or `a` and a beginning of `b`. Halved each time, which keeps the pattern small and
/// flat.
fn beginnings_in_order(parts: &[Hir]) -> Hir {
    match parts {
        [] => Hir::empty(),
        [part] if matches!(part.kind(), HirKind::Literal(Literal(bytes)) if is_one_character(bytes)) => {
            optional(part.clone())
        }
        [part] => beginnings(part),
        parts => {
            let (before, after) = parts.split_at(parts.len() / 2);
            let mut whole = before.to_vec();
            whole.push(beginnings_in_order(after));
            Hir::alternation(vec![beginnings_in_order(before), Hir::concat(whole)])
        }
    }
}

/// Of `a{2,5}`: up to four whole ones and a beginning.
fn beginnings_of_repetition(repetition: &Repetition) -> Hir {
    if repetition.max == Some(0) {
        return Hir::empty();
    }
    let before = Repetition { min: 0, max: repetition.max.map(|max| max - 1), ..repetition.clone() };
    Hir::concat(vec![Hir::repetition(before), beginnings(&repetition.sub)])
}

fn optional(hir: Hir) -> Hir {
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(hir) })
}

/// A literal's characters; text arrives in whole ones.
fn characters(bytes: &[u8]) -> Vec<Hir> {
    // Patterns for texts have no other bytes.
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.chars().map(|c| Hir::literal(c.to_string().into_bytes())).collect()
}

fn is_one_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.chars().count() <= 1)
}
