//! Every vendor, at its batch price.

use super::lab::{HAIKU, Lab, MUCH, answer, asking, embedding, item, paid};
use crate::budgets::bank::{BUDGET, LUNA, acme};
use serde_json::json;
use signalbox_api::v1::{GenerateRequest, Lane, batch_result::Outcome, usage_event};
use signalbox_testkit::{Topology, ask::json_schema, both_topologies};
use signalbox_vendorsim::{BatchState, Vendor};

/// Models whose vendors take batches, and how much of the price that leaves, in tenths.
const MODELS: [(&str, i64); 4] =
    [(LUNA, 5), (HAIKU, 5), ("gemini/gemini-3.5-flash-lite", 5), ("xai/grok-4.3", 8)];
const OLLAMA: &str = "ollama/gemma4";
const VECTORS: &str = "openai/text-embedding-3-small";

const SCHEMA: &str = r#"{"type": "object", "required": ["title"], "additionalProperties": false,
    "properties": {"title": {"type": "string"}}}"#;

/// An item of this model as an interactive request: what it costs then, and what it says.
async fn interactively(lab: &Lab, model: &str) -> (i64, String) {
    let Some(signalbox_api::v1::batch_item::Request::Generate(request)) = item("x", model).request else {
        panic!("no request")
    };
    let answer = lab.bank.ask(GenerateRequest { tenant_id: acme(), ..request }).await.unwrap();
    (answer.cost.unwrap().nano_eur, text(&answer.content))
}

fn text(content: &[signalbox_api::v1::Part]) -> String {
    signalbox_testkit::ask::Answer { content: content.to_vec(), ..Default::default() }.text()
}

/// The same answer as at once, at the price of batches, in results, usage store and ledger alike; and by the vendors' batch
/// endpoints where they have one.
async fn every_vendor_answers_at_its_batch_price_and_the_books_agree(topology: Topology) {
    let lab = Lab::open(topology).await;
    let mut items: Vec<_> =
        MODELS.iter().map(|(model, _)| item(&model.replace(['/', '.'], "-"), model)).collect();
    items.push(item("usual", OLLAMA));
    items.push(embedding("vectors", VECTORS));
    let made = lab.submit("all", items).await.unwrap();
    assert!(made.reserved.as_ref().unwrap().nano_eur > 0);
    let total = lab.books_are_closed("all", 6).await;
    assert!(total > 0 && total <= made.reserved.unwrap().nano_eur);
    let job = lab.job("all").await.unwrap();
    let counts = job.counts.unwrap();
    assert_eq!((counts.total, counts.succeeded), (6, 6), "{counts:?}");
    assert_eq!(job.windows.len(), 6, "{:?}", job.windows);

    for (model, tenths) in MODELS {
        let result = lab.result("all", &model.replace(['/', '.'], "-")).await;
        let (told, route) = (answer(&result), answer(&result).route.as_ref().unwrap());
        assert_eq!(
            (format!("{}/{}", route.vendor, route.model), route.lane()),
            (model.to_owned(), Lane::Batch)
        );
        let before = paid(&result);
        let (at_once, says) = interactively(&lab, model).await;
        assert_eq!(text(&told.content), says, "{model}");
        // Fractions of a nano-euro are rounded up, once.
        assert!((10 * before - at_once * tenths).abs() <= 10, "{model}: {before}, and {at_once} at once");
    }
    let usual = lab.result("all", "usual").await;
    let route = answer(&usual).route.as_ref().unwrap();
    assert_eq!((&*route.vendor, route.lane()), ("ollama", Lane::Unspecified));
    let vectors = lab.result("all", "vectors").await;
    let Some(Outcome::Embed(vectors)) = vectors.outcome else { panic!("{vectors:?}") };
    assert_eq!(vectors.embeddings.len(), 2);
    for vendor in [Vendor::Openai, Vendor::Anthropic, Vendor::Gemini, Vendor::Xai] {
        let batches = lab.batches(vendor);
        assert!(batches.iter().all(|batch| batch.state == BatchState::Completed), "{batches:?}");
        assert_eq!(batches.len(), if vendor == Vendor::Openai { 2 } else { 1 }, "{vendor:?}");
    }
    let accounts = lab.accounts("all", 6).await;
    assert!(accounts.iter().all(|event| event.outcome() == usage_event::Outcome::Succeeded), "{accounts:?}");
}

/// A price that nobody has to pay twice: what is asked for as JSON is checked as it is interactively.
async fn structured_output_passes_the_same_gate(topology: Topology) {
    let lab = Lab::open(topology).await;
    let titled = |model| GenerateRequest {
        response_format: Some(json_schema(SCHEMA)),
        ..signalbox_testkit::ask::request(model, "A title, please.")
    };
    // An answer of two tokens is no JSON object.
    let cut = GenerateRequest { max_output_tokens: Some(2), ..titled(HAIKU) };
    lab.submit("gate", vec![asking("good", titled("pair")), asking("cut", cut)]).await.unwrap();
    lab.books_are_closed("gate", 2).await;
    let good = lab.result("gate", "good").await;
    let title: serde_json::Value = serde_json::from_str(&text(&answer(&good).content)).unwrap();
    assert!(title["title"].is_string(), "{title}");
    let cut = lab.result("gate", "cut").await;
    assert_eq!(super::lab::error(&cut).reason, "OUTPUT_INVALID", "{cut:?}");
    assert!(paid(&cut) > 0, "what was answered was paid for");
}

/// Items of several jobs travel together, and each vendor and model by itself.
async fn items_of_two_jobs_share_a_window(topology: Topology) {
    let lab = Lab::with(topology, 1, json!({"batch": {"window_wait": "1500ms"}})).await;
    lab.submit("one", vec![item("a", LUNA), item("b", LUNA)]).await.unwrap();
    lab.submit("two", vec![item("a", LUNA), item("c", HAIKU)]).await.unwrap();
    let (one, two) = (lab.ended("one").await, lab.ended("two").await);
    let sizes = |vendor| lab.batches(vendor).iter().map(|batch| batch.items.len()).collect::<Vec<_>>();
    assert_eq!((sizes(Vendor::Openai), sizes(Vendor::Anthropic)), (vec![3], vec![1]));
    let shared = &one.windows[0];
    assert_eq!(
        (shared.items, &*shared.vendor, &*shared.vendor_batch_id),
        (2, "openai", &*lab.batches(Vendor::Openai)[0].id)
    );
    assert!(two.windows.iter().any(|window| window.window_id == shared.window_id && window.items == 1));
    let cost = one.cost.unwrap().nano_eur + two.cost.unwrap().nano_eur;
    lab.bank.settled(BUDGET, cost).await;
    assert_eq!(lab.bank.status(BUDGET).await.limit_nano_eur, MUCH);
    let usual = |path: &str| path.contains("chat/completions") || path == "/v1/messages";
    let calls = lab.bank.vendors.requests();
    assert!(!calls.iter().any(|call| usual(&call.path)), "nobody was called as usual");
}

both_topologies!(
    every_vendor_answers_at_its_batch_price_and_the_books_agree,
    structured_output_passes_the_same_gate,
    items_of_two_jobs_share_a_window,
);
