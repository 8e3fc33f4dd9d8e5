//! What keeps two requests apart, and what has nothing to do with the cache.

use super::{answer, calls, hit, met, of, on, on_with, outcome};
use serde_json::json;
use signalbox_api::v1::{GenerateRequest, Part, Purpose, Sampling, cache_effect::Outcome};
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, json_schema, text_part, tool, user},
    both_topologies, own,
};

/// A part with what it is for.
fn purpose(text: &str, purpose: Purpose) -> Part {
    Part { purpose: purpose.into(), ..text_part(text) }
}

fn article(tenant: &str, content: &str) -> GenerateRequest {
    let parts =
        [purpose("Sum this up in a sentence.", Purpose::Instruction), purpose(content, Purpose::Content)];
    GenerateRequest { messages: vec![user(parts)], ..of(tenant, "") }
}

fn cool(temperature: f64) -> Option<Sampling> {
    Some(Sampling { temperature: Some(temperature), ..Default::default() })
}

async fn whatever_else_is_asked_is_another_request(topology: Topology) {
    let world = World::start(topology, on()).await;
    let asked = article("acme", "The river rose by two metres.");
    answer(&world, Mode::Unary, asked.clone()).await;
    hit(&world, Mode::Unary, asked.clone()).await;
    let others: [(&str, GenerateRequest); 11] = [
        ("tenant", GenerateRequest { tenant_id: own("acm"), ..asked.clone() }),
        ("tenant", GenerateRequest { tenant_id: own("acme "), ..asked.clone() }),
        ("task", GenerateRequest { task_type: "summary".to_owned(), model: String::new(), ..asked.clone() }),
        ("locale", GenerateRequest { locale: "it-IT".to_owned(), ..asked.clone() }),
        ("template", GenerateRequest { prompt_template: "summary@2".to_owned(), ..asked.clone() }),
        ("content", article("acme", "The river rose by three metres.")),
        ("system", GenerateRequest { system: "Be brief.".to_owned(), ..asked.clone() }),
        (
            "schema",
            GenerateRequest { response_format: Some(json_schema(r#"{"type":"object"}"#)), ..asked.clone() },
        ),
        ("temperature", GenerateRequest { sampling: cool(0.1), ..asked.clone() }),
        ("limit", GenerateRequest { max_output_tokens: Some(900), ..asked.clone() }),
        ("stop", GenerateRequest { stop: vec!["###".to_owned()], ..asked.clone() }),
    ];
    for (what, other) in others {
        let before = calls(&world);
        let found = answer(&world, Mode::Unary, other).await;
        assert_ne!(met(&found.route).0, Outcome::ExactHit, "{what}");
        assert_eq!(calls(&world), before + 1, "{what}");
    }
    // What says nothing of the answer makes no difference.
    let same = GenerateRequest {
        request_id: "another".to_owned(),
        reference: "article-7".to_owned(),
        scene: "desk".to_owned(),
        ..asked
    };
    assert_eq!(outcome(&world, same).await, Outcome::ExactHit);
}

async fn what_is_equal_but_for_typesetting_is_found_where_that_is_switched_on(topology: Topology) {
    let normalized = json!({"cache": {"defaults": {"normalized": true}}});
    let world = World::start(topology, on_with(normalized)).await;
    let asked = |text: &str| GenerateRequest { locale: "en-GB".to_owned(), ..of("acme", text) };
    answer(&world, Mode::Unary, asked("Write a headline about two dogs.")).await;
    hit(&world, Mode::Unary, asked("Write a headline about two dogs.")).await;
    for (text, expected) in [
        ("Write  a headline about two dogs. ", Outcome::NormalizedHit),
        ("Please write a headline about 2 dogs", Outcome::Miss),
        ("Write a headline about three dogs.", Outcome::Miss),
        ("Write a headline about no dogs.", Outcome::Miss),
    ] {
        assert_eq!(outcome(&world, asked(text)).await, expected, "{text}");
    }
}

async fn what_asks_for_variety_actions_or_the_present_is_left_alone(topology: Topology) {
    let world = World::start(topology, on()).await;
    let asked = |text: &str| of("acme", text);
    let schema = r#"{"type":"object"}"#;
    for (reason, request) in [
        ("temperature", GenerateRequest { sampling: cool(0.9), ..asked("Surprise me.") }),
        ("tools", GenerateRequest { tools: vec![tool("send", schema)], ..asked("Send it.") }),
        ("time_words", asked("What is the latest news?")),
        ("disabled", GenerateRequest { task_type: "chat".to_owned(), ..asked("Hello there?") }),
    ] {
        for _ in 0..2 {
            let found = answer(&world, Mode::Unary, request.clone()).await;
            assert_eq!(met(&found.route), (Outcome::Bypass, reason.to_owned()));
        }
    }
}

async fn in_shadow_nothing_of_another_wording_is_given(topology: Topology) {
    let shadow = json!({"cache": {"defaults": {"semantic": "shadow", "floor": 0.5}}});
    let world = World::start(topology, on_with(shadow)).await;
    let asked = |text: &str| GenerateRequest { locale: "en-GB".to_owned(), ..of("acme", text) };
    answer(&world, Mode::Unary, asked("Write a headline about the dogs of Rome.")).await;
    hit(&world, Mode::Unary, asked("Write a headline about the dogs of Rome.")).await;
    for text in ["Write a headline about dogs of Rome.", "Write headlines about the dogs of Rome."] {
        let found = answer(&world, Mode::Unary, asked(text)).await;
        assert!(
            matches!(met(&found.route).0, Outcome::Miss | Outcome::NormalizedHit),
            "{:?}",
            found.route.cache
        );
        assert_ne!(met(&found.route).0, Outcome::SemanticHit);
    }
}

both_topologies!(
    whatever_else_is_asked_is_another_request,
    what_is_equal_but_for_typesetting_is_found_where_that_is_switched_on,
    what_asks_for_variety_actions_or_the_present_is_left_alone,
    in_shadow_nothing_of_another_wording_is_given,
);
