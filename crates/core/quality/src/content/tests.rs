use super::*;

fn rule(name: &str, what: What, action: Action) -> Rule {
    Rule { name: name.into(), what, places: Place::ALL.to_vec(), action, placeholder: None }
}

fn regex(pattern: &str, action: Action) -> Rule {
    rule(pattern, What::Regex(pattern.to_owned()), action)
}

fn words(list: &[&str], action: Action) -> Rule {
    rule("words", What::Words(list.iter().map(|word| (*word).to_owned()).collect()), action)
}

fn policy(rules: Vec<Rule>) -> ContentPolicy {
    ContentPolicy::new(rules).unwrap()
}

fn findings(inspection: &Inspection) -> Vec<(String, Action, u32)> {
    inspection.findings().map(|found| (found.rule.to_string(), found.action, found.count)).collect()
}

#[test]
fn words_are_found_whole_whatever_their_case_and_script() {
    let policy = policy(vec![words(&["Caffè", "new york", "new", "c++", "привет"], Action::Redact)]);
    let redacted = |text| policy.inspect(Place::Input).text(text);
    assert_eq!(redacted("un CAFFÈ!").unwrap(), "un [REDACTED]!");
    assert_eq!(redacted("New  York, new jersey").unwrap(), "[REDACTED], [REDACTED] jersey");
    assert_eq!(redacted("C++ ПРИВЕТ").unwrap(), "[REDACTED] [REDACTED]");
    for text in ["caffèlatte", "newton", "приветствие", "renew", "new_york_"] {
        assert_eq!(redacted(text), None, "{text}");
    }
}

#[test]
fn words_of_scripts_without_spaces_are_found_amid_others() {
    let policy =
        policy(vec![words(&["秘密", "がいこく", "か", "ความลับ", "비밀", "zephyr", "各x"], Action::Redact)]);
    let redacted = |text: &str| {
        let redacted = policy.inspect(Place::Input).text(text);
        redacted.unwrap_or_else(|| text.to_owned()).replace("[REDACTED]", "#")
    };
    for (text, expected) in [
        ("我们的秘密计划", "我们的#计划"),
        ("a秘密b", "a#b"),
        ("がいこくじん", "#じん"),
        ("か\u{3099}いこく", "#"),
        ("が", "が"),
        ("か\u{3099}", "か\u{3099}"),
        ("かx", "#x"),
        ("นี่คือความลับของเรา", "นี่คือ#ของเรา"),
        ("비밀이 우리의비밀을", "#이 우리의#을"),
        ("비밁", "비밁"),
        ("我的zephyr计划", "我的#计划"),
        ("各x 各xy", "# 各xy"),
        ("azephyr zephyrs", "azephyr zephyrs"),
    ] {
        assert_eq!(redacted(text), expected, "{text}");
    }
}

#[test]
fn words_are_found_in_every_spelling() {
    let list = ["Straße", "Zoë", "zephyr", "file", "new york", "ㇰ゚"];
    let policy = policy(vec![words(&list, Action::Redact)]);
    for text in [
        "Straße",
        "STRASSE",
        "strasse",
        "STRAẞE",
        "Zoë",
        "ZOË",
        "Zoe\u{308}",
        "ｚｅｐｈｙｒ",
        "ＺＥＰＨＹＲ",
        "ze\u{200b}phyr",
        "z\u{ad}e\u{200d}p\u{feff}hy\u{2060}r",
        "ﬁle",
        "𝐳𝐞𝐩𝐡𝐲𝐫",
        "New\u{a0}\u{3000}York",
    ] {
        let redacted = policy.inspect(Place::Input).text(&format!("a {text}, b"));
        assert_eq!(redacted.as_deref(), Some("a [REDACTED], b"), "{text}");
    }
    for text in ["zoe", "Zo\u{eb}\u{301}", "straßen", "zephyr\u{200b}s", "ａzephyr"] {
        assert_eq!(policy.inspect(Place::Input).text(text), None, "{text}");
    }
}

#[test]
fn what_overlaps_counts_once_for_a_rule() {
    let kinds = vec![Pii::Iban, Pii::Phone, Pii::CreditCard];
    let policy = policy(vec![rule("pii", What::Pii(kinds), Action::Flag)]);
    for text in
        ["IT60 X054 2811 1010 0000 0123 456.", "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"]
    {
        let mut whole = policy.inspect(Place::Output);
        whole.text(text);
        assert_eq!(findings(&whole)[0].2, 1, "{text}");
        let mut streamed = policy.inspect(Place::Output);
        let mut stream = TextStream::new(&streamed);
        text.chars().for_each(|c| drop(stream.push(&c.to_string(), &mut streamed)));
        stream.finish(&mut streamed);
        assert_eq!(findings(&streamed), findings(&whole), "{text}");
    }
}

#[test]
fn names_that_are_redacted_stay_different() {
    let policy = policy(vec![rule("pii", What::Pii(vec![Pii::Email]), Action::Redact)]);
    let text = r#"[{"a@b.example": 1, "c@d.example": 2, "[EMAIL]_2": 3}, {"a@b.example": 4}]"#;
    let mut inspection = policy.inspect(Place::Output);
    let redacted = inspection.json(text).unwrap();
    let expected = r#"[{"[EMAIL]": 1, "[EMAIL]_3": 2, "[EMAIL]_2": 3}, {"[EMAIL]": 4}]"#;
    assert_eq!(redacted, expected);
    assert_eq!(findings(&inspection), [("pii".to_owned(), Action::Redact, 3)]);
}

#[test]
fn the_first_rule_that_blocks_is_named_and_all_are_counted() {
    let policy = policy(vec![
        regex("a+", Action::Flag),
        regex("b", Action::Block),
        regex("c", Action::Block),
        regex("z", Action::Block),
    ]);
    let mut inspection = policy.inspect(Place::Output);
    assert_eq!(inspection.text("aa c a"), None);
    inspection.text("b");
    assert_eq!(inspection.blocked_by().unwrap().as_ref(), "b");
    let expected = [
        ("a+".to_owned(), Action::Flag, 2),
        ("b".to_owned(), Action::Block, 1),
        ("c".to_owned(), Action::Block, 1),
    ];
    assert_eq!(findings(&inspection), expected);
}

#[test]
fn a_rule_looks_only_where_it_is_told_to() {
    let input_only = Rule { places: vec![Place::Input], ..regex("x", Action::Redact) };
    let policy = policy(vec![input_only]);
    assert!(policy.looks_at(Place::Input) && !policy.looks_at(Place::Output));
    assert_eq!(policy.inspect(Place::Output).text("x"), None);
    let mut output = policy.inspect(Place::Output);
    assert_eq!(TextStream::new(&output).push("x", &mut output), "x");
}

#[test]
fn stretches_that_overlap_get_one_placeholder() {
    let longer = Rule { placeholder: Some("<1>".to_owned()), ..regex("abcd", Action::Redact) };
    let other = Rule { placeholder: Some("<2>".to_owned()), ..regex("cdef", Action::Redact) };
    let policy = policy(vec![other, longer]);
    assert_eq!(policy.inspect(Place::Input).text("-abcdef-").unwrap(), "-<1>-");
}

#[test]
fn json_stays_valid_and_is_redacted_in_strings_numbers_and_names() {
    let mut rules = vec![rule("pii", What::Pii(vec![Pii::Email, Pii::CreditCard]), Action::Redact)];
    rules.push(words(&["secret"], Action::Flag));
    let policy = policy(rules);
    let mut inspection = policy.inspect(Place::Output);
    let arguments = r#"{ "a@b.example" : ["say \"x\"\na@b.example", 4111111111111111, 1.5e3, true],
        "secret":{"n":null,"\u0061@b.example":"ann@c\u002eexample"}}"#;
    let redacted = inspection.json(arguments).unwrap();
    let expected = r#"{ "[EMAIL]" : ["say \"x\"\n[EMAIL]", "[CREDIT_CARD]", 1.5e3, true],
        "secret":{"n":null,"[EMAIL]":"[EMAIL]"}}"#;
    assert_eq!(redacted, expected);
    assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok());
    let found = findings(&inspection);
    assert_eq!(found, [("pii".to_owned(), Action::Redact, 5), ("words".to_owned(), Action::Flag, 1)]);
}

#[test]
fn what_is_no_json_object_or_array_is_text() {
    let policy = policy(vec![rule("pii", What::Pii(vec![Pii::CreditCard]), Action::Redact)]);
    let json = |text| policy.inspect(Place::Output).json(text);
    assert_eq!(json("4111111111111111").unwrap(), "[CREDIT_CARD]");
    assert_eq!(json(r#"{"a": 4111111111111111"#).unwrap(), r#"{"a": [CREDIT_CARD]"#);
    assert_eq!(json(r#"{"half": "\ud800"}"#), None);
    assert_eq!(json("[]"), None);
}

#[test]
fn a_stream_holds_back_no_more_than_a_match_that_may_grow() {
    let policy = policy(vec![rule("pii", What::Pii(vec![Pii::Email]), Action::Redact)]);
    let mut inspection = policy.inspect(Place::Output);
    let mut stream = TextStream::new(&inspection);
    let mut push = |more| stream.push(more, &mut inspection);
    assert_eq!(push("Write to "), "Write to ");
    assert_eq!(push("ann"), "");
    assert_eq!(push("@exam"), "");
    assert_eq!(push("ple.com"), "");
    assert_eq!(push(", please"), "[EMAIL], ");
    assert_eq!(push("!"), "please!");
    assert_eq!(stream.finish(&mut inspection), "");
}

#[test]
fn a_blocked_stream_passes_nothing_of_what_blocks_it() {
    let policy = policy(vec![words(&["forbidden fruit"], Action::Block)]);
    let mut inspection = policy.inspect(Place::Output);
    let mut stream = TextStream::new(&inspection);
    let mut out = String::new();
    for piece in ["An apple is no for", "bidden", " fru", "it", ", they say"] {
        out += &stream.push(piece, &mut inspection);
    }
    assert!(inspection.is_over());
    assert_eq!(out, "An apple is no ");
    assert_eq!(stream.finish(&mut inspection), "");
}

#[test]
fn flags_hold_nothing_back() {
    let policy = policy(vec![words(&["forbidden"], Action::Flag)]);
    assert!(!policy.holds(Place::Output));
    let mut inspection = policy.inspect(Place::Output);
    let mut stream = TextStream::new(&inspection);
    assert_eq!(stream.push("forb", &mut inspection), "forb");
    assert_eq!(stream.push("idden", &mut inspection), "idden");
    assert_eq!(stream.finish(&mut inspection), "");
    assert_eq!(findings(&inspection).len(), 1);
}

#[test]
fn a_match_that_never_ends_ends_the_stream_or_counts_as_found() {
    let endless = |action| policy(vec![regex("(?s)<.*>", action)]);
    let push = |policy: &ContentPolicy| {
        let mut inspection = policy.inspect(Place::Output);
        let mut stream = TextStream::new(&inspection);
        let mut out = String::new();
        for _ in 0..4 * MOST_HELD {
            out += &stream.push("<a", &mut inspection);
        }
        (out, inspection)
    };
    for action in [Action::Redact, Action::Block] {
        let (out, inspection) = push(&endless(action));
        assert_eq!(out, "");
        assert!(inspection.is_over() && inspection.blocked_by().is_none());
        assert_eq!(inspection.undecided_by().unwrap().as_ref(), "(?s)<.*>");
    }
    let (out, inspection) = push(&endless(Action::Flag));
    assert_eq!(out.len(), 8 * MOST_HELD);
    assert!(!inspection.is_over());
    assert!(inspection.findings().any(|found| found.count > 0));
}

#[test]
fn patterns_that_cannot_be_used_are_refused_with_their_place() {
    let refused = |what: What| ContentPolicy::new(vec![rule("r", what, Action::Flag)]).unwrap_err().message;
    let regex = |pattern: &str| refused(What::Regex(pattern.to_owned()));
    assert_eq!(regex("ab(c"), "is not a regular expression: unclosed group, at character 3");
    assert!(regex("a*").contains("matches the empty text"));
    assert!(regex(r"\b").contains("matches the empty text"));
    assert!(regex(r"(?:\w{1000}){100}").contains("too large"), "{}", regex(r"(?:\w{1000}){100}"));
    assert!(regex(&"a".repeat(3_000)).contains("at most 2000"));
    assert!(regex(r"(a)\1").contains("backreferences are not supported"));
    assert!(refused(What::Words(vec![" ".to_owned()])).contains("an empty word"));
    let second = vec![self::regex("a", Action::Flag), self::regex("(", Action::Flag)];
    assert_eq!(ContentPolicy::new(second).unwrap_err().rule, 1);
}

#[test]
fn the_patterns_of_personal_data_are_bounded_below_what_is_held() {
    for kind in Pii::ALL {
        let longest = detector::parse(kind.pattern()).unwrap().properties().maximum_len();
        assert!(longest.is_some_and(|longest| longest < MOST_HELD), "{kind:?}: {longest:?}");
        assert_eq!(Pii::from_name(kind.name()), Some(kind));
    }
    assert!(is_bounded("a{3}b?") && !is_bounded("a+"));
}
