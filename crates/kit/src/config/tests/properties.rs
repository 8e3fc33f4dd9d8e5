use super::*;
use proptest::prelude::*;

/// YAML-like text made of the words and signs that matter here.
fn yaml_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "vendors",
        "models",
        "aliases",
        "tiers",
        "server",
        "listen",
        "openai",
        "targets",
        "prices",
        "input",
        "steps",
        "extends",
        "none",
        "null",
        "openai/gpt-6-luna",
        "0",
        "-1",
        ".nan",
        "1e400",
        "5s",
        "true",
        ": ",
        ":",
        "\n",
        "\n  ",
        "\n    ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "&a ",
        "*a",
        "!!int ",
        "'",
        "\"",
        "|\n",
        ">",
        "# ",
        "---\n",
        "%",
        "@",
        "<<: ",
        "? ",
        "ü",
        "\t",
        "\0",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in prop_oneof![yaml_like(), any::<String>()]) {
        if let Err(errors) = load_with(&text, &Environment::default()) {
            prop_assert_eq!(errors.to_string().lines().count(), errors.problems.len(), "one line a problem: {}", errors);
        }
    }

    #[test]
    fn a_cut_or_changed_example_is_good_or_told_with_a_place(cut in 0usize..3_000, byte in 0u8..128) {
        let mut bytes = published::example().into_bytes();
        let at = cut % bytes.len();
        bytes[at] = byte;
        if byte % 2 == 0 {
            bytes.truncate(at + 1);
        }
        if let Ok(text) = String::from_utf8(bytes)
            && let Err(errors) = load_with(&text, &Environment::default())
        {
            prop_assert!(!errors.problems.is_empty());
            for problem in &errors.problems {
                prop_assert!(problem.at.line >= 1 && problem.at.column >= 1 && !problem.message.is_empty());
            }
        }
    }
}
