//! Who may use what, and which models a kind of work gets.

use serde_json::{Value, json};
use signalbox_api::v1::{
    self, Decision, EmbedRequest, ExplainRouteRequest, GenerateRequest, Sampling, candidate::Standing,
};
use signalbox_testkit::{
    Topology, World,
    ask::{Mode, ask, request},
    both_topologies,
    refusal::Refusal,
};
use signalbox_vendorsim::Vendor;
use tonic::Code;

/// Two vendors, the first preferred.
fn pair() -> Value {
    json!({"targets": ["openai/gpt-6-luna", "anthropic/claude-haiku-5-5"]})
}

fn of_tenant(tenant: &str, request: GenerateRequest) -> GenerateRequest {
    GenerateRequest { tenant_id: tenant.to_owned(), ..request }
}

async fn explain(world: &World, request: GenerateRequest) -> Decision {
    let asked = ExplainRouteRequest { request: Some(request), stream: false };
    world.operator().explain_route(asked).await.unwrap().into_inner().decision.unwrap()
}

async fn refusal(world: &World, mode: Mode, request: GenerateRequest) -> Refusal {
    Refusal::from(ask(&mut world.operator(), mode, request).await.unwrap_err())
}

async fn a_vendor_that_a_tenant_denies_is_never_called_for_it(topology: Topology) {
    let world = World::start(
        topology,
        json!({
            "aliases": {"pair": pair()},
            "tenants": {"daily": {"deny": ["openai/*"]}},
            "failover": {"quick_retry_delay": "10ms"},
        }),
    )
    .await;
    for mode in Mode::ALL {
        let answer =
            ask(&mut world.operator(), mode, of_tenant("daily", request("pair", "Hello?"))).await.unwrap();
        assert_eq!(answer.attempts(), ["anthropic"]);
        let decision = answer.route.decision.unwrap();
        assert_eq!(decision.candidates[1].excluded_reason, "on the tenant's deny list");
    }
    world.fault(Vendor::Anthropic, "status=500");
    for mode in Mode::ALL {
        let refused = refusal(&world, mode, of_tenant("daily", request("pair", "Hello?"))).await;
        assert!(refused.attempts.iter().all(|attempt| attempt.starts_with("anthropic")), "{refused:?}");
        let exact = refusal(&world, mode, of_tenant("daily", request("openai/gpt-6-luna", "Hello?"))).await;
        assert_eq!((exact.code, exact.reason), (Code::PermissionDenied, "PERMISSION_DENIED"));
        assert!(
            exact.message.contains("openai/gpt-6-luna") && exact.message.contains("deny list"),
            "{exact:?}"
        );
    }
    assert!(world.calls(Vendor::Openai).is_empty());
    let other = ask(&mut world.operator(), Mode::Unary, of_tenant("other", request("pair", "Hello?"))).await;
    assert_eq!(other.unwrap().attempts(), ["openai"], "the rule is that tenant's alone");
}

async fn data_goes_only_where_the_tenants_policy_lets_it(topology: Topology) {
    let world = World::start(
        topology,
        json!({
            "aliases": {"pair": pair(), "us": {"targets": ["openai/gpt-6-luna", "ollama/anything"]}},
            "vendors": {"anthropic": {"labels": ["eu"]}},
            "tenants": {"daily": {"required_labels": ["eu"]}},
        }),
    )
    .await;
    for mode in Mode::ALL {
        let answer =
            ask(&mut world.operator(), mode, of_tenant("daily", request("pair", "Hello?"))).await.unwrap();
        assert_eq!(answer.attempts(), ["anthropic"]);
        let refused = refusal(&world, mode, of_tenant("daily", request("us", "Hello?"))).await;
        assert_eq!((refused.code, refused.reason), (Code::PermissionDenied, "PERMISSION_DENIED"));
        for model in ["openai/gpt-6-luna", "ollama/anything"] {
            assert!(refused.message.contains(&format!("{model} not marked `eu`")), "{refused:?}");
        }
    }
    let status = ask(&mut world.operator(), Mode::Unary, of_tenant("daily", request("us", "Hello?"))).await;
    let detail: v1::RouteFailure = signalbox_api::status::detail(&status.unwrap_err()).unwrap();
    assert_eq!(detail.decision.unwrap().candidates.len(), 2, "the decision is in the error");
    assert!(world.calls(Vendor::Openai).is_empty() && world.calls(Vendor::Ollama).is_empty());
}

async fn embeddings_obey_the_tenants_rules(topology: Topology) {
    let world = World::start(
        topology,
        json!({
            "aliases": {
                "vectors": {"targets": ["openai/text-embedding-3-small"]},
                "either": {"targets": ["openai/text-embedding-3-small", "gemini/gemini-embedding-2"]},
            },
            "tenants": {"daily": {"deny": ["openai/*"]}},
        }),
    )
    .await;
    let embed = |model: &str| {
        let (tenant_id, inputs) = ("daily".to_owned(), vec!["Hello".to_owned()]);
        let asked = EmbedRequest { tenant_id, model: model.to_owned(), inputs, ..Default::default() };
        let mut client = world.operator();
        async move { client.embed(asked).await }
    };
    for denied in ["openai/text-embedding-3-small", "vectors"] {
        let refused = Refusal::from(embed(denied).await.unwrap_err());
        assert_eq!((refused.code, refused.reason), (Code::PermissionDenied, "PERMISSION_DENIED"));
        assert!(refused.message.contains("openai/text-embedding-3-small"), "{refused:?}");
        assert!(refused.message.contains("deny list"), "{refused:?}");
    }
    assert_eq!(embed("either").await.unwrap().into_inner().route.unwrap().vendor, "gemini");
    assert!(world.calls(Vendor::Openai).is_empty());
}

async fn a_tenants_own_names_lead_to_its_own_models(topology: Topology) {
    let own = json!({
        "aliases": {"pair": {"targets": ["gemini/gemini-3.5-flash-lite"]}},
        "tiers": {"premium": ["xai/grok-4.7"]},
    });
    let world = World::start(topology, json!({"aliases": {"pair": pair()}, "tenants": {"daily": own}})).await;
    let vendor = |tenant, model| {
        let (request, mut client) = (of_tenant(tenant, request(model, "Hello?")), world.operator());
        async move { ask(&mut client, Mode::Unary, request).await.unwrap().route.vendor }
    };
    assert_eq!(vendor("daily", "pair").await, "gemini");
    assert_eq!(vendor("other", "pair").await, "openai");
    assert_eq!(vendor("daily", "tier:premium").await, "xai");
    assert_ne!(vendor("other", "tier:premium").await, "xai");
}

async fn the_temperature_tells_the_kind_of_work_where_nothing_else_does(topology: Topology) {
    let world = World::start(
        topology,
        json!({
            "default_alias": "pair",
            "aliases": {"pair": pair()},
            "temperature_policies": [{"task_type": "sober", "up_to": 0.3}, {"task_type": "vivid", "from": 0.9}],
            "task_types": {
                "sober": {"targets": ["gemini/gemini-3.5-flash-lite"]},
                "vivid": {"targets": ["xai/grok-4.7"]},
            },
        }),
    )
    .await;
    let asked = |temperature, model| GenerateRequest {
        sampling: Some(Sampling { temperature: Some(temperature), ..Default::default() }),
        ..request(model, "Hello?")
    };
    for (temperature, task, vendor) in [(1.2, "vivid", "xai"), (0.0, "sober", "gemini"), (0.5, "", "openai")]
    {
        for mode in Mode::ALL {
            let answer = ask(&mut world.operator(), mode, asked(temperature, "")).await.unwrap();
            assert_eq!(answer.route.vendor, vendor, "at {temperature}");
            let decision = answer.route.decision.unwrap();
            assert_eq!((&*decision.task_type, &*decision.requested), (task, "default"));
            assert_eq!(decision.notes.len(), usize::from(!task.is_empty()), "{:?}", decision.notes);
        }
    }
    let named = ask(&mut world.operator(), Mode::Unary, asked(1.2, "pair")).await.unwrap();
    assert_eq!(named.route.vendor, "openai", "who names a model gets it");
}

async fn secondary_models_serve_only_when_no_preferred_one_can(topology: Topology) {
    let world = World::start(
        topology,
        json!({
            "failover": {"quick_retry_delay": "10ms"},
            "task_types": {"teaser": {
                "targets": ["anthropic/claude-opus-5-5", "xai/grok-4.7"], "secondary": ["openai/gpt-6-luna"],
                // By the score alone the secondary one would be first.
                "routing": {"order": "scored", "weights": {"cost": 1}},
            }},
        }),
    )
    .await;
    let asked = || GenerateRequest { task_type: "teaser".into(), ..request("", "Hello?") };
    let decision = explain(&world, asked()).await;
    let standings: Vec<Standing> = decision.candidates.iter().map(v1::Candidate::standing).collect();
    assert_eq!(standings, [Standing::Preferred, Standing::Preferred, Standing::Secondary]);
    let (cheap, dear) = (&decision.candidates[2], &decision.candidates[1]);
    assert!(cheap.score > dear.score && cheap.draw_probability == 0.0, "{decision:?}");
    for mode in Mode::ALL {
        assert_ne!(ask(&mut world.operator(), mode, asked()).await.unwrap().route.vendor, "openai");
    }
    for vendor in [Vendor::Anthropic, Vendor::Xai] {
        let down = signalbox_vendorsim::Fault::parse("kind=auth").unwrap();
        world.vendors.set_fault(
            signalbox_vendorsim::Match::vendor(vendor),
            down,
            signalbox_vendorsim::Times::Always,
        );
    }
    let answer = ask(&mut world.operator(), Mode::Unary, asked()).await.unwrap();
    assert_eq!(answer.route.vendor, "openai");
    assert_eq!(answer.route.attempts.len(), 3);
}

async fn a_tenant_may_be_kept_from_naming_exact_models(topology: Topology) {
    let world = World::start(
        topology,
        json!({"aliases": {"pair": pair()}, "tenants": {"daily": {"exact_models": false}}}),
    )
    .await;
    for mode in Mode::ALL {
        let refused = refusal(&world, mode, of_tenant("daily", request("openai/gpt-6-luna", "Hello?"))).await;
        assert_eq!((refused.code, refused.reason), (Code::PermissionDenied, "PERMISSION_DENIED"));
        assert!(refused.message.contains("`daily` may not name exact models"), "{refused:?}");
        let answer =
            ask(&mut world.operator(), mode, of_tenant("daily", request("pair", "Hello?"))).await.unwrap();
        assert_eq!(answer.route.model, "gpt-6-luna", "by its alias the same model may be used");
    }
    assert_eq!(world.calls(Vendor::Openai).len(), 2);
}

async fn a_preference_shifts_the_draw(topology: Topology) {
    let world = World::start(
        topology,
        json!({
            "routing": {"order": "scored"},
            "aliases": {"pair": pair()},
            "tenants": {"daily": {"preferences": {"anthropic/*": 3}}, "weekly": {"preferences": {"openai/*": 3}}},
        }),
    )
    .await;
    let mut firsts = [0, 0];
    for (tenant, first) in ["daily", "weekly"].into_iter().zip(&mut firsts) {
        for id in 0..40 {
            let request_id = format!("request-{id}");
            let asked = GenerateRequest { request_id, ..of_tenant(tenant, request("pair", "Hello?")) };
            *first += usize::from(explain(&world, asked).await.candidates[0].vendor == "anthropic");
        }
    }
    let [liked, disliked] = firsts;
    assert!(liked > 35 && disliked < 20, "first of 40 draws: {liked} where it is preferred, else {disliked}");
}

async fn a_request_by_tier_gets_models_of_that_tier(topology: Topology) {
    let world = World::start(topology, json!({"routing": {"order": "scored"}})).await;
    for tier in ["premium", "economy"] {
        let model = ask(&mut world.operator(), Mode::Unary, request(&format!("tier:{tier}"), "Hello?")).await;
        let route = model.unwrap().route;
        let asked = v1::GetModelRequest { name: format!("{}/{}", route.vendor, route.model) };
        let described = world.operator().get_model(asked).await.unwrap().into_inner().model.unwrap();
        assert!(described.tier().as_str_name().to_lowercase().ends_with(tier), "{described:?}");
    }
}

async fn a_served_request_tells_how_its_models_were_chosen(topology: Topology) {
    let world =
        World::start(topology, json!({"routing": {"order": "scored"}, "aliases": {"pair": pair()}})).await;
    for mode in Mode::ALL {
        let answer = ask(&mut world.operator(), mode, request("pair", "Hello?")).await.unwrap();
        let decision = answer.route.decision.unwrap();
        assert_eq!(decision.weights.len(), 5);
        assert!((decision.weights.values().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(decision.candidates.iter().all(|told| told.score > 0.0 && told.draw_probability > 0.0));
        for factor in ["cost", "latency", "health", "quality", "quota"] {
            assert!(decision.candidates.iter().all(|told| told.factors.contains_key(factor)), "{factor}");
        }
    }
}

both_topologies!(
    a_vendor_that_a_tenant_denies_is_never_called_for_it,
    data_goes_only_where_the_tenants_policy_lets_it,
    embeddings_obey_the_tenants_rules,
    a_tenants_own_names_lead_to_its_own_models,
    the_temperature_tells_the_kind_of_work_where_nothing_else_does,
    secondary_models_serve_only_when_no_preferred_one_can,
    a_tenant_may_be_kept_from_naming_exact_models,
    a_preference_shifts_the_draw,
    a_request_by_tier_gets_models_of_that_tier,
    a_served_request_tells_how_its_models_were_chosen,
);
