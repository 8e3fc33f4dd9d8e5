use super::world::{TENANT, World, following, item, job};
use crate::{BatchLane, submit::whose};
use signalbox_api::{
    status::from_status,
    v1::{self, batch_service_server::BatchService},
};
use signalbox_ports::{Identity, Scope};
use signalbox_types::ErrorReason;
use std::sync::Arc;
use tonic::Request;

fn by<T>(scope: Scope, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.extensions_mut().insert(Arc::new(Identity { key_id: "k".into(), scope }));
    request
}

fn get(tenant_id: &str) -> v1::GetBatchJobRequest {
    v1::GetBatchJobRequest { job_id: "j".into(), tenant_id: tenant_id.into() }
}

fn cancel() -> v1::CancelBatchJobRequest {
    v1::CancelBatchJobRequest { job_id: "j".into(), tenant_id: String::new() }
}

fn reason<T>(answer: Result<T, tonic::Status>) -> Option<ErrorReason> {
    answer.err().map(|status| from_status(&status).reason)
}

#[tokio::test]
async fn another_tenants_job_is_not_there() {
    let world = World::new().await;
    world.submit("j", vec![item("x", "two")]).await;
    let service = BatchLane::new(world.dependencies.clone());
    let rival = || Scope::Tenant("rival".into());
    assert_eq!(reason(service.get_batch_job(by(rival(), get(""))).await), Some(ErrorReason::NotFound));
    assert_eq!(reason(service.cancel_batch_job(by(rival(), cancel())).await), Some(ErrorReason::NotFound));
    let results = v1::StreamBatchResultsRequest { tenant_id: String::new(), ..following("j") };
    let results = service.stream_batch_results(by(rival(), results)).await;
    assert_eq!(reason(results), Some(ErrorReason::NotFound));
    let named = service.get_batch_job(by(rival(), get(TENANT))).await;
    assert_eq!(reason(named), Some(ErrorReason::PermissionDenied));
    let listed = service.list_batch_jobs(by(rival(), Default::default())).await.unwrap();
    assert_eq!(listed.into_inner().jobs, []);
}

#[tokio::test]
async fn a_key_that_may_read_reads_and_does_not_cancel() {
    let world = World::new().await;
    world.submit("j", vec![item("x", "two")]).await;
    let service = BatchLane::new(world.dependencies.clone());
    let reader = || Scope::ReadOnly(TENANT.into());
    assert_eq!(reason(service.get_batch_job(by(reader(), get(""))).await), None);
    let results = v1::StreamBatchResultsRequest { tenant_id: String::new(), ..following("j") };
    assert_eq!(reason(service.stream_batch_results(by(reader(), results)).await), None);
    let listed = service.list_batch_jobs(by(reader(), Default::default())).await.unwrap();
    assert_eq!(listed.into_inner().jobs.len(), 1);
    let cancelled = service.cancel_batch_job(by(reader(), cancel())).await;
    assert_eq!(reason(cancelled), Some(ErrorReason::PermissionDenied));
}

#[tokio::test]
async fn what_can_be_no_id_is_refused_before_the_store_is_asked() {
    let world = World::without_tables();
    let field = |status: tonic::Status| from_status(&status).violations.remove(0);
    for job_id in ["", "a\0b", "a b"] {
        let asked = v1::GetBatchJobRequest { job_id: job_id.into(), tenant_id: TENANT.into() };
        let got = field(world.client().get_batch_job(asked).await.unwrap_err());
        assert_eq!((&*got.field, got.description == "is required"), ("job_id", job_id.is_empty()));
        let asked = v1::CancelBatchJobRequest { job_id: job_id.into(), tenant_id: TENANT.into() };
        assert_eq!(field(world.client().cancel_batch_job(asked).await.unwrap_err()).field, "job_id");
        let streamed = world.client().stream_batch_results(following(job_id)).await;
        assert_eq!(field(streamed.unwrap_err()).field, "job_id");
    }
    let asked = get("a\0b");
    assert_eq!(field(world.client().get_batch_job(asked).await.unwrap_err()).field, "tenant_id");
    let asked = v1::ListBatchJobsRequest { tenant_id: "a\0b".into(), ..Default::default() };
    assert_eq!(field(world.client().list_batch_jobs(asked).await.unwrap_err()).field, "tenant_id");
    let settings = v1::BatchJob { tenant_id: "a\0b".into(), ..job("j") };
    assert_eq!(field(world.try_submit(settings, Vec::new()).await.unwrap_err()).field, "tenant_id");
}

#[tokio::test]
async fn a_key_that_belongs_to_no_tenant_names_one() {
    let named = |scope, tenant: &str| whose(&Identity { key_id: String::new(), scope }, tenant);
    assert_eq!(named(Scope::Admin, TENANT).unwrap(), TENANT);
    assert_eq!(named(Scope::Admin, "").unwrap_err().violations[0].field, "tenant_id");
    assert_eq!(named(Scope::Tenant(TENANT.into()), "").unwrap(), TENANT);
    assert_eq!(named(Scope::Open, "").unwrap(), "");
}

#[tokio::test]
async fn jobs_are_listed_page_by_page_and_a_token_is_not_taken_for_another_question() {
    let world = World::new().await;
    for number in 0..3 {
        world.submit(&format!("j{number}"), vec![item("x", "two")]).await;
    }
    world
        .try_submit(v1::BatchJob { tenant_id: "rival".into(), ..job("r") }, vec![item("x", "one")])
        .await
        .unwrap();
    let asked = v1::ListBatchJobsRequest { tenant_id: TENANT.into(), page_size: 2, ..Default::default() };
    let first = world.client().list_batch_jobs(asked.clone()).await.unwrap().into_inner();
    let ids = |page: &v1::ListBatchJobsResponse| -> Vec<String> {
        page.jobs.iter().map(|job| job.job_id.clone()).collect()
    };
    assert_eq!(ids(&first), ["j2", "j1"]);
    let next = v1::ListBatchJobsRequest { page_token: first.next_page_token.clone(), ..asked.clone() };
    let last = world.client().list_batch_jobs(next.clone()).await.unwrap().into_inner();
    assert_eq!((ids(&last), &*last.next_page_token), (vec!["j0".to_owned()], ""));
    let other = v1::ListBatchJobsRequest { tenant_id: String::new(), ..next };
    let failure = from_status(&world.client().list_batch_jobs(other).await.unwrap_err());
    assert_eq!(failure.violations[0].field, "page_token");
    let everybodys = v1::ListBatchJobsRequest::default();
    let everybodys = world.client().list_batch_jobs(everybodys).await.unwrap().into_inner();
    assert_eq!(everybodys.jobs.len(), 4);
}
