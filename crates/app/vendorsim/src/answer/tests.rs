use super::*;

fn ask(said: &str) -> Ask<'static> {
    Ask { model: "m-1", said: said.to_owned(), ..Ask::default() }
}

fn weather() -> Value {
    json!({"type": "object", "required": ["town"], "properties": {"town": {"type": "string"}}})
}

#[test]
fn the_answer_names_the_model_and_repeats_the_user() {
    let answer = answer(&ask("Hello"));
    assert_eq!(answer.text, "Simulated answer of m-1: you said \"Hello\".");
    assert_eq!(answer.finish, Finish::Stop);
    assert_eq!(answer.usage.visible, tokens::count(&answer.text));
}

#[test]
fn a_cap_cuts_the_answer_and_says_so() {
    let answer = answer(&Ask { max_tokens: Some(3), ..ask("Hello") });
    assert_eq!(
        (answer.text.as_str(), answer.finish, answer.usage.visible),
        ("Simulated an", Finish::Length, 3)
    );
}

#[test]
fn a_bigger_cap_gets_a_longer_answer() {
    let small = answer(&Ask { max_tokens: Some(100), ..ask("Hello") });
    let big = answer(&Ask { max_tokens: Some(1000), ..ask("Hello") });
    assert!(big.text.len() > small.text.len());
    assert_eq!(big.finish, Finish::Stop);
}

#[test]
fn the_earliest_stop_sequence_wins_and_is_left_out() {
    let answer = answer(&Ask { stop: vec!["you", "answer"], ..ask("Hello") });
    assert_eq!((answer.text.as_str(), answer.finish), ("Simulated ", Finish::Sequence("answer".to_owned())));
}

#[test]
fn reasoning_can_use_up_the_whole_cap() {
    let answer = answer(&Ask { max_tokens: Some(5), reasoning: 16, ..ask("Hello") });
    assert_eq!((answer.text.as_str(), answer.finish), ("", Finish::Length));
    assert_eq!((answer.usage.visible, answer.usage.reasoning), (0, 5));
}

#[test]
fn every_mention_of_a_tool_is_a_call_in_order() {
    let schema = weather();
    let tools = vec![Tool { name: "clock", schema: None }, Tool { name: "weather", schema: Some(&schema) }];
    let answer = answer(&Ask { tools, ..ask("weather, clock and weather") });
    let names: Vec<_> = answer.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["weather", "clock", "weather"]);
    assert_eq!(answer.calls[0].arguments, json!({"town": "simulated ✓"}));
    assert_ne!(answer.calls[0].arguments, answer.calls[2].arguments);
    assert_eq!(answer.finish, Finish::Tools);
}

#[test]
fn tool_choice_is_honoured() {
    let tools = || vec![Tool { name: "clock", schema: None }, Tool { name: "weather", schema: None }];
    let called = |said: &str, choice, one_call| {
        let answer = answer(&Ask { tools: tools(), choice, one_call, ..ask(said) });
        answer.calls.into_iter().map(|call| call.name).collect::<Vec<_>>()
    };
    assert_eq!(called("weather", Choice::None, false), [""; 0]);
    assert_eq!(called("hello", Choice::Required, false), ["clock"]);
    assert_eq!(called("clock", Choice::Named("weather"), false), ["weather"]);
    assert_eq!(called("clock weather", Choice::Auto, true), ["clock"]);
}

#[test]
fn after_tool_results_the_model_speaks() {
    let tools = vec![Tool { name: "clock", schema: None }];
    let answer = answer(&Ask { tools, results: vec!["noon".to_owned()], ..ask("clock") });
    assert!(answer.calls.is_empty());
    assert!(answer.text.ends_with("The tools returned: noon."), "{}", answer.text);
}

#[test]
fn images_are_counted_with_their_sizes() {
    let answer = answer(&Ask { images: vec![Some(70), None], ..ask("Look") });
    assert!(answer.text.ends_with("I see 2 images (70 bytes, by link)."), "{}", answer.text);
}

#[test]
fn long_prompts_are_reported_as_half_cached() {
    let usage = answer(&Ask { prompt_tokens: 2000, ..ask("Hello") }).usage;
    assert_eq!((usage.prompt, usage.cached, usage.written), (2000, 896, 384));
    assert_eq!(answer(&Ask { prompt_tokens: 1000, ..ask("Hello") }).usage.cached, 0);
}
