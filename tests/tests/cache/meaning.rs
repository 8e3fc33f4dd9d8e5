//! Matching by meaning with a real sentence encoder and a real language model to judge: only what is asked of the tenant's
//! own model is simulated.

use super::{LUNA, answer, calls, hit, invalidation::cache, met, of, on_with};
use futures_util::future::join_all;
use serde_json::{Value, json};
use signalbox_api::v1::{
    CacheMode, CacheStats, GenerateRequest, GetCacheStatsRequest, Purpose, UsageAttempt,
    cache_effect::Outcome, usage_attempt::Kind,
};
use signalbox_testkit::{
    KEYS, Topology, World,
    ask::{Answer, Mode, json_schema, text_part, user},
    both_topologies, eventually, eventually_some, merge, own,
    real_encoder::RealEncoder,
    real_model::RealModel,
};

const ENCODER: &str = RealEncoder::MULTILINGUAL;
/// So many comparisons without an error show nine of ten to be right.
const ENOUGH: usize = 45;

const STORED: &str = "Give tags for the interview with Laura Bianchi";
const PARAPHRASE: &str = "Could you give me the tags of this interview with Laura Bianchi";
const ANOTHER_PARAPHRASE: &str = "Give me tags of this interview with Laura Bianchi";
/// Each is nearer to what is stored than many a paraphrase, and means something else.
const NEAR_MISSES: [(&str, &str); 3] = [
    ("negation", "Give no tags for the interview with Laura Bianchi"),
    ("number", "Give 3 tags for the interview with Laura Bianchi"),
    ("named_entity", "Give tags for the interview with Lara Bianchi"),
];

/// A world whose cache asks a real encoder, and a real model where it cannot judge by itself.
async fn world(topology: Topology, encoder: &RealEncoder, judge: Option<&RealModel>) -> World {
    let mut config = on_with(json!({
        "vendors": {"encoders": {
            "kind": "openai-compatible",
            "base_url": encoder.url(),
            "api_key": {"env": "ENCODERS_KEY"},
        }},
        "models": {(format!("encoders/{ENCODER}")): {
            "capabilities": ["embeddings"],
            "context_window": 512,
            "prices": [{"input": 0.13, "output": 0}],
        }},
        "cache": {"embedder": format!("encoders/{ENCODER}")},
        "task_types": {
            "tags": {"targets": [LUNA], "cache": {"semantic": "on", "floor": 0.8, "precision_target": 0.9}},
            "captions": {"targets": [LUNA], "cache": {"semantic": "shadow", "floor": 0.8}},
        },
    }));
    if let Some(model) = judge {
        merge(&mut config, judged_by(model));
    }
    let own = [("ENCODERS_KEY", RealEncoder::KEY), ("JUDGE_KEY", RealModel::KEY)];
    let keys: Vec<_> = KEYS.into_iter().chain(own).collect();
    World::with_keys(topology, config, &keys).await
}

fn judged_by(model: &RealModel) -> Value {
    let name = format!("judge/{}", model.model());
    json!({
        "vendors": {"judge": {
            "kind": "openai-compatible",
            "base_url": model.url(),
            "api_key": {"env": "JUDGE_KEY"},
        }},
        "models": {(name.clone()): {
            "capabilities": ["text", "streaming"],
            "context_window": 8192,
            "max_output_tokens": 1024,
            "prices": [{"input": 0.1, "output": 0.4}],
        }},
        "cache": {"verifier": name},
    })
}

/// An instruction for an article.
fn asked(task_type: &str, instruction: &str, article: &str) -> GenerateRequest {
    let part = |text: &str, purpose: Purpose| {
        let mut part = text_part(text);
        part.set_purpose(purpose);
        part
    };
    GenerateRequest {
        model: String::new(),
        task_type: task_type.to_owned(),
        locale: "en-GB".to_owned(),
        messages: vec![user([part(instruction, Purpose::Instruction), part(article, Purpose::Content)])],
        ..of("acme", "")
    }
}

/// One whose answer does not depend on the wording.
fn tags(instruction: &str, article: &str) -> GenerateRequest {
    let schema = r#"{"type":"object","properties":{"tag":{"type":"string","enum":["interview"]}},
        "required":["tag"],"additionalProperties":false}"#;
    GenerateRequest { response_format: Some(json_schema(schema)), ..asked("tags", instruction, article) }
}

async fn ask(world: &World, request: GenerateRequest) -> Answer {
    answer(world, Mode::Unary, request).await
}

async fn stats(world: &World, task_type: &str) -> CacheStats {
    let request = GetCacheStatsRequest { tenant_id: own("acme"), ..Default::default() };
    let stats = cache(world).get_cache_stats(request).await.unwrap().into_inner().stats;
    stats.into_iter().find(|stats| stats.task_type == task_type).unwrap_or_default()
}

/// Calls of a kind that accounts have.
async fn accounted(world: &World, kind: Kind) -> Vec<UsageAttempt> {
    let events = world.signalbox.accounts().await.into_iter();
    events.flat_map(|event| event.attempts).filter(|made| made.kind() == kind).collect()
}

/// Has so many paraphrases asked of the model that near answers are known to be right.
async fn gather_evidence(world: &World) {
    let article = |number: usize| format!("Article {number}.");
    join_all((0..ENOUGH).map(|number| ask(world, tags(STORED, &article(number))))).await;
    join_all((0..ENOUGH).map(|number| hit(world, Mode::Unary, tags(STORED, &article(number))))).await;
    let answers = join_all((0..ENOUGH).map(|number| ask(world, tags(PARAPHRASE, &article(number))))).await;
    for found in answers {
        assert_eq!(met(&found.route), (Outcome::Miss, "evidence".to_owned()));
    }
    eventually("all were compared", || async { stats(world, "tags").await.audited == ENOUGH as u64 }).await;
    assert_eq!(stats(world, "tags").await.audited_wrong, 0);
}

async fn a_paraphrase_shares_an_answer_and_a_near_miss_does_not(topology: Topology) {
    let encoder = RealEncoder::start(ENCODER).await;
    let world = world(topology, &encoder, None).await;
    gather_evidence(&world).await;
    let (served, article) = semantic_hit(&world).await;
    let effect = served.route.cache.as_ref().unwrap();
    assert!((0.8..1.0).contains(&effect.similarity), "{effect:?}");
    assert_eq!((served.cost.nano_eur, served.route.attempts.len()), (0, 0));
    assert_eq!(served.text(), hit(&world, Mode::Unary, tags(STORED, &article)).await.text());

    for (guard, near_miss) in NEAR_MISSES {
        let before = calls(&world);
        let found = ask(&world, tags(near_miss, &article)).await;
        assert_eq!(met(&found.route), (Outcome::Miss, guard.to_owned()), "{near_miss}");
        assert_eq!(calls(&world), before + 1, "{near_miss}");
    }
    // The same wording elsewhere is another matter.
    let elsewhere = GenerateRequest { tenant_id: own("other"), ..tags(PARAPHRASE, &article) };
    assert_eq!(met(&ask(&world, elsewhere).await.route), (Outcome::Miss, String::new()));
    let exact_only =
        GenerateRequest { cache_mode: CacheMode::ExactOnly.into(), ..tags(ANOTHER_PARAPHRASE, &article) };
    assert_eq!(met(&ask(&world, exact_only).await.route), (Outcome::Miss, String::new()));
}

/// A paraphrase that is answered by its like, and for which article. One in fifty is asked of the model all the same.
async fn semantic_hit(world: &World) -> (Answer, String) {
    for number in 0..20 {
        let article = format!("Article {number} that is new.");
        ask(world, tags(STORED, &article)).await;
        hit(world, Mode::Unary, tags(STORED, &article)).await;
        let found = ask(world, tags(PARAPHRASE, &article)).await;
        match met(&found.route) {
            (Outcome::SemanticHit, _) => return (found, article),
            (Outcome::Miss, reason) => assert!(["audit", "evidence"].contains(&&*reason), "{reason}"),
            other => panic!("{other:?}"),
        }
    }
    panic!("no paraphrase was served");
}

async fn what_the_encoder_is_asked_is_paid_once_for_each_text(topology: Topology) {
    let encoder = RealEncoder::start(ENCODER).await;
    let world = world(topology, &encoder, None).await;
    for article in ["One.", "Two.", "Three."] {
        for instruction in [STORED, PARAPHRASE] {
            ask(&world, tags(instruction, article)).await;
        }
    }
    let made = || accounted(&world, Kind::CacheEmbedding);
    eventually("both texts are accounted for", || async { made().await.len() >= 2 }).await;
    let made = made().await;
    assert_eq!(made.len(), 2, "{made:?}");
    for call in made {
        let attempt = call.attempt.unwrap();
        assert_eq!((&*attempt.vendor, &*attempt.model), ("encoders", ENCODER));
        let (usage, cost) = (attempt.usage.unwrap(), attempt.cost.unwrap());
        assert!(usage.input_tokens > 5 && usage.output_tokens == 0, "{usage:?}");
        assert!(cost.nano_eur > 0 && !cost.unknown, "{cost:?}");
        assert!(!call.simulated);
    }
    let paying = world.signalbox.accounts().await.into_iter().filter(|event| event.attempts.len() == 2);
    for event in paying {
        let sum: i64 = event
            .attempts
            .iter()
            .map(|made| made.attempt.as_ref().unwrap().cost.as_ref().unwrap().nano_eur)
            .sum();
        assert_eq!(event.cost.unwrap().nano_eur, sum);
    }
}

async fn an_encoder_that_is_gone_costs_matching_by_meaning_and_nothing_else(topology: Topology) {
    let encoder = RealEncoder::start(ENCODER).await;
    let world = world(topology, &encoder, None).await;
    ask(&world, tags(STORED, "One.")).await;
    hit(&world, Mode::Unary, tags(STORED, "One.")).await;
    drop(encoder);
    let found = ask(&world, tags(PARAPHRASE, "One.")).await;
    assert_eq!(met(&found.route), (Outcome::Miss, "embedder".to_owned()));
    hit(&world, Mode::Unary, tags(STORED, "One.")).await;
}

async fn a_real_model_judges_where_texts_differ_and_without_its_word_an_answer_counts_as_wrong(
    topology: Topology,
) {
    let (encoder, model) = tokio::join!(RealEncoder::start(ENCODER), RealModel::start());
    let world = world(topology, &encoder, Some(&model)).await;
    let captions = |instruction: &str, article: &str| asked("captions", instruction, article);
    let compared = async |article: &str, audited: u64| {
        ask(&world, captions(STORED, article)).await;
        hit(&world, Mode::Unary, captions(STORED, article)).await;
        let found = ask(&world, captions(PARAPHRASE, article)).await;
        assert_eq!(met(&found.route), (Outcome::Miss, "shadow".to_owned()));
        eventually_some("they were compared", || async {
            Some(stats(&world, "captions").await).filter(|stats| stats.audited == audited)
        })
        .await
    };
    let judged = compared("One.", 1).await;
    assert!(judged.audited_wrong <= 1, "{judged:?}");
    // Who comes next pays for it.
    let verdicts = eventually_some("the verdict is accounted for", || async {
        ask(&world, captions(STORED, "One.")).await;
        Some(accounted(&world, Kind::CacheVerification).await).filter(|made| !made.is_empty())
    })
    .await;
    let attempt = verdicts[0].attempt.clone().unwrap();
    assert_eq!((&*attempt.vendor, &*attempt.model), ("judge", model.model()));
    let (usage, cost) = (attempt.usage.unwrap(), attempt.cost.unwrap());
    // On a busy machine its time may be over before it has said a word.
    assert!(usage.input_tokens + usage.cache_read_tokens > 50, "{usage:?}");
    assert!(cost.nano_eur > 0 && !cost.unknown, "{cost:?}");

    drop(model);
    let unjudged = compared("Two.", 2).await;
    assert_eq!(unjudged.audited_wrong, judged.audited_wrong + 1);
}

both_topologies!(
    a_paraphrase_shares_an_answer_and_a_near_miss_does_not,
    what_the_encoder_is_asked_is_paid_once_for_each_text,
    an_encoder_that_is_gone_costs_matching_by_meaning_and_nothing_else,
    a_real_model_judges_where_texts_differ_and_without_its_word_an_answer_counts_as_wrong,
);
