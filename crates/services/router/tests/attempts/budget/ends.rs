//! However requests end, what was reserved is settled once, by what the account says.

use crate::{
    adapter::{Deed, End, fails_after},
    bank::Bank,
    world::{World, alias, task},
};
use proptest::prelude::*;
use signalbox_api::v1::{self, FinishReason};
use signalbox_types::ErrorReason;
use std::time::Duration;
use tokio::time::timeout;

const REASONS: [ErrorReason; 7] = [
    ErrorReason::VendorTimeout,
    ErrorReason::VendorAuth,
    ErrorReason::VendorError,
    ErrorReason::VendorOverloaded,
    ErrorReason::InvalidRequest,
    ErrorReason::Unavailable,
    ErrorReason::StreamTruncated,
];

fn deed() -> impl Strategy<Value = Deed> {
    let reason = || prop::sample::select(&REASONS[..]);
    let end = prop_oneof![
        3 => prop::sample::select(&["{}", "no JSON"][..]).prop_map(|text| End::Answer(text, FinishReason::Stop)),
        1 => Just(End::Answer("{", FinishReason::Length)),
        3 => reason().prop_map(End::Fails),
        1 => Just(End::Stalls("some words")),
        1 => reason().prop_map(|reason| End::Breaks("some words", reason)),
    ];
    (0..2_000u64, end).prop_map(|(millis, end)| Deed { after: Duration::from_millis(millis), end })
}

#[derive(Debug, Clone)]
struct Story {
    openai: Vec<Deed>,
    anthropic: Vec<Deed>,
    /// 0 to 2: a whole answer, a stream, vectors.
    operation: u8,
    hedged: bool,
    json: bool,
    limit: Option<i32>,
    /// When the caller leaves.
    patience: Duration,
    left: i64,
    slow_to_raise: u64,
}

fn stories() -> impl Strategy<Value = Story> {
    let deeds = || prop::collection::vec(deed(), 1..4);
    let asked = (0..3u8, any::<bool>(), any::<bool>(), prop::option::of(1..5_000i32));
    let left = prop_oneof![Just(0i64), 1..100_000i64, 100_000..10_000_000i64, Just(1_000_000_000_000)];
    let bank = (left, prop_oneof![Just(0u64), 1..3_000u64]);
    (deeds(), deeds(), asked, 0..8_000u64, bank).prop_map(|(openai, anthropic, asked, patience, bank)| {
        let (operation, hedged, json, limit) = asked;
        let (left, slow_to_raise) = bank;
        let patience = Duration::from_millis(patience);
        Story { openai, anthropic, operation, hedged, json, limit, patience, left, slow_to_raise }
    })
}

fn request(story: &Story) -> v1::GenerateRequest {
    let format = Some(v1::response_format::Format::JsonObject(v1::JsonObjectFormat {}));
    v1::GenerateRequest {
        response_format: story.json.then_some(v1::ResponseFormat { format }),
        max_output_tokens: story.limit,
        ..if story.hedged { task("hedged") } else { alias("all") }
    }
}

async fn ask(world: &World, story: &Story) {
    match story.operation {
        0 => drop(world.ask(request(story)).await),
        1 => {
            let request = v1::StreamGenerateRequest { request: Some(request(story)) };
            let Ok(events) = world.client().stream_generate(request).await else { return };
            let mut events = events.into_inner();
            while let Ok(Some(_)) = events.message().await {}
        }
        _ => {
            let inputs = vec!["blue".to_owned()];
            drop(world.client().embed(v1::EmbedRequest { inputs, ..Default::default() }).await);
        }
    }
}

async fn tell(story: &Story) {
    let bank = Bank::with(story.left);
    let world = World::admitting(bank.clone());
    world.adapter.tell("gemini", [fails_after(0, ErrorReason::VendorAuth)]);
    world.adapter.tell("openai", story.openai.clone());
    world.adapter.tell("anthropic", story.anthropic.clone());
    bank.change(|vault| vault.slow_to_raise = story.slow_to_raise);
    let _left = timeout(story.patience, ask(&world, story)).await;

    bank.check();
    let told = bank.told();
    assert!(!told.iter().any(|told| told.starts_with("dropped")), "{told:?}");
    let settled = told.iter().filter_map(|told| told.strip_prefix("settle ")?.parse::<i64>().ok());
    let charged = world.book.closed().into_iter().filter(|event| !event.charges.is_empty());
    let costs: Vec<_> = charged.map(|event| event.cost.unwrap().nano_eur).collect();
    assert_eq!(settled.collect::<Vec<_>>(), costs, "{told:?}");
    assert_eq!(bank.left(), story.left - costs.iter().sum::<i64>());
    assert!(world.adapter.calls().is_empty() || !costs.is_empty(), "every call is paid by somebody");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_was_reserved_is_settled_once_whatever_the_end(story in stories()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(tell(&story));
    }
}
