//! Why a request goes where it goes, told without calling anyone.

use serde_json::json;
use signalbox_api::v1::{Candidate, ExplainRouteRequest, ExplainRouteResponse, GenerateRequest};
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, ask, request, tool},
    both_topologies,
};
use signalbox_vendorsim::Vendor;

async fn explain(world: &World, request: GenerateRequest) -> ExplainRouteResponse {
    let asked = ExplainRouteRequest { request: Some(request), stream: false };
    world.client().explain_route(asked).await.unwrap().into_inner()
}

fn candidates(answer: &ExplainRouteResponse) -> &[Candidate] {
    &answer.decision.as_ref().unwrap().candidates
}

async fn every_candidate_is_told_with_its_factors_or_why_it_is_out(topology: Topology) {
    let world = World::start(
        topology,
        json!({
            "routing": {"order": "scored", "preset": "cheap"},
            "aliases": {"mixed": {"targets": [
                "anthropic/claude-opus-5-5", "openai/gpt-6-luna", "ollama/deepseek-r1:8b"]}},
        }),
    )
    .await;
    let mut asked = request("mixed", "Hello?");
    asked.tools = vec![tool("lookup", r#"{"type": "object"}"#)];
    let answer = explain(&world, asked).await;
    assert!((answer.weights.values().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", answer.weights);
    let eligible: Vec<&Candidate> =
        candidates(&answer).iter().filter(|told| told.excluded_reason.is_empty()).collect();
    assert_eq!(eligible.len() + 1, candidates(&answer).len());
    let drawn: f64 = eligible.iter().map(|told| told.draw_probability).sum();
    assert!((drawn - 1.0).abs() < 1e-9, "{eligible:?}");
    let (dear, cheap) = (find(&eligible, "anthropic"), find(&eligible, "openai"));
    assert!(cheap.factors["cost"] > dear.factors["cost"] && cheap.score > dear.score, "{eligible:?}");
    let out = candidates(&answer).iter().find(|told| told.vendor == "ollama").unwrap();
    assert!(out.excluded_reason.contains("lacks tools"), "{out:?}");
    for vendor in [Vendor::Anthropic, Vendor::Openai, Vendor::Ollama] {
        assert!(world.calls(vendor).is_empty());
    }
}

fn find<'a>(told: &[&'a Candidate], vendor: &str) -> &'a Candidate {
    told.iter().find(|told| told.vendor == vendor).unwrap()
}

async fn a_scored_route_serves_by_the_best_score_when_greed_is_all(topology: Topology) {
    let world = World::start(
        topology,
        json!({
            "routing": {"order": "scored", "weights": {"cost": 1}, "greed": "best"},
            "aliases": {"mixed": {"targets": ["anthropic/claude-opus-5-5", "openai/gpt-6-luna"]}},
        }),
    )
    .await;
    for mode in Mode::ALL {
        let answer = ask(&mut world.client(), mode, request("mixed", "Hello?")).await.unwrap();
        assert_eq!(answer.route.model, "gpt-6-luna", "the cheaper one, though it is listed second");
    }
}

async fn an_id_explained_is_drawn_as_it_is_then_served(topology: Topology) {
    let config = json!({
        "routing": {"order": "scored", "greed": 0},
        "aliases": {"pair": {"targets": ["anthropic/claude-haiku-5-5", "openai/gpt-6-luna"]}},
    });
    let world = World::start(topology, config.clone()).await;
    let mut firsts = Vec::new();
    for id in 0..12 {
        let asked = GenerateRequest { request_id: format!("request-{id}"), ..request("pair", "Hello?") };
        let told = candidates(&explain(&world, asked.clone()).await)[0].vendor.clone();
        assert_eq!(candidates(&explain(&world, asked).await)[0].vendor, told, "asked again");
        firsts.push(told);
    }
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts, ["anthropic", "openai"], "other ids draw otherwise");
    for id in ["one", "two", "three"] {
        // A new world each time: what was served changes how things stand.
        let world = World::start(topology, config.clone()).await;
        let asked = GenerateRequest { request_id: id.into(), ..request("pair", "Hello?") };
        let told = candidates(&explain(&world, asked.clone()).await)[0].vendor.clone();
        let served = ask(&mut world.client(), Mode::Unary, asked).await.unwrap();
        assert_eq!(served.route.vendor, told);
    }
}

both_topologies!(
    an_id_explained_is_drawn_as_it_is_then_served,
    every_candidate_is_told_with_its_factors_or_why_it_is_out,
    a_scored_route_serves_by_the_best_score_when_greed_is_all,
);
