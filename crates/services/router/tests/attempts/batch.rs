//! Items of batch jobs, prepared for the batch lane.

use crate::{
    bank::Bank,
    world::{World, alias},
};
use signalbox_api::{
    status::from_status,
    v1::{
        self, Lane, PrepareBatchItemRequest, PrepareBatchItemResponse, prepare_batch_item_request::Request,
        prepare_batch_item_response::Request as Prepared,
    },
};
use signalbox_ports::{Identity, Scope, SpendLimit};
use signalbox_types::ErrorReason;

async fn prepare(world: &World, request: Request) -> Result<PrepareBatchItemResponse, tonic::Status> {
    let asked = PrepareBatchItemRequest { request: Some(request), key_id: "k1".to_owned() };
    world.client().prepare_batch_item(asked).await.map(tonic::Response::into_inner)
}

fn short(model: &str) -> v1::GenerateRequest {
    v1::GenerateRequest { max_output_tokens: Some(100), tenant_id: "acme".to_owned(), ..alias(model) }
}

fn vendors(prepared: &PrepareBatchItemResponse) -> Vec<&str> {
    prepared.candidates.iter().map(|candidate| candidate.vendor.as_str()).collect()
}

fn dearest(prepared: &PrepareBatchItemResponse) -> i64 {
    let costs = prepared.candidates.iter().map(|candidate| candidate.worst_case.as_ref().unwrap().nano_eur);
    costs.max().unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_item_goes_to_models_that_take_batches_at_the_batch_price() {
    let world = World::new();
    let asked = v1::GenerateRequest { timeout: Some(Default::default()), ..short("own") };
    let prepared = prepare(&world, Request::Generate(asked)).await.unwrap();
    assert_eq!((prepared.lane(), vendors(&prepared)), (Lane::Batch, vec!["openai"]));
    let Some(Prepared::Generate(request)) = &prepared.request else { panic!("{prepared:?}") };
    assert_eq!((request.lane(), request.timeout), (Lane::Batch, None));
    assert!(!request.request_id.is_empty());
    assert_eq!(prepared.decision.as_ref().unwrap().candidates.len(), 2, "the one left out is told, too");
    let asked = v1::EstimateCostRequest { request: Some(short("openai/gpt-6-luna")) };
    let usual = world.client().estimate_cost(asked).await.unwrap().into_inner();
    assert_eq!(dearest(&prepared), (usual.worst_case.unwrap().nano_eur + 1) / 2);
    assert_eq!(world.adapter.calls().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn where_no_model_takes_batches_one_is_called_as_usual_at_the_usual_price() {
    let world = World::new();
    let prepared = prepare(&world, Request::Generate(short("ollama/gpt-oss:20b"))).await.unwrap();
    assert_eq!((prepared.lane(), vendors(&prepared)), (Lane::Interactive, vec!["ollama"]));
    let failure = from_status(&prepare(&world, Request::Generate(short("nobody"))).await.unwrap_err());
    assert_eq!(failure.reason, ErrorReason::UnknownModel);
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_pays_for_batches_only_pays_for_them_and_for_nothing_else() {
    let bank = Bank::with(1_000_000_000);
    bank.change(|vault| vault.standing.limit = SpendLimit::CacheOrBatchOnly);
    let world = World::admitting(bank.clone());
    let prepared = prepare(&world, Request::Generate(short("pair"))).await.unwrap();
    assert_eq!(prepared.lane(), Lane::Batch);
    assert_eq!(bank.told(), ["standing acme/k1/"], "as the key by which the job came, and nothing is taken");
    let refused = world.client().generate(short("pair")).await.unwrap_err();
    assert_eq!(from_status(&refused).reason, ErrorReason::BudgetExhausted);
    bank.change(|vault| vault.standing.limit = SpendLimit::Refuse);
    let refused = prepare(&world, Request::Generate(short("pair"))).await.unwrap_err();
    assert_eq!(from_status(&refused).reason, ErrorReason::BudgetExhausted);
}

#[tokio::test(start_paused = true)]
async fn the_tenants_rules_hold_for_items_as_they_do_for_callers() {
    let tenant = v1::Tenant { allowed_models: vec!["anthropic/*".to_owned()], ..Default::default() };
    let world = World::admitting(Bank::of(tenant));
    let prepared = prepare(&world, Request::Generate(short("pair"))).await.unwrap();
    assert_eq!(vendors(&prepared), ["anthropic"]);
}

#[tokio::test(start_paused = true)]
async fn vectors_are_prepared_for_the_one_model_that_their_name_leads_to() {
    let world = World::new();
    let asked = v1::EmbedRequest { inputs: vec!["a".to_owned()], ..Default::default() };
    let prepared = prepare(&world, Request::Embed(asked)).await.unwrap();
    assert_eq!((prepared.lane(), vendors(&prepared)), (Lane::Batch, vec!["openai"]));
    let Some(Prepared::Embed(request)) = &prepared.request else { panic!("{prepared:?}") };
    assert!(!request.request_id.is_empty());
    assert!(dearest(&prepared) > 0);
}

#[tokio::test(start_paused = true)]
async fn only_roles_of_the_deployment_ask_and_a_batch_is_not_answered_at_once() {
    let world = World::new();
    let tenant = Identity { key_id: "k1".to_owned(), scope: Scope::Tenant("acme".to_owned()) };
    let asked =
        PrepareBatchItemRequest { request: Some(Request::Generate(short("pair"))), ..Default::default() };
    let refused = world.client_of(tenant).prepare_batch_item(asked).await.unwrap_err();
    assert_eq!(from_status(&refused).reason, ErrorReason::PermissionDenied);
    let now = v1::GenerateRequest { lane: Lane::Batch.into(), ..short("pair") };
    let failure = from_status(&world.client().generate(now).await.unwrap_err());
    assert_eq!(failure.violations[0].field, "lane");
    assert!(failure.message.contains("SubmitBatchJob"), "{}", failure.message);
}
