//! What there is, what it costs, and vectors.

use serde_json::json;
use signalbox_api::v1::{
    Capability, EmbedRequest, EstimateCostRequest, GetModelRequest, ListModelsRequest, token_usage::Source,
};
use signalbox_testkit::{
    Options, Signalbox, Topology, World,
    ask::{Mode, ask, request},
    both_topologies, eventually,
    refusal::Refusal,
};

async fn models_come_in_pages_that_join_without_a_seam(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    let all = ListModelsRequest { page_size: 1000, ..Default::default() };
    let all = client.list_models(all).await.unwrap().into_inner();
    let mut names = Vec::new();
    let mut page = ListModelsRequest { page_size: 7, ..Default::default() };
    loop {
        let part = client.list_models(page.clone()).await.unwrap().into_inner();
        assert!(part.models.len() <= 7);
        names.extend(part.models.into_iter().map(|model| model.name));
        page.page_token = part.next_page_token;
        if page.page_token.is_empty() {
            break;
        }
    }
    let expected: Vec<&str> = all.models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, expected);
    assert!(names.len() > 20 && all.aliases.iter().any(|alias| alias.name == "fast"));

    let filter = ListModelsRequest {
        vendor: "ollama".into(),
        capabilities: vec![Capability::Embeddings as i32],
        ..Default::default()
    };
    let embedders = client.list_models(filter).await.unwrap().into_inner().models;
    assert!(!embedders.is_empty() && embedders.iter().all(|model| model.vendor == "ollama"));
}

async fn a_model_is_described_by_name_and_by_alias(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    for name in ["openai/gpt-6-luna", "fast"] {
        let found = client.get_model(GetModelRequest { name: name.to_owned() }).await.unwrap();
        let model = found.into_inner().model.unwrap();
        assert_eq!((model.name.as_str(), model.simulated), ("openai/gpt-6-luna", false));
        assert!(model.pricing.is_some_and(|pricing| pricing.output_nano_eur_per_mtok > 0));
    }
    let missing = client.get_model(GetModelRequest { name: "openai/gpt-6-lunar".to_owned() }).await;
    let refusal = Refusal::from(missing.unwrap_err());
    assert_eq!(refusal.reason, "UNKNOWN_MODEL");
}

async fn an_estimate_bounds_what_the_answer_costs(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    let mut wanted = request("fast", "Why is the sky blue?");
    wanted.max_output_tokens = Some(200);
    let estimate = client.estimate_cost(EstimateCostRequest { request: Some(wanted.clone()) }).await;
    let estimate = estimate.unwrap().into_inner();
    let dearest = estimate.candidates.iter().filter_map(|candidate| candidate.worst_case.as_ref());
    let dearest = dearest.map(|cost| cost.nano_eur).max().unwrap();
    assert_eq!(estimate.worst_case.unwrap().nano_eur, dearest);
    assert!(world.vendors.request_count() == 0, "nobody is called for an estimate");
    let answer = ask(&mut client, Mode::Unary, wanted).await.unwrap();
    let first = &estimate.candidates[0];
    assert_eq!(first.vendor, answer.route.vendor);
    assert!(answer.cost.nano_eur <= first.worst_case.as_ref().unwrap().nano_eur);
}

async fn texts_become_vectors_at_every_vendor_that_can(topology: Topology) {
    let world = World::start(topology, json!({})).await;
    let mut client = world.client();
    let models = [
        "openai/text-embedding-3-small",
        "gemini/gemini-embedding-2",
        "ollama/embeddinggemma",
        "local/some-embedder",
    ];
    for model in models {
        let wanted = EmbedRequest {
            inputs: vec!["a tram".into(), "a bus".into(), "a tram".into()],
            model: model.into(),
            ..Default::default()
        };
        let answer = client.embed(wanted).await.unwrap_or_else(|status| panic!("{model}: {status:?}"));
        let answer = answer.into_inner();
        let [tram, bus, again] = answer.embeddings.as_slice() else { panic!("{model}: three vectors") };
        assert!(!tram.values.is_empty() && tram.values.len() == bus.values.len(), "{model}");
        assert!(tram == again && tram != bus, "{model}: each text has its own vector, in order");
        assert_eq!(answer.route.unwrap().vendor, model.split('/').next().unwrap());
        assert!(answer.usage.is_some_and(|usage| usage.source() != Source::Unspecified), "{model}");
    }
    let by_default = EmbedRequest { inputs: vec!["a tram".into()], ..Default::default() };
    let route = client.embed(by_default).await.unwrap().into_inner().route.unwrap();
    assert_eq!(route.model, "text-embedding-3-small");
}

both_topologies!(
    models_come_in_pages_that_join_without_a_seam,
    a_model_is_described_by_name_and_by_alias,
    an_estimate_bounds_what_the_answer_costs,
    texts_become_vectors_at_every_vendor_that_can,
);

#[tokio::test]
async fn without_a_key_vendors_are_simulated_and_everything_says_so() {
    let signalbox = Signalbox::serve(Options::default()).await;
    let simulated = signalbox.banner()["simulated"].as_array().unwrap();
    assert!(simulated.contains(&json!("openai")), "{simulated:?}");
    eventually("the log says so", || async { signalbox.log().contains("SIMULATED") }).await;
    for mode in Mode::ALL {
        let answer = ask(&mut signalbox.client(), mode, request("", "Hello?")).await.unwrap();
        assert!(answer.route.simulated && answer.text().contains("Simulated"), "{answer:?}");
        assert!(!answer.cost.unknown);
    }
    let name = "fast".to_owned();
    let model = signalbox.client().get_model(GetModelRequest { name }).await.unwrap().into_inner().model;
    assert!(model.unwrap().simulated);
}
