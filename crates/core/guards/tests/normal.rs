//! Which texts have the same normal form: those that are typeset differently, and no others.

use proptest::prelude::*;
use signalbox_guards::normalise;
use unicode_normalization::UnicodeNormalization;

const SAME: &[(&str, &str)] = &[
    ("  Give five tags for the  report ", "Give five tags for the report"),
    ("Don’t shorten Anna’s text", "Don't shorten Anna's text"),
    ("Translate “we are open”", "Translate \"we are open\""),
    ("Caf\u{e9} in Rome", "Cafe\u{301} in Rome"),
    ("5\u{a0}km in Rome", "5 km in Rome"),
    ("A well\u{2011}known name", "A well-known name"),
    ("Pages 5–7", "Pages 5-7"),
];

/// What was once taken for the same, and is not.
const DIFFERENT: &[(&str, &str)] = &[
    ("What is new in Python 3.1?", "What is new in Python 3.10?"),
    ("Summarise section 4.1", "Summarise section 4.10"),
    ("Is PIN 0042 safe?", "Is PIN 42 safe?"),
    ("Who has the number 0039 02 5550?", "Who has the number 39 02 5550?"),
    ("Is it 1,2 or 3?", "Is it 1.2 or 3?"),
    ("What is 5!", "What is 5?"),
    ("What does ^a.$ match", "What does ^a$ match"),
    ("Explain a+", "Explain a"),
    ("What does 👍 mean?", "What does 👎 mean?"),
    ("Which country is 🇮🇹?", "Which country is 🇵🇱?"),
    ("Rate ★★☆☆☆", "Rate ★★★☆☆"),
    ("Does ✓ fit?", "Does ✗ fit?"),
    ("Explain a ∧ b", "Explain a ∨ b"),
    ("Explain ∀x", "Explain ∃x"),
    ("Explain ¬p", "Explain p"),
    ("The key of F♯", "The key of F♭"),
    ("What does “ mean?", "What does \" mean?"),
    ("What is — called?", "What is - called?"),
    ("The man–eating shark", "The man-eating shark"),
    ("if a:\n  b\nc", "if a:\n  b\n  c"),
    ("if a:\n  b\nc", "if a: b c"),
    ("a:\n  b: 1", "a:\nb: 1"),
    ("Split a\tb", "Split a b"),
    ("Count the spaces: a  b", "Count the spaces: a b"),
    ("Is 'a  b' two words?", "Is 'a b' two words?"),
    ("roses\nare red", "roses are red"),
    ("What does tar -C do?", "What does tar -c do?"),
    ("What does grep -V do?", "What does grep -v do?"),
    ("base64 of Abc", "base64 of aBC"),
    ("What is WHO?", "What is who?"),
    ("How far is 3 M?", "How far is 3 m?"),
    ("Who is Will?", "Who is will?"),
    ("Translate to Italian: please", "Translate to Italian: thank you"),
    ("Is this rude? Close the door.", "Is this rude? Please close the door, thank you."),
    ("请客是什么意思", "客是什么意思"),
    ("Spell out 5", "Spell out five"),
    ("-5 degrees in Fahrenheit", "5 degrees in Fahrenheit"),
    ("Please write a tag", "Write a tag"),
];

#[test]
fn texts_that_are_only_typeset_differently_have_one_normal_form() {
    for (one, other) in SAME {
        assert_eq!(normalise(one), normalise(other), "{one}");
    }
}

#[test]
fn different_questions_have_different_normal_forms() {
    for (one, other) in DIFFERENT {
        assert_ne!(normalise(one), normalise(other), "{one} | {other}");
    }
}

#[test]
fn what_may_be_code_stays_as_it_is() {
    for code in ["x  =  1", "for a in b:\n    c", "ls  -l", "`a  b`", "a\tb", "SELECT  * FROM t", "“a” # b"]
    {
        assert_eq!(normalise(code), code);
    }
}

/// The text with all that normalising may touch made one, and spaces gone: what must stay of any text.
fn kept(text: &str) -> String {
    let kept = text.nfc().filter(|letter| !matches!(letter, ' ' | '\u{a0}' | '\u{202f}'));
    kept.map(|letter| match letter {
        '‘' | '’' => '\'',
        '“' | '”' | '„' => '"',
        '\u{2010}' | '\u{2011}' | '–' => '-',
        letter => letter,
    })
    .collect()
}

/// The words of each line, however far apart they stand.
fn words(text: &str) -> Vec<Vec<String>> {
    let split = |line: &str| line.split([' ', '\u{a0}', '\u{202f}']).map(kept).collect::<Vec<_>>();
    text.split('\n').map(|line| split(line).into_iter().filter(|word| !word.is_empty()).collect()).collect()
}

/// Texts of few characters, so that two of them are often almost the same.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[abAB05 \u{a0}\n.,!:’'“\"–-]{0,6}", "\\PC{0,20}", "(a|e\u{301}|é| |  |\n|1|–|’|♯|👍|-){0,5}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_096))]

    #[test]
    fn all_but_typesetting_is_kept(text in text()) {
        let normal = normalise(&text);
        prop_assert_eq!(kept(&normal), kept(&text));
        prop_assert_eq!(words(&normal), words(&text));
    }

    #[test]
    fn two_texts_of_one_normal_form_differ_in_typesetting_only(one in text(), other in text()) {
        if normalise(&one) == normalise(&other) {
            prop_assert_eq!(words(&one), words(&other));
        }
    }

    #[test]
    fn a_normal_form_is_its_own(text in text()) {
        let once = normalise(&text).into_owned();
        prop_assert_eq!(normalise(&once), once.as_str());
    }

    #[test]
    fn indentation_is_kept(lines in proptest::collection::vec(" {0,3}[a-z]{1,3}", 1..5)) {
        let text = lines.join("\n");
        let indented = |text: &str| -> Vec<usize> {
            text.lines().skip(1).map(|line| line.len() - line.trim_start().len()).collect()
        };
        prop_assert_eq!(indented(&normalise(&text)), indented(&text));
    }
}
