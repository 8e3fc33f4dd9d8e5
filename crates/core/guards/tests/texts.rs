//! Signatures, unknown languages, operators' lexicons, and texts of any kind.

use proptest::prelude::*;
use signalbox_guards::{Guard, Guards};

#[test]
fn signatures_differ_where_numbers_or_dates_do() {
    let guards = Guards::builtin();
    let signature = |text| guards.signature(text, "en-GB");
    assert_eq!(signature("Give five tags by Monday"), signature("give 5 tags, by monday"));
    assert_ne!(signature("Give five tags by Monday"), signature("Give six tags by Monday"));
    assert_ne!(signature("Give five tags by Monday"), signature("Give five tags by Sunday"));
    assert_ne!(signature("in May"), signature("in may"));
}

#[test]
fn an_unknown_language_or_script_matches_nothing() {
    let guards = Guards::builtin();
    for (text, locale) in [
        ("Gib mir fünf Schlagworte", "de"),
        ("Дай п'ять тегів", "en"),
        ("give five tags", "uk"),
        ("12345", ""),
    ] {
        assert_eq!(guards.compare(text, text, locale).unwrap_err().guard, Guard::Language, "{text}");
        assert_eq!(guards.signature(text, locale), None, "{text}");
    }
    let long = "tag the note ".repeat(200);
    assert_eq!(guards.compare(&long, &long, "en").unwrap_err().guard, Guard::Language);
}

#[test]
fn without_a_locale_the_language_is_told_from_the_words() {
    let guards = Guards::builtin();
    for (a, b) in [
        ("Give me five tags for the recipe", "Give me 5 tags for the recipe, please"),
        ("Dammi cinque tag per la ricetta", "Per favore dammi 5 tag per la ricetta"),
        ("Podaj pięć tagów do przepisu", "Proszę podaj 5 tagów do przepisu"),
        ("Дай п'ять тегів до рецепта", "Будь ласка, дай 5 тегів до рецепта"),
        ("给南瓜汤食谱写五个标签", "请给南瓜汤食谱写5个标签"),
    ] {
        assert_eq!(guards.compare(a, b, ""), Ok(()), "{a}");
    }
    assert!(guards.compare("Give me five tags", "Dammi cinque tag", "").is_err());
}

#[test]
fn an_operator_adds_words_and_languages() {
    let (a, b) = ("Tag the scoop", "Tag the exclusive");
    assert!(Guards::builtin().compare(a, b, "en").is_err());
    let guards = Guards::with(&[("en", "[word]\nscoop = scoop*, exclusive\n")]).unwrap();
    assert_eq!(guards.compare(a, b, "en"), Ok(()));
    let german = "[settings]\nscript = latin\ndecimal = comma\n[polite]\nbitte\n[number]\n5 = fünf\n[negation]\nnicht, ohne\n";
    let guards = Guards::with(&[("de", german)]).unwrap();
    assert_eq!(guards.compare("Gib fünf Titel, bitte", "Gib 5 Titel", "de-AT"), Ok(()));
    assert_eq!(guards.compare("Titel ohne Namen", "Titel Namen", "de").unwrap_err().guard, Guard::Negation);
}

#[test]
fn a_bad_lexicon_is_refused_with_its_line() {
    for (text, line, problem) in [
        ("[wrods]\n", 1, "section"),
        ("[number]\n\nfive = five\n", 3, "not a number"),
        ("[word]\nscoop\n", 2, "key = form"),
        ("[word]\nscoop = a,,b\n", 2, "empty"),
        ("[settings]\nscript = runes\n", 2, "setting"),
        ("[words]\nx: s, es\n", 2, "not a number"),
    ] {
        let error = Guards::with(&[("en", text)]).unwrap_err();
        assert_eq!((error.name.as_str(), error.line), ("en", line));
        assert!(error.problem.contains(problem), "{error}");
    }
}

proptest! {
    #[test]
    fn any_text_can_be_read_and_is_the_same_as_itself(text in "\\PC{0,60}", locale in "en|it|pl|uk|zh|de|") {
        let guards = Guards::builtin();
        prop_assert_eq!(guards.signature(&text, &locale), guards.signature(&text, &locale));
        if let Err(refusal) = guards.compare(&text, &text, &locale) {
            prop_assert_eq!(refusal.guard, Guard::Language);
        }
    }

    #[test]
    fn numbers_are_the_same_only_when_they_are(a in 0..3_000_u32, b in 0..3_000_u32) {
        let guards = Guards::builtin();
        let text = |number| format!("write about {number} wells");
        prop_assert_eq!(guards.compare(&text(a), &text(b), "en").is_ok(), a == b);
    }
}
