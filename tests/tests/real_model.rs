//! A real model, small and on this machine: no simulation anywhere on the way.

use serde_json::{Value, json};
use signalbox_api::v1::{FinishReason, GenerateRequest, Sampling, token_usage::Source};
use signalbox_testkit::{
    Topology, World,
    ask::{Answer, Mode, ask, json_schema, request},
    both_topologies,
    real_model::RealModel,
};
use signalbox_vendorsim::Vendor;

/// A world whose self-hosted vendor is the real model, behind a simulated one in the alias `ours`.
async fn world(topology: Topology, model: &RealModel) -> World {
    let real = format!("local/{}", model.model());
    let config = json!({
        "vendors": {"local": {"base_url": model.url()}},
        "aliases": {"ours": {"targets": ["openai/gpt-6-luna", real]}},
        "failover": {"quick_retry_delay": "10ms"},
    });
    let keys = [("OPENAI_API_KEY", "key-of-openai"), ("OPENAI_COMPATIBLE_API_KEY", RealModel::KEY)];
    World::with_keys(topology, config, &keys).await
}

fn short(model: &str, text: &str) -> GenerateRequest {
    let mut wanted = request(model, text);
    wanted.max_output_tokens = Some(40);
    wanted.sampling = Some(Sampling { temperature: Some(0.0), ..Default::default() });
    wanted
}

fn check(answer: &Answer, mode: Mode) {
    assert!(!answer.text().trim().is_empty(), "{answer:?}");
    assert!(!answer.route.simulated && answer.route.vendor == "local");
    assert_eq!(answer.usage.source(), Source::Vendor, "{mode:?}");
    assert!(answer.usage.input_tokens + answer.usage.cache_read_tokens > 5, "{:?}", answer.usage);
    assert!((1..=200).contains(&answer.usage.output_tokens), "{:?}", answer.usage);
}

async fn the_real_model_answers(topology: Topology) {
    let model = RealModel::start().await;
    let world = world(topology, &model).await;
    let name = format!("local/{}", model.model());
    for mode in Mode::ALL {
        let wanted = short(&name, "In one sentence, why is the sky blue?");
        let answer = ask(&mut world.client(), mode, wanted).await.unwrap();
        check(&answer, mode);
        assert!(matches!(answer.finish_reason, FinishReason::Stop | FinishReason::Length), "{answer:?}");

        let schema = r#"{"type":"object","properties":{"city":{"type":"string","maxLength":12},"large":{"type":"boolean"}},
            "required":["city","large"],"additionalProperties":false}"#;
        let mut structured = short(&name, "Name a city in Italy and say whether it is large.");
        structured.max_output_tokens = Some(200);
        structured.response_format = Some(json_schema(schema));
        let answer = ask(&mut world.client(), mode, structured).await.unwrap();
        check(&answer, mode);
        let value: Value = serde_json::from_str(&answer.text()).unwrap();
        jsonschema::validate(&serde_json::from_str(schema).unwrap(), &value).unwrap();
    }
    assert_eq!(world.vendors.request_count(), 0);
}

async fn the_real_model_takes_over_from_a_dying_vendor(topology: Topology) {
    let model = RealModel::start().await;
    let world = world(topology, &model).await;
    let before = ask(&mut world.client(), Mode::Unary, short("ours", "Hello?")).await.unwrap();
    assert_eq!(before.attempts(), ["openai"]);
    world.fault(Vendor::Openai, "down");
    for mode in Mode::ALL {
        let after = ask(&mut world.client(), mode, short("ours", "Hello, who are you?")).await.unwrap();
        check(&after, mode);
        assert_eq!(after.attempts(), ["openai: VENDOR_UNREACHABLE", "openai: VENDOR_UNREACHABLE", "local"]);
    }
}

both_topologies!(the_real_model_answers, the_real_model_takes_over_from_a_dying_vendor);
