//! Wherever a stream is cut, it gives what the whole text gives.

use super::*;
use proptest::prelude::*;

/// Patterns with everything that makes a match depend on what comes later: greed, laziness, order of alternatives,
/// assertions, counts.
const PATTERNS: [&str; 26] = [
    "abc",
    "a|ab|abc",
    "abc|ab|a",
    "a+",
    "a+?",
    "a+?b",
    "(?:ab){2,3}",
    "ab{0,2}?c",
    r"\bab\b",
    r"\Bb",
    r"b\B",
    "a$",
    "^a",
    r"\Aab?",
    r"(?m)^b",
    r"(?m)a$",
    r"(?mR)a$",
    r"a\z",
    r"[^ ]+@[^ ]+",
    "(?i)é|ß",
    r"é?b\b{end-half}",
    r"\b{start}a[ab]*",
    "a.c",
    "(?s)a.{0,3}c",
    "(a|b)(c|)b",
    r"\w+\s",
];

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let what = prop_oneof![
        proptest::sample::select(PATTERNS.as_slice()).prop_map(|pattern| What::Regex(pattern.to_owned())),
        proptest::sample::subsequence(
            vec!["a", "ab", "a b", "b", "é", "秘", "株式", "か", "ss", "が秘", "가"],
            1..5
        )
        .prop_map(|words| What::Words(words.into_iter().map(str::to_owned).collect())),
        proptest::sample::subsequence(Pii::ALL.to_vec(), 1..4).prop_map(What::Pii),
    ];
    let action = proptest::sample::select(vec![Action::Flag, Action::Redact, Action::Redact, Action::Block]);
    let rule = (what, action).prop_map(|(what, action)| Rule {
        name: "rule".into(),
        what,
        places: vec![Place::Output],
        action,
        placeholder: None,
    });
    proptest::collection::vec(rule, 1..4)
}

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        5 => "[abcé@ \n\r.]{1,6}",
        3 => "[abe秘株式㍿かが가각ßﬁｂ \u{301}\u{3099}\u{200b}\u{ad}\u{1}]{1,6}",
        1 => proptest::sample::select(vec![
            "ann@example.com", "4111 1111 1111 1111", "IT60X0542811101000000123456", "+39 333 1234567", "10.0.0.1",
            "2001:db8::1", "RSSMRA85T10A562S", "123-45-6789", "ß", "12", "-",
        ]).prop_map(str::to_owned),
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.concat())
}

/// What a stream gives when the text comes in pieces that end at these places.
fn streamed(policy: &ContentPolicy, text: &str, cuts: &[usize]) -> (String, Inspection) {
    let mut inspection = policy.inspect(Place::Output);
    let mut stream = TextStream::new(&inspection);
    let mut out = String::new();
    let mut from = 0;
    for cut in cuts {
        let to = text.floor_char_boundary(*cut).max(from);
        out += &stream.push(&text[from..to], &mut inspection);
        from = to;
    }
    out += &stream.push(&text[from..], &mut inspection);
    out += &stream.finish(&mut inspection);
    (out, inspection)
}

fn agree(policy: &ContentPolicy, text: &str, cuts: &[usize]) {
    let mut whole = policy.inspect(Place::Output);
    let expected = whole.text(text).unwrap_or_else(|| text.to_owned());
    let (out, inspection) = streamed(policy, text, cuts);
    assert_eq!(inspection.is_over(), whole.is_over());
    if whole.is_over() {
        return;
    }
    assert_eq!(out, expected, "{text:?} cut at {cuts:?}");
    assert_eq!(inspection.findings().collect::<Vec<_>>(), whole.findings().collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_stream_cut_anywhere_gives_what_the_whole_gives(
        rules in rules(),
        text in text(),
        cuts in proptest::collection::vec(0_usize..80, 0..8),
    ) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        agree(&ContentPolicy::new(rules).unwrap(), &text, &cuts);
    }

    #[test]
    fn a_stream_of_single_characters_gives_what_the_whole_gives(rules in rules(), text in text()) {
        let every: Vec<_> = (0..text.len()).collect();
        agree(&ContentPolicy::new(rules).unwrap(), &text, &every);
    }

    #[test]
    fn what_blocks_is_never_passed_on(text in text(), cuts in proptest::collection::vec(0_usize..80, 0..8)) {
        let rule = Rule {
            name: "rule".into(),
            what: What::Words(vec!["ab".to_owned()]),
            places: vec![Place::Output],
            action: Action::Block,
            placeholder: None,
        };
        let policy = ContentPolicy::new(vec![rule]).unwrap();
        let mut cuts = cuts;
        cuts.sort_unstable();
        let (out, inspection) = streamed(&policy, &text, &cuts);
        let mut again = policy.inspect(Place::Output);
        again.text(&out);
        // What went out is no more than what came before; cut off there it may end in the middle of a word.
        prop_assert!(text.starts_with(&out));
        prop_assert!(inspection.is_over() || again.blocked_by().is_none());
    }

    #[test]
    fn json_stays_json_whatever_is_redacted(rules in rules(), strings in proptest::collection::vec(text(), 0..4)) {
        let json = serde_json::json!({"strings": strings, "n": [1, -2.5e7, 4_111_111_111_111_111_u64]}).to_string();
        let policy = ContentPolicy::new(rules).unwrap();
        let redacted = policy.inspect(Place::Output).json(&json).unwrap_or(json);
        let value: serde_json::Value = serde_json::from_str(&redacted).unwrap();
        prop_assert!(value["strings"].is_array());
    }
}

#[test]
fn every_split_in_two_gives_what_the_whole_gives() {
    let all = PATTERNS.map(|pattern| Rule {
        name: "rule".into(),
        what: What::Regex(pattern.to_owned()),
        places: vec![Place::Output],
        action: Action::Redact,
        placeholder: None,
    });
    let text = "abc ab\na abab ababab é aéb a@b.c ß abcb \r\nacb a";
    for rule in all {
        let policy = ContentPolicy::new(vec![rule]).unwrap();
        (0..=text.len()).for_each(|cut| agree(&policy, text, &[cut]));
    }
}
