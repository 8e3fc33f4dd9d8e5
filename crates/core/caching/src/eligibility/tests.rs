use super::*;
use crate::Context;
use signalbox_types::{Image, ImageDetail, JsonText, Reasoning, Role, Tool, ToolCall};

const PLAIN: Facts = Facts { is_sensitive: false };

fn user(parts: Vec<Part>) -> Message {
    Message { role: Role::User, parts }
}

fn said(text: &str, purpose: Purpose) -> Part {
    Part::Text { text: text.to_owned(), purpose }
}

fn request(text: &str) -> GenerateRequest {
    let mut request = GenerateRequest::default();
    request.prompt.messages = vec![user(vec![Part::text(text)])];
    request
}

fn with(change: impl FnOnce(&mut GenerateRequest)) -> GenerateRequest {
    let mut request = request("Write a headline");
    change(&mut request);
    request
}

fn on() -> TaskPolicy {
    TaskPolicy { normalized: true, semantic: Semantic::On, ..TaskPolicy::default() }
}

fn look_up(request: &GenerateRequest, policy: &TaskPolicy) -> Result<Allowed, Reason> {
    may_look_up(request, &Canonical::of(request, &Context::default()), policy, PLAIN)
}

fn store(request: &GenerateRequest, answer: &[Part], finish: FinishReason) -> Result<Allowed, Reason> {
    may_store(request, &Canonical::of(request, &Context::default()), &on(), PLAIN, answer, finish)
}

const ALL_WAYS: Allowed = Allowed { normalised: true, semantic: Semantic::On, narrowed: None };

fn only_exact(reason: Reason) -> Result<Allowed, Reason> {
    Ok(Allowed { normalised: false, semantic: Semantic::Off, narrowed: Some(reason) })
}

#[test]
fn a_plain_request_is_looked_up_in_every_way_that_the_policy_allows() {
    assert_eq!(look_up(&request("Write a headline"), &on()), Ok(ALL_WAYS));
    let shadow = TaskPolicy { semantic: Semantic::Shadow, ..on() };
    assert_eq!(look_up(&request("Hi"), &shadow).unwrap().semantic, Semantic::Shadow);
    let plain = look_up(&request("Hi"), &TaskPolicy::default()).unwrap();
    assert_eq!((plain.normalised, plain.semantic), (false, Semantic::Off));
}

fn tool() -> Tool {
    let parameters = Some(JsonText::parse("{}").unwrap());
    Tool { name: "send".to_owned(), description: String::new(), parameters, strict: None }
}

fn hot(temperature: f64) -> GenerateRequest {
    with(|request| request.prompt.sampling.temperature = Some(temperature))
}

#[test]
fn what_is_not_cacheable_is_bypassed_with_its_reason() {
    let tools = with(|request| request.prompt.tools.push(tool()));
    let image = with(|request| {
        let source = ImageSource::Url("https://a.example/now.png".to_owned());
        let image = Image { source, detail: ImageDetail::Auto };
        request.prompt.messages[0].parts.push(Part::Image(image));
    });
    for (request, reason) in [
        (tools, Reason::Tools),
        (hot(0.31), Reason::Temperature),
        (hot(f64::NAN), Reason::Temperature),
        (image, Reason::ImageUrl),
        (request("What is the latest news?"), Reason::TimeWords),
        (with(|request| request.cache = CachePolicy::Bypass), Reason::Mode),
        (with(|request| request.cache = CachePolicy::Refresh), Reason::Mode),
    ] {
        assert_eq!(look_up(&request, &on()), Err(reason));
    }
    assert_eq!(look_up(&request("Hi"), &TaskPolicy { exact: false, ..on() }), Err(Reason::Disabled));
    let hi = request("Hi");
    let sensitive = Facts { is_sensitive: true };
    let canonical = Canonical::of(&hi, &Context::default());
    assert_eq!(may_look_up(&hi, &canonical, &on(), sensitive), Err(Reason::Sensitive));
}

#[test]
fn a_cool_request_and_one_that_says_nothing_of_temperature_are_cached() {
    assert_eq!(look_up(&hot(0.3), &on()), Ok(ALL_WAYS));
    assert_eq!(look_up(&hot(0.0), &on()), Ok(ALL_WAYS));
    let warm = TaskPolicy { temperature_at_most: 0.8, ..on() };
    assert_eq!(look_up(&hot(0.8), &warm), Ok(ALL_WAYS));
}

#[test]
fn tools_that_must_not_be_called_do_no_harm() {
    let request = with(|request| {
        request.prompt.tools.push(tool());
        request.prompt.tool_choice = ToolChoice::None;
    });
    assert_eq!(look_up(&request, &on()), Ok(ALL_WAYS));
}

#[test]
fn some_requests_are_matched_exactly_only() {
    let exact_only = with(|request| request.cache = CachePolicy::ExactOnly);
    let seeded = with(|request| request.prompt.sampling.seed = Some(1));
    let untold = with(|request| request.prompt.messages[0].parts.push(Part::text("An article")));
    let around = with(|request| {
        request.prompt.messages[0].parts = vec![
            said("Summarise", Purpose::Instruction),
            said("An article", Purpose::Content),
            said("in Italian", Purpose::Instruction),
        ];
    });
    assert_eq!(look_up(&exact_only, &on()), only_exact(Reason::Mode));
    assert_eq!(look_up(&seeded, &on()), only_exact(Reason::Seed));
    assert_eq!(look_up(&untold, &on()), only_exact(Reason::Instruction));
    assert_eq!(look_up(&around, &on()), only_exact(Reason::Instruction));
}

#[test]
fn a_long_conversation_is_not_matched_by_meaning() {
    let turns = |count: usize| {
        with(|request| {
            request.prompt.messages = vec![user(vec![said("Shorter", Purpose::Instruction)]); count];
        })
    };
    assert_eq!(look_up(&turns(3), &on()), Ok(ALL_WAYS));
    let long = Allowed { normalised: true, semantic: Semantic::Off, narrowed: Some(Reason::History) };
    assert_eq!(look_up(&turns(4), &on()), Ok(long));
}

#[test]
fn an_article_may_speak_of_today_and_an_instruction_may_not() {
    let request = with(|request| {
        request.prompt.messages[0].parts = vec![
            said("Write a headline", Purpose::Instruction),
            said("The bridge was opened today.", Purpose::Content),
        ];
    });
    assert_eq!(look_up(&request, &on()), Ok(ALL_WAYS));
}

#[test]
fn an_answer_that_ended_cleanly_is_kept() {
    for finish in [FinishReason::Stop, FinishReason::StopSequence] {
        assert_eq!(store(&request("Hi"), &[Part::text("Hello")], finish), Ok(ALL_WAYS));
    }
    let refresh = with(|request| request.cache = CachePolicy::Refresh);
    assert!(store(&refresh, &[Part::text("Hello")], FinishReason::Stop).is_ok(), "that is what it is for");
}

#[test]
fn an_answer_that_did_not_end_cleanly_is_not_kept() {
    for (finish, reason) in [
        (FinishReason::Unknown, Reason::FinishReason),
        (FinishReason::Length, Reason::FinishReason),
        (FinishReason::ContentFilter, Reason::FinishReason),
        (FinishReason::ContextExceeded, Reason::FinishReason),
        (FinishReason::Pause, Reason::FinishReason),
        (FinishReason::Refusal, Reason::Refusal),
        (FinishReason::ToolCalls, Reason::ToolCall),
        (FinishReason::MalformedToolCall, Reason::ToolCall),
    ] {
        assert_eq!(store(&request("Hi"), &[Part::text("Hello")], finish), Err(reason));
    }
}

#[test]
fn an_answer_that_does_something_says_nothing_or_is_too_large_is_not_kept() {
    let call = ToolCall {
        id: "call_0".to_owned(),
        name: "send".to_owned(),
        arguments: "{}".to_owned(),
        signature: None,
    };
    let thought = Reasoning { text: "hm".to_owned(), ..Reasoning::default() };
    let refused = |answer: &[Part]| store(&request("Hi"), answer, FinishReason::Stop);
    assert_eq!(refused(&[Part::text("Sent"), Part::ToolCall(call)]), Err(Reason::ToolCall));
    assert_eq!(refused(&[]), Err(Reason::Empty));
    assert_eq!(refused(&[Part::text(" \n"), Part::Reasoning(thought)]), Err(Reason::Empty));
    assert_eq!(refused(&[Part::text("x".repeat(LARGEST_ANSWER + 1))]), Err(Reason::TooLarge));
    assert!(refused(&[Part::text("x".repeat(LARGEST_ANSWER))]).is_ok());
}

#[test]
fn what_is_not_looked_up_is_not_kept_but_for_a_refresh() {
    let hello = [Part::text("Hello")];
    assert_eq!(store(&hot(1.0), &hello, FinishReason::Stop), Err(Reason::Temperature));
    let bypass = with(|request| request.cache = CachePolicy::Bypass);
    assert_eq!(store(&bypass, &hello, FinishReason::Stop), Err(Reason::Mode));
}

#[test]
fn reasons_have_words_of_their_own() {
    let words: std::collections::BTreeSet<_> = Reason::ALL.map(Reason::name).into_iter().collect();
    assert_eq!(words.len(), Reason::ALL.len());
}

#[test]
fn a_text_that_asks_for_now_is_told_in_many_languages() {
    for text in [
        "What is the latest news?",
        "Who is president NOW",
        "Today's weather",
        "headlines of this  week",
        "Che tempo fa oggi?",
        "le ultime notizie",
        "eventi di quest’anno",
        "Jaka jest dzisiaj pogoda?",
        "najnowsze wiadomości",
        "w tym tygodniu",
        "Яка погода сьогодні?",
        "останні новини",
        "今天的天气怎么样？",
        "总结最新消息",
        "Was ist heute passiert?",
        "Qué pasa hoy",
    ] {
        assert!(speaks_of_now(text), "{text}");
    }
}

#[test]
fn a_text_that_asks_for_the_present_in_other_words_or_for_chance_is_told_too() {
    let told = include_str!("tests/present_or_chance.txt");
    let missed: Vec<_> = told.lines().filter(|text| !text.is_empty() && !speaks_of_now(text)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_text_that_does_not_ask_for_now_is_left_alone() {
    for text in [
        "",
        "Write a headline for the article",
        "Explain knowledge and snow",
        "Summarise in this form",
        "Scrivi un titolo per l'articolo",
        "Napisz nagłówek",
        "Напиши заголовок",
        "写一个标题",
        "Tell me about the weekend",
        "Write a headline about the weather",
        "Tag the news of the council",
        "Explain the balance of power",
        "Classify the joke",
        "Come si tira la pasta?",
        "Explain what an open question is",
        "Is the shop open on Sundays?",
        "Is it a good headline for a shop that will soon be open?",
        "Name a different kind of tree",
        "Write one headline, no more",
        "Опиши баланс сил",
        "给新闻写标题",
    ] {
        assert!(!speaks_of_now(text), "{text}");
    }
}

#[test]
fn a_date_says_which_day_is_meant() {
    for text in
        ["latest news of 2026-11-30", "today, 30.11.2026", "oggi 30/11/2026", "今天（2026年11月30日）"]
    {
        assert!(!speaks_of_now(text), "{text}");
    }
    for text in [
        "latest news of 2026",
        "today at 10:30:45",
        "the 3 latest of 7 in 2026",
        "now 1-2",
        "today 99.99.2026",
        "What happens today?\nThe bridge was opened on 2026-11-30.",
    ] {
        assert!(speaks_of_now(text), "{text}");
    }
}

#[test]
fn a_client_only_tightens() {
    let policies = [on(), TaskPolicy::default(), TaskPolicy { exact: false, ..on() }];
    for (mode, policy) in [CachePolicy::ExactOnly, CachePolicy::Refresh, CachePolicy::Bypass]
        .into_iter()
        .flat_map(|mode| policies.iter().map(move |policy| (mode, policy)))
    {
        for change in [
            |_: &mut GenerateRequest| {},
            |request: &mut GenerateRequest| {
                request.prompt.sampling.temperature = Some(1.0);
            },
        ] {
            let plain = with(change);
            let mut wished = plain.clone();
            wished.cache = mode;
            let Ok(narrow) = look_up(&wished, policy) else { continue };
            let wide = look_up(&plain, policy).expect("whoever wishes less is not given more");
            assert!(narrow.normalised <= wide.normalised && narrow.semantic <= wide.semantic);
        }
    }
}
