use super::*;
use signalbox_types::{Image, ImageDetail, ImageSource, JsonText, Message, Role, Tool};

/// Against rough counts by rule of thumb (an English word 1.3 tokens, a German or Russian one 2 to 3, an East Asian
/// character 0.7, two characters of JSON one): an estimate is not below them, nor far above.
#[test]
fn an_estimate_is_near_the_real_count_in_every_script() {
    let english = "The quick brown fox jumps over the lazy dog. ";
    let cases = [
        (english.repeat(20), 200),
        ("Der Bundestag hat am Donnerstag das Haushaltsgesetz verabschiedet. ".repeat(10), 150),
        ("Правительство объявило о новых мерах поддержки экономики. ".repeat(10), 120),
        ("政府は新しい経済対策を発表した。".repeat(10), 110),
        ("政府宣布了新的经济措施。".repeat(10), 80),
        (r#"{"name":"value","count":12,"items":[1,2,3]}"#.repeat(10), 180),
    ];
    for (text, real) in cases {
        let estimate = estimate_tokens(&text);
        assert!(estimate >= real && estimate <= real * 9 / 4, "{estimate} for about {real}: {text:.40}");
    }
}

#[test]
fn nothing_is_no_tokens_and_something_is_at_least_one() {
    assert_eq!(estimate_tokens(""), 0);
    assert_eq!(estimate_tokens("a"), 1);
    assert!(estimate_tokens("👩‍👩‍👧") >= 3);
}

#[test]
fn images_tools_and_schemas_count() {
    let text_only = Prompt {
        messages: vec![Message { role: Role::User, parts: vec![Part::text("look")] }],
        ..Prompt::default()
    };
    let base = estimate_prompt_tokens(&text_only);
    let mut with_image = text_only.clone();
    let image =
        Image { source: ImageSource::Url("https://example.com/a.png".into()), detail: ImageDetail::Low };
    with_image.messages[0].parts.push(Part::Image(image));
    assert!(estimate_prompt_tokens(&with_image) >= base + 1_000);

    let mut with_tool = text_only;
    with_tool.tools.push(Tool {
        name: "search".into(),
        description: "search the archive".into(),
        parameters: Some(
            JsonText::parse(r#"{"type":"object","properties":{"query":{"type":"string"}}}"#).unwrap(),
        ),
        strict: None,
    });
    assert!(estimate_prompt_tokens(&with_tool) > base + 350);
}

proptest! {
    #[test]
    fn a_longer_text_is_never_fewer_tokens(text in ".*", more in ".*") {
        let both = format!("{text}{more}");
        prop_assert!(estimate_tokens(&text) <= estimate_tokens(&both));
        prop_assert!(estimate_tokens(&both) <= estimate_tokens(&text) + estimate_tokens(&more));
    }
}
