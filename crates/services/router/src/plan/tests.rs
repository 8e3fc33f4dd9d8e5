use super::*;
use crate::{ConfiguredVendors, SharedDrills, SharedHealth, SharedHolds, admission, budget::BudgetState};
use signalbox_api::v1::candidate::Standing;
use signalbox_kit::{
    FixedClock,
    config::{ConfigHandle, Environment},
    hop,
};
use signalbox_types::ErrorReason;
use std::{
    io::Write,
    sync::Arc,
    time::{Duration, SystemTime},
};

const LARGE: &str = "anthropic/claude-opus-5-5";
const SMALL: &str = "openai/gpt-6-luna";

/// A router's world with this configuration, at 2026-11-29.
fn dependencies(config: &str) -> Dependencies {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(config.as_bytes()).unwrap();
    let clock = Arc::new(FixedClock(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_953_600)));
    let config = ConfigHandle::start(Some(file.path().to_owned()), Environment::default(), clock.clone());
    let config = Arc::new(config.unwrap());
    Dependencies {
        cache: None,
        moderator: None,
        drills: SharedDrills::new(config.clone(), clock.clone()),
        config,
        adapter: hop::remote(&["http://127.0.0.1:9".to_owned()]).unwrap(),
        vendors: ConfiguredVendors::default(),
        holds: SharedHolds::default(),
        health: SharedHealth::default(),
        usual_costs: UsualCosts::default(),
        usage: Arc::new(signalbox_ports::NoLog),
        admission: Arc::new(signalbox_ports::Unlimited),
        clock,
    }
}

fn asking(model: &str) -> v1::GenerateRequest {
    let text = v1::Part { part: Some(v1::part::Part::Text("Hello?".into())), ..Default::default() };
    let message = v1::Message { role: v1::Role::User as i32, content: vec![text] };
    v1::GenerateRequest { model: model.to_owned(), messages: vec![message], ..Default::default() }
}

fn admitted(dependencies: &Dependencies, request: v1::GenerateRequest) -> Admitted {
    admission::admit(request, "", None, &dependencies.config.catalog(), Instant::now()).unwrap()
}

fn planned(dependencies: &Dependencies, request: v1::GenerateRequest) -> Planned {
    let admitted = admitted(dependencies, request);
    make(dependencies, &dependencies.config.catalog(), &admitted, false).unwrap()
}

fn with_budget(
    dependencies: &Dependencies,
    model: &str,
    budget: BudgetState,
) -> Result<Planned, Box<Refused>> {
    let admitted = Admitted { budget, ..admitted(dependencies, asking(model)) };
    make(dependencies, &dependencies.config.catalog(), &admitted, false)
}

/// `vendor/model` of those to try, in order.
fn tried(planned: &Planned) -> Vec<String> {
    planned.candidates.iter().map(|choice| choice.model.to_string()).collect()
}

const MIXED: &str = "
aliases:
  mixed: { targets: [anthropic/claude-opus-5-5, openai/gpt-6-luna] }
tiers: { premium: [anthropic/claude-opus-5-5], economy: [openai/gpt-6-luna] }
";

#[tokio::test]
async fn a_closed_tier_is_replaced_by_an_open_one_instead_of_failing() {
    let dependencies = dependencies(MIXED);
    let economy = || BudgetState { tiers: vec![Tier::Economy], ..BudgetState::default() };
    let planned = |model| with_budget(&dependencies, model, economy());
    assert_eq!(tried(&planned("mixed").unwrap()), [SMALL], "the alias has an economy model itself");
    let instead = planned("tier:premium").unwrap();
    assert_eq!(tried(&instead), [SMALL]);
    let note = "the budget leaves none of the models asked for: those of the tier economy instead";
    assert_eq!(instead.decision.notes, [note]);
    let refused = planned(LARGE).unwrap_err().failure;
    assert_eq!(refused.reason, ErrorReason::BudgetExhausted, "a model named exactly is not replaced");
}

#[tokio::test]
async fn what_a_request_could_cost_at_most_must_fit_the_allowance() {
    let dependencies = dependencies(MIXED);
    let within =
        |nanos| BudgetState { allowance: Some(Money::from_nano_eur(nanos)), ..BudgetState::default() };
    assert_eq!(with_budget(&dependencies, "mixed", within(1_000_000_000_000)).unwrap().candidates.len(), 2);
    let refused = with_budget(&dependencies, "mixed", within(1)).unwrap_err();
    assert_eq!(refused.failure.reason, ErrorReason::BudgetExhausted);
    assert!(refused.decision.candidates.iter().all(|told| told.excluded_reason.contains("could cost")));
}

#[tokio::test]
async fn a_request_id_draws_the_same_again_and_other_ids_draw_otherwise() {
    let dependencies = dependencies("aliases: { mixed: { targets: [openai/gpt-6-luna, xai/grok-4.3] } }");
    let first = |id: &str| {
        let request = v1::GenerateRequest { request_id: id.into(), ..asking("mixed") };
        tried(&planned(&dependencies, request)).remove(0)
    };
    let firsts: Vec<String> = (0..50).map(|id| first(&format!("request-{id}"))).collect();
    let again: Vec<String> = (0..50).map(|id| first(&format!("request-{id}"))).collect();
    assert_eq!(firsts, again);
    assert!(firsts.iter().any(|model| *model != firsts[0]), "{firsts:?}");
}

#[tokio::test]
async fn an_explanation_draws_what_the_request_with_that_id_then_gets() {
    let dependencies = dependencies("aliases: { mixed: { targets: [openai/gpt-6-luna, xai/grok-4.3] } }");
    for id in 0..20 {
        let request = v1::GenerateRequest { request_id: format!("request-{id}"), ..asking("mixed") };
        let catalog = dependencies.config.catalog();
        let told =
            explain(&dependencies, &catalog, &admitted(&dependencies, request.clone()), false).unwrap();
        let explained = told.decision.unwrap();
        let served = planned(&dependencies, request).decision;
        let drawn = |decision: &v1::Decision| decision.candidates[0].clone();
        assert_eq!(drawn(&explained).vendor, drawn(&served).vendor);
        assert_eq!(drawn(&explained).draw_probability, drawn(&served).draw_probability);
        assert_eq!(drawn(&explained).factors.len(), 5);
    }
}

#[tokio::test]
async fn who_else_may_serve_does_not_change_a_score_once_the_usual_cost_is_known() {
    let config =
        format!("{MIXED}\ntenants: {{ thrifty: {{ deny: [anthropic/*] }} }}\nrouting: {{ preset: cheap }}");
    let dependencies = dependencies(&config);
    let score = |tenant: &str| {
        let request = v1::GenerateRequest { tenant_id: tenant.into(), ..asking("mixed") };
        let decision = planned(&dependencies, request).decision;
        decision.candidates.iter().find(|told| told.vendor == "openai").unwrap().score
    };
    assert!(score("") > 0.0);
    assert_eq!(score(""), score("thrifty"));
}

#[tokio::test]
async fn servers_of_ones_own_at_the_end_of_a_list_are_last_resorts() {
    let config = "
task_types:
  one: { targets: [ollama/a, openai/gpt-6-luna, ollama/b], secondary: [xai/grok-4.3, ollama/c] }
  two: { targets: [openai/gpt-6-luna], secondary: [ollama/a] }
  own: { targets: [ollama/a, ollama/b], secondary: [ollama/c] }
";
    let dependencies = dependencies(config);
    let standings = |task: &str| {
        let request = v1::GenerateRequest { task_type: task.into(), ..asking("") };
        let catalog = dependencies.config.catalog();
        let told = explain(&dependencies, &catalog, &admitted(&dependencies, request), false).unwrap();
        let standing = |told: &v1::Candidate| (format!("{}/{}", told.vendor, told.model), told.standing());
        let mut standings: Vec<_> = told.decision.unwrap().candidates.iter().map(standing).collect();
        standings.sort();
        standings.into_iter().map(|(_, standing)| standing).collect::<Vec<_>>()
    };
    use Standing::{LastResort, Preferred, Secondary};
    assert_eq!(standings("one"), [Preferred, LastResort, LastResort, Preferred, Secondary]);
    assert_eq!(standings("two"), [LastResort, Preferred]);
    assert_eq!(standings("own"), [Preferred, Preferred, Secondary]);
}

#[tokio::test]
async fn the_listed_order_has_neither_scores_nor_weights() {
    let dependencies = dependencies(&format!("{MIXED}\nrouting: {{ order: listed }}"));
    let planned = planned(&dependencies, asking("mixed"));
    assert_eq!(tried(&planned), [LARGE, SMALL]);
    assert!(planned.decision.weights.is_empty());
    assert!(planned.decision.candidates.iter().all(|told| told.score == 0.0 && told.factors.is_empty()));
}
