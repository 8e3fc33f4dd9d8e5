//! Whose a job is, and who may do what with it.

use super::lab::{Lab, item, job, submit};
use crate::budgets::bank::{LUNA, acme, tenant};
use signalbox_api::v1::{self, BatchJob, api_key::Scope, batch_job::State};
use signalbox_testkit::{Fleet, Topology, both_topologies, own};
use tonic::Code;

/// What comes of everything that one may ask about a job.
async fn codes(lab: &Lab, key: &str, job_id: &str) -> [Code; 3] {
    let mut client = lab.client(key);
    let (job_id, tenant_id) = (job_id.to_owned(), String::new());
    let get = v1::GetBatchJobRequest { job_id: job_id.clone(), tenant_id: tenant_id.clone() };
    let cancel = v1::CancelBatchJobRequest { job_id: job_id.clone(), tenant_id: tenant_id.clone() };
    let results = v1::StreamBatchResultsRequest { job_id, tenant_id, ..Default::default() };
    [
        client.get_batch_job(get).await.map_or_else(|status| status.code(), |_| Code::Ok),
        client.cancel_batch_job(cancel).await.map_or_else(|status| status.code(), |_| Code::Ok),
        match client.stream_batch_results(results).await {
            Err(status) => status.code(),
            Ok(stream) => {
                stream.into_inner().message().await.map_or_else(|status| status.code(), |_| Code::Ok)
            }
        },
    ]
}

async fn listed(lab: &Lab, key: &str, tenant_id: &str) -> Vec<String> {
    let request = v1::ListBatchJobsRequest { tenant_id: tenant_id.to_owned(), ..Default::default() };
    let jobs = lab.client(key).list_batch_jobs(request).await.unwrap().into_inner().jobs;
    jobs.into_iter().map(|job| job.job_id).collect()
}

async fn a_job_is_its_tenants_and_nobody_elses(topology: Topology) {
    let lab = Lab::open(topology).await;
    let books = lab.bank.books();
    let other = own("other");
    books.add_tenant(Fleet::ADMIN_KEY, tenant(&other)).await;
    let key = async |tenant_id: &str, scope| books.make_key(Fleet::ADMIN_KEY, tenant_id, scope).await.1;
    let (its, reading) = (key(&acme(), Scope::Tenant).await, key(&acme(), Scope::ReadOnly).await);
    let others = key(&other, Scope::Tenant).await;

    // A key names its tenant by itself.
    let made =
        submit(lab.client(&its), BatchJob { tenant_id: String::new(), ..job("mine") }, vec![item("a", LUNA)]);
    assert_eq!(made.await.unwrap().tenant_id, acme());
    lab.ended("mine").await;
    assert_eq!(codes(&lab, &others, "mine").await, [Code::NotFound; 3]);
    assert_eq!(listed(&lab, &others, "").await, [""; 0]);
    assert_eq!(
        (listed(&lab, &its, "").await, listed(&lab, &reading, "").await),
        (vec!["mine".into()], vec!["mine".into()])
    );
    assert_eq!(codes(&lab, &its, "mine").await, [Code::Ok; 3]);
    assert_eq!(codes(&lab, &reading, "mine").await, [Code::Ok, Code::PermissionDenied, Code::Ok]);

    let refused = submit(lab.client(&reading), job("more"), vec![item("a", LUNA)]).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    let refused = submit(lab.client(&others), job("theirs"), vec![item("a", LUNA)]).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    let nobodys = BatchJob { tenant_id: String::new(), ..job("nobodys") };
    let refused = submit(lab.client(Fleet::ADMIN_KEY), nobodys, vec![item("a", LUNA)]).await.unwrap_err();
    assert!(refused.code() == Code::InvalidArgument && refused.message().contains("tenant_id"), "{refused}");
    let refused = submit(lab.client("sbx_nobodys_key"), job("x"), vec![item("a", LUNA)]).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unauthenticated, "{refused}");

    // The same name is another tenant's own.
    let same = BatchJob { tenant_id: String::new(), ..job("mine") };
    let theirs = submit(lab.client(&others), same, vec![item("b", LUNA)]).await.unwrap();
    assert_eq!((&*theirs.tenant_id, theirs.state()), (&*other, State::Running));
    assert_eq!(listed(&lab, Fleet::ADMIN_KEY, &other).await, ["mine"]);
}

both_topologies!(a_job_is_its_tenants_and_nobody_elses);
