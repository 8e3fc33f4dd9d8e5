//! Was the answer to a near request right? It was, if the model, asked, said the same.
//!
//! Only what can be decided without a model is decided here. What cannot is [`Verdict::Unsure`]: a verifier may be asked, and
//! without one it counts as wrong.

mod tags;

use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;

/// Least share of tags that two answers must have in common, of all that either has.
const LEAST_COMMON: f64 = 0.8;

/// How two answers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Judge {
    /// As texts: equal but for case, spacing and punctuation at the end. Other words may still be right.
    #[default]
    Text,
    /// As sets of tags: a JSON list, or a list with commas, semicolons or lines.
    Tags,
    /// As JSON values: the order of keys does not matter.
    Json,
    /// As one label.
    Label,
}

/// Whether an answer was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It says the same.
    Right,
    /// It says something else.
    Wrong,
    /// Nobody can tell without understanding it. Counts as wrong.
    Unsure,
}

impl Verdict {
    fn of(is_right: bool) -> Self {
        if is_right { Self::Right } else { Self::Wrong }
    }
}

impl Judge {
    /// The judge of that name, as configured.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Text, Self::Tags, Self::Json, Self::Label].into_iter().find(|judge| judge.name() == name)
    }

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Tags => "tags",
            Self::Json => "json",
            Self::Label => "label",
        }
    }

    /// Whether a cached answer says what a model's does.
    pub fn verdict(self, cached: &str, fresh: &str) -> Verdict {
        let (one, other) = (plain(cached), plain(fresh));
        if one.is_empty() || other.is_empty() {
            return Verdict::Unsure;
        }
        if one == other && self != Self::Json {
            return Verdict::Right;
        }
        match self {
            Self::Text => Verdict::Unsure,
            Self::Label => Verdict::Wrong,
            Self::Tags => same_tags(cached, fresh),
            Self::Json => same_json(cached, fresh),
        }
    }
}

fn same_tags(cached: &str, fresh: &str) -> Verdict {
    match (tags::read(cached), tags::read(fresh)) {
        (Some(one), Some(other)) => Verdict::of(jaccard(&one, &other) >= LEAST_COMMON),
        _ => Verdict::Unsure,
    }
}

fn same_json(cached: &str, fresh: &str) -> Verdict {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text.trim()).ok();
    match (read(cached), read(fresh)) {
        (Some(one), Some(other)) => Verdict::of(one == other),
        _ => Verdict::Unsure,
    }
}

/// What two sets have in common, of all they have.
fn jaccard(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let all = one.union(other).count();
    if all == 0 { 1.0 } else { one.intersection(other).count() as f64 / all as f64 }
}

/// A text without what makes no difference: case, spacing, quotes around it and punctuation at its end.
fn plain(text: &str) -> String {
    let folded: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let spaced = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_frame = |c: char| c.is_whitespace() || "\"'`“”„«»‘’.,;:!。！、，…*".contains(c);
    spaced.trim_matches(is_frame).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Right, Unsure, Wrong};
    use proptest::prelude::*;

    #[test]
    fn texts_are_the_same_or_nobody_can_tell() {
        let verdict = |one, other| Judge::Text.verdict(one, other);
        assert_eq!(verdict("Kyiv gets a new bridge.", " kyiv  gets a new\nbridge"), Right);
        assert_eq!(verdict("“Ｋyiv”", "Kyiv!"), Right);
        assert_eq!(verdict("Kyiv gets a new bridge", "A new bridge for Kyiv"), Unsure);
        assert_eq!(verdict("", ""), Unsure);
    }

    #[test]
    fn a_question_mark_makes_another_text() {
        assert_eq!(Judge::Label.verdict("sport?", "sport"), Wrong);
    }

    #[test]
    fn labels_are_the_same_or_wrong() {
        assert_eq!(Judge::Label.verdict("Sport.", "sport"), Right);
        assert_eq!(Judge::Label.verdict("sport", "politics"), Wrong);
    }

    #[test]
    fn tags_are_sets_and_most_must_be_the_same() {
        let verdict = |one, other| Judge::Tags.verdict(one, other);
        assert_eq!(verdict("a, b, c, d, e", "E; D; C; B; A"), Right);
        assert_eq!(verdict(r##"["#war", "peace"]"##, "- peace\n- war"), Right);
        assert_eq!(verdict("a,b,c,d", "a,b,c,d,e"), Right);
        assert_eq!(verdict("a,b,c", "a,b,c,d"), Wrong);
        assert_eq!(verdict("1. one\n2. two", "one\ntwo"), Right);
        assert_eq!(verdict(r#"{"tags": 1}"#, "a, b"), Unsure);
    }

    #[test]
    fn json_is_compared_as_values() {
        let verdict = |one, other| Judge::Json.verdict(one, other);
        assert_eq!(verdict(r#"{"a":1,"b":[true]}"#, "{ \"b\": [true],\n \"a\": 1 }"), Right);
        assert_eq!(verdict(r#"{"a":"X"}"#, r#"{"a":"x"}"#), Wrong, "case matters in data");
        assert_eq!(verdict(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#), Wrong);
        assert_eq!(verdict("no", "no"), Unsure);
    }

    #[test]
    fn judges_have_names() {
        for judge in [Judge::Text, Judge::Tags, Judge::Json, Judge::Label] {
            assert_eq!(Judge::named(judge.name()), Some(judge));
        }
        assert_eq!(Judge::named("vibes"), None);
    }

    proptest! {
        #[test]
        fn a_verdict_does_not_depend_on_who_was_first(one in ".{0,40}", other in ".{0,40}") {
            for judge in [Judge::Text, Judge::Tags, Judge::Json, Judge::Label] {
                prop_assert_eq!(judge.verdict(&one, &other), judge.verdict(&other, &one));
            }
        }
    }
}
