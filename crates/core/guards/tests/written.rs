//! What only letters and symbols say: pairs that once passed for the same, in every language.

mod pairs;

use pairs::{Pair, assert_differ, assert_same};
use proptest::prelude::*;
use signalbox_guards::Guards;

/// Language, and two texts of different meaning.
const DIFFERENT: &[Pair] = &[
    // Signs.
    ("en", "What is -5 plus 3?", "What is 5 plus 3?"),
    ("en", "What is -5 plus 3?", "What is 5 plus -3?"),
    ("en", "A change of +3% is what", "A change of -3% is what"),
    ("en", "A loss of −5%", "A loss of 5%"),
    ("en", "Who can give O+ blood?", "Who can give O- blood?"),
    ("en", "Explain the Na+ channel", "Explain the Na channel"),
    ("en", "Plan the UTC +1 meeting", "Plan the UTC −1 meeting"),
    ("en", "Describe the A- grade", "Describe the A grade"),
    ("en", "±5 people came", "5 people came"),
    ("en", "~5 people came", "5 people came"),
    ("it", "La temperatura -5", "La temperatura 5"),
    ("pl", "Temperatura -5 stopni", "Temperatura 5 stopni"),
    ("uk", "Що значить +5 градусів", "Що значить -5 градусів"),
    ("zh", "温度-5度", "温度5度"),
    // Operators and comparisons.
    ("en", "What is 7 - 5?", "What is 7 + 5?"),
    ("en", "What is 7 - 5 + 3?", "What is 7 + 5 - 3?"),
    ("en", "What is 7 * 5?", "What is 7 / 5?"),
    ("en", "What is 7 × 5?", "What is 7 ÷ 5?"),
    ("en", "What is 7-5?", "What is 7+5?"),
    ("en", "What is 7–5?", "What is 7 5?"),
    ("en", "What is 2**3?", "What is 2*3?"),
    ("en", "What is 3! here", "What is 3 here"),
    ("en", "What is n! here", "What is n here"),
    ("en", "Is a != b true", "Is a == b true"),
    ("en", "Is a ! b true", "Is a !b true"),
    ("en", "Explain ¬p in words", "Explain p in words"),
    ("en", "Explain ¬p or p in words", "Explain p or ¬p in words"),
    ("en", "Explain p ∧ q in words", "Explain p ∨ q in words"),
    ("en", "What is √9 here", "What is 9 here"),
    ("en", "What is 10² here", "What is 102 here"),
    ("en", "What is xⁿ here", "What is xn here"),
    ("en", "Explain f'(x) here", "Explain f(x) here"),
    ("en", "Is a:b fine", "Is a b fine"),
    ("en", "Explain :x here", "Explain x here"),
    ("en", "What is 5—10?", "What is 5 10?"),
    ("en", "Take 2½ cups", "Take 2¼ cups"),
    ("en", "Is <5 mg safe?", "Is >5 mg safe?"),
    ("en", "Is <= 5 mg safe?", "Is >= 5 mg safe?"),
    ("en", "Is <5 mg safe?", "Is <=5 mg safe?"),
    ("en", "≤5 people came", "≥5 people came"),
    ("en", "What if x<5 then", "What if x>5 then"),
    ("it", "5 > 3 è vero?", "5 < 3 è vero?"),
    ("it", "Quanto fa 7 - 5?", "Quanto fa 7 + 5?"),
    ("pl", "Ile to jest 7 - 5?", "Ile to jest 7 + 5?"),
    ("uk", "Скільки буде 7 - 5?", "Скільки буде 7 * 5?"),
    ("uk", "Чи правда 5 > 3?", "Чи правда 5 < 3?"),
    ("zh", "7 - 5 等于多少", "7 * 5 等于多少"),
    ("zh", "5>3吗", "5<3吗"),
    ("zh", "5＞3吗", "5＜3吗"),
    // Digits.
    ("en", "Use Python 3.10", "Use Python 3.1"),
    ("en", "What does section 1.10 say", "What does section 1.1 say"),
    ("en", "Who is agent 007?", "Who is agent 7?"),
    ("en", "Who lives in zip 02134?", "Who lives in zip 2134?"),
    ("en", "A dose of .5 mg", "A dose of 5 mg"),
    ("en", "A dose of 1.0 mg", "A dose of 10 mg"),
    ("it", "Usa Python 3,10", "Usa Python 3,1"),
    ("pl", "Kto to jest agent 007?", "Kto to jest agent 7?"),
    ("uk", "Хто такий агент 007?", "Хто такий агент 7?"),
    ("zh", "谁是007", "谁是7"),
    // Case.
    ("en", "Explain a 5 mW laser", "Explain a 5 MW laser"),
    ("en", "Explain a 5mW laser", "Explain a 5MW laser"),
    ("en", "A delay of 10 ms", "A delay of 10 Ms"),
    ("en", "A link of 1 MB", "A link of 1 Mb"),
    ("en", "A link of 10GB", "A link of 10 Gb"),
    ("en", "What is AIDS?", "What is aids?"),
    ("en", "What is WHO?", "What is who?"),
    ("en", "WHO is it", "Who is it"),
    ("en", "Is Turkey cheap?", "Is turkey cheap?"),
    ("en", "Is the Polish firm big?", "Is the polish firm big?"),
    ("en", "Read example.com/A", "Read example.com/a"),
    ("it", "Dov'è la Marina?", "Dov'è la marina?"),
    ("pl", "Gdzie jest Zielona?", "Gdzie jest zielona?"),
    ("uk", "Де зараз Надія?", "Де зараз надія?"),
    ("zh", "一个5 mW激光", "一个5 MW激光"),
    // Accents.
    ("it", "È legale o è vero", "È legale o e vero"),
    ("it", "è legale?", "e legale?"),
    ("it", "Parlami di papa", "Parlami di papà"),
    ("pl", "Opisz ten sąd", "Opisz ten sad"),
    ("en", "Describe the rose", "Describe the rosé"),
    // Symbols and emoji.
    ("en", "Is the sky blue? 👍", "Is the sky blue? 👎"),
    ("en", "Is this fine ✅", "Is this fine ❌"),
    ("en", "I love it ❤️", "I love it 💔"),
    ("en", "Show the flag 🇮🇹", "Show the flag 🇭🇺"),
    ("en", "Is it good :)", "Is it good :("),
    ("en", "Is it good :)", "Is it good"),
    ("en", "A ♂ patient", "A ♀ patient"),
    ("en", "Is ★★★ good?", "Is ★★ good?"),
    ("en", "Turn ← now", "Turn → now"),
    ("en", "Mark yes ✅ maybe", "Mark yes maybe ✅"),
    ("en", "Use C for this", "Use C++ for this"),
    ("en", "Use C++ for this", "Use C# for this"),
    ("en", "Explain the .NET runtime", "Explain the NET runtime"),
    ("en", "§ 5 says what", "$ 5 says what"),
    ("en", "He is 5' tall", "He is 5\" tall"),
    ("it", "Il voto è 👍", "Il voto è 👎"),
    ("pl", "Ocena to 👍", "Ocena to 👎"),
    ("uk", "Оцінка 👍", "Оцінка 👎"),
    ("zh", "心情🙂", "心情🙁"),
    // Order.
    ("en", "What was written by Tolstoy about war?", "What was written about Tolstoy by war?"),
    ("en", "Only I like cats", "I only like cats"),
    ("en", "All of them are not good", "Not all of them are good"),
    ("en", "Tell me what not to eat", "Do not tell me what to eat"),
    ("en", "Try not to laugh", "Do not try to laugh"),
    ("en", "Not on Monday, call Anna", "Call Anna, not on Monday"),
    ("it", "Può non venire", "Non può venire"),
    ("it", "Posso non entrare?", "Non posso entrare?"),
    ("pl", "Muszę nie jeść", "Nie muszę jeść"),
    ("uk", "Можу не спати", "Не можу спати"),
    ("zh", "不是都好", "都不是好"),
    ("zh", "妈妈的朋友", "朋友的妈妈"),
    ("en", "Does Polish polish sell?", "Does polish Polish sell?"),
    ("en", "Compare 1000 1001", "Compare 1001 1000"),
    ("en", "What of 5 March 6 April?", "What of 6 March 5 April?"),
    ("en", "What of Monday Tuesday?", "What of Tuesday Monday?"),
    ("en", "Last Monday next week", "Next Monday last week"),
    ("en", "From 9:00 10:00 works", "From 10:00 9:00 works"),
    ("it", "Confronta 1990 2010", "Confronta 2010 1990"),
    ("pl", "Porównaj 1990 2010", "Porównaj 2010 1990"),
    ("uk", "Порівняй 1990 2010", "Порівняй 2010 1990"),
    ("zh", "比较2001年2002年", "比较2002年2001年"),
    // Grouping.
    ("en", "Is a and (b or c) true", "Is (a and b) or c true"),
    ("en", "What is 2 * (3 + 4)?", "What is (2 * 3) + 4?"),
    ("en", "No, more data", "No more data"),
    ("en", "Let's eat, Grandma", "Let's eat Grandma"),
    ("en", "Pardon, impossible to execute", "Pardon impossible, to execute"),
    ("it", "No, altri dati", "No altri dati"),
    ("pl", "Uniewinnić, nie skazać", "Uniewinnić nie, skazać"),
    ("uk", "Стратити, не можна помилувати", "Стратити не можна, помилувати"),
];

/// Language, and two texts that differ in nothing that matters.
const SAME: &[Pair] = &[
    ("en", "Is 1,500 right?", "Please, is 1500 right?"),
    ("en", "It costs €5, fair?", "It costs 5 EUR, fair?"),
    ("en", "Summarise the memo", "Please summarise the memo"),
    ("en", "Can I pay by card?", "Can i pay by card"),
    ("en", "Tag this ❤️", "Please tag this ❤"),
    ("en", "Is -5 cold?", "Please, is −5 cold?"),
    ("en", "How do I set up voicemail on my phone?", "On my phone, how do I set up voicemail?"),
    ("en", "The debate of 5 March 2024", "The debate of March 5, 2024"),
    ("en", "A guide - for Rome", "A guide for Rome"),
    ("it", "È vero che piove?", "Per favore, è vero che piove?"),
    ("pl", "Streść notkę (po polsku)", "Proszę, streść notkę (po polsku)"),
    ("uk", "Чи правда, що 5 > 3?", "Будь ласка, чи правда, що 5 > 3?"),
    ("zh", "5＞3吗", "请问5>3吗"),
];

#[test]
fn one_letter_sign_or_comma_can_be_a_difference_either_way_round() {
    assert_differ(DIFFERENT);
}

#[test]
fn what_is_only_typeset_or_put_politely_is_none() {
    assert_same(SAME);
}

const SYMBOLS: &[char] = &[
    '+', '*', '/', '=', '<', '>', '≤', '≥', '≠', '×', '÷', '±', '~', '^', '|', '&', '#', '@', '_', '\\', '(',
    ')', '[', ']', '¬', '∧', '∨', '√', '∞', '²', '½', '§', '№', '©', '™', '★', '→', '←', '♂', '♀', '✅',
    '❌', '👍', '👎', '💔', '😀',
];

/// Words of every kind, one of them surely English. Random ones are in no lexicon: some words, as "hey", may well stand
/// elsewhere.
fn words() -> impl Strategy<Value = Vec<String>> {
    let word =
        prop_oneof!["[a-z]{1,6}xq", "[A-Z][a-z]{0,4}xq", "[0-9]{1,4}", Just("not".to_owned()), "[a-z]"];
    (prop::collection::vec(word, 1..8)).prop_map(|mut words| {
        words.insert(0, "describe".to_owned());
        words
    })
}

/// Words with something between the one at a place and the next: a sign that is alone, or touches either.
fn with(words: &[String], at: usize, sign: &str) -> String {
    let (front, back) = words.split_at(1 + at % (words.len() - 1));
    format!("{}{sign}{}", front.join(" "), back.join(" "))
}

fn around(sign: char, spaces: usize) -> String {
    match spaces {
        0 => format!(" {sign} "),
        1 => format!(" {sign}"),
        _ => format!("{sign} "),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_symbol_more_or_less_is_refused(
        words in words(),
        at in 0..8_usize,
        sign in prop::sample::select(SYMBOLS),
        spaces in 0..3_usize,
    ) {
        let (plain, signed) = (words.join(" "), with(&words, at, &around(sign, spaces)));
        prop_assert!(Guards::builtin().compare(&plain, &signed, "en").is_err(), "{plain} | {signed}");
        prop_assert!(Guards::builtin().compare(&signed, &plain, "en").is_err(), "{signed} | {plain}");
    }

    #[test]
    fn another_symbol_is_refused(
        words in words(),
        at in 0..8_usize,
        sign in prop::sample::select(SYMBOLS),
        other in prop::sample::select(SYMBOLS),
        spaces in 0..3_usize,
    ) {
        prop_assume!(sign != other);
        let (one, other) = (with(&words, at, &around(sign, spaces)), with(&words, at, &around(other, spaces)));
        prop_assert!(Guards::builtin().compare(&one, &other, "en").is_err(), "{one} | {other}");
    }

    #[test]
    fn a_symbol_at_another_word_is_refused(
        words in words(),
        at in 0..8_usize,
        elsewhere in 0..8_usize,
        sign in prop::sample::select(SYMBOLS),
    ) {
        let sign = around(sign, 1);
        let (one, other) = (with(&words, at, &sign), with(&words, elsewhere, &sign));
        let is_same = Guards::builtin().compare(&one, &other, "en").is_ok();
        let differ = at % (words.len() - 1) != elsewhere % (words.len() - 1);
        prop_assert!(!(is_same && differ), "{one} | {other}");
    }

    #[test]
    fn a_number_with_another_sign_is_refused(words in words(), number in 1..5_000_u32, sign in "[+±~<>≤√¬-]|−|—") {
        let (plain, signed) = (format!("{} {number}", words.join(" ")), format!("{} {sign}{number}", words.join(" ")));
        prop_assert!(Guards::builtin().compare(&plain, &signed, "en").is_err(), "{plain} | {signed}");
    }

    #[test]
    fn another_zero_is_refused(number in 1..5_000_u32, tail in 1..100_u32) {
        let guards = Guards::builtin();
        let text = |number: String| format!("describe release {number} of it");
        for (one, other) in [
            (format!("{number}.{tail}"), format!("{number}.{tail}0")),
            (format!("{number}"), format!("0{number}")),
            (format!("{number}"), format!("00{number}")),
        ] {
            prop_assert!(guards.compare(&text(one.clone()), &text(other), "en").is_err(), "{one}");
        }
    }

    #[test]
    fn a_word_in_other_letters_is_refused(words in words(), at in 0..8_usize) {
        let at = 1 + at % (words.len() - 1);
        let mut other = words.clone();
        other[at] = if words[at] == words[at].to_uppercase() { words[at].to_lowercase() } else { words[at].to_uppercase() };
        prop_assume!(other[at] != words[at] && words[at].to_lowercase() != "i");
        let (one, other) = (words.join(" "), other.join(" "));
        prop_assert!(Guards::builtin().compare(&one, &other, "en").is_err(), "{one} | {other}");
    }

    #[test]
    fn the_same_words_in_another_order_are_refused(words in words(), at in 0..8_usize) {
        let at = at % (words.len() - 1);
        let mut other = words.clone();
        other.swap(at, at + 1);
        prop_assume!(words[at] != words[at + 1]);
        let (one, other) = (words.join(" "), other.join(" "));
        prop_assert!(Guards::builtin().compare(&one, &other, "en").is_err(), "{one} | {other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Of two dates side by side each has its own parts.
    #[test]
    fn parts_of_two_dates_in_each_others_place_are_refused(
        (one, other) in (date(), date()),
        part in 0..3_usize,
    ) {
        prop_assume!(one[part] != other[part]);
        let text = |one: &[String; 3], other: &[String; 3]| format!("describe {} {} here", one.join(" "), other.join(" "));
        let (mut one_changed, mut other_changed) = (one.clone(), other.clone());
        std::mem::swap(&mut one_changed[part], &mut other_changed[part]);
        let (a, b) = (text(&one, &other), text(&one_changed, &other_changed));
        prop_assert!(Guards::builtin().compare(&a, &b, "en").is_err(), "{a} | {b}");
    }
}

fn date() -> impl Strategy<Value = [String; 3]> {
    let month = prop::sample::select(vec!["January", "March", "April", "August", "December"]);
    (1..29_u32, month, 1000..2199_u32)
        .prop_map(|(day, month, year)| [day.to_string(), month.to_owned(), year.to_string()])
}
