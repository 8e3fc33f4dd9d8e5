//! Jobs that cannot be taken, and jobs that were taken before.

use super::lab::{Lab, asking, item, job};
use crate::budgets::bank::{BUDGET, LUNA};
use serde_json::json;
use signalbox_api::{
    status::from_status,
    v1::{BatchItem, BatchJob, GenerateRequest},
};
use signalbox_testkit::{Topology, both_topologies};
use signalbox_vendorsim::Vendor;
use tonic::Code;

/// Each field at fault.
async fn faults(lab: &Lab, job: BatchJob, items: Vec<BatchItem>) -> Vec<String> {
    let status = lab.submit_job(job, items).await.unwrap_err();
    assert!(matches!(status.code(), Code::InvalidArgument | Code::NotFound), "{status}");
    from_status(&status).violations.into_iter().map(|violation| violation.field).collect()
}

async fn what_is_wrong_with_a_job_is_told_by_item_and_field(topology: Topology) {
    let lab = Lab::with(topology, 1, json!({"batch": {"max_job_items": 3}})).await;
    let silent = asking("silent", GenerateRequest::default());
    let hot = asking("hot", {
        let sampling = signalbox_api::v1::Sampling { temperature: Some(9.0), ..Default::default() };
        GenerateRequest { sampling: Some(sampling), ..signalbox_testkit::ask::request(LUNA, "Hello") }
    });
    let told = faults(&lab, job("bad"), vec![item("good", LUNA), silent, hot]).await;
    assert!(told.iter().any(|field| field == "items[silent].generate.messages"), "{told:?}");
    assert!(told.iter().any(|field| field == "items[hot].generate.sampling.temperature"), "{told:?}");
    let told = faults(&lab, job("bad"), vec![item("a b", LUNA), item("a", LUNA), item("a", LUNA)]).await;
    assert_eq!(told, ["items[0].item_id", "items[2].item_id"]);
    assert_eq!(
        faults(&lab, job("bad"), vec![BatchItem { item_id: "e".into(), request: None }]).await,
        ["items[e].request"]
    );
    assert_eq!(faults(&lab, job("bad"), Vec::new()).await, ["items"]);
    assert_eq!(faults(&lab, job("b/d"), vec![item("a", LUNA)]).await, ["job_id"]);
    let status = lab.submit("bad", vec![item("a", LUNA), item("lost", "no-such-alias")]).await.unwrap_err();
    assert!(status.message().contains("items[lost]"), "{status}");
    let four = ["a", "b", "c", "d"].map(|id| item(id, LUNA)).to_vec();
    let status = lab.submit("bad", four).await.unwrap_err();
    assert!(status.message().contains("batch.max_job_items"), "{status}");
    // Whole, or not at all.
    assert_eq!(lab.job("bad").await.unwrap_err().code(), Code::NotFound);
    assert_eq!(lab.bank.status(BUDGET).await.reserved_nano_eur, 0);
}

/// Whoever does not know whether a job was taken hands it in again.
async fn a_job_is_there_once_however_often_it_is_handed_in(topology: Topology) {
    let lab = Lab::open(topology).await;
    let items = || vec![item("a", LUNA), item("b", LUNA)];
    let (one, two) = tokio::join!(lab.submit("twice", items()), lab.submit("twice", items()));
    assert_eq!(one.unwrap().create_time, two.unwrap().create_time);
    lab.books_are_closed("twice", 2).await;
    let again = lab.submit("twice", items()).await.unwrap();
    assert_eq!(again.counts.unwrap().succeeded, 2);
    let handed: usize = lab.batches(Vendor::Openai).iter().map(|batch| batch.items.len()).sum();
    assert_eq!(handed, 2);
    lab.bank.agrees(2).await;
}

both_topologies!(
    what_is_wrong_with_a_job_is_told_by_item_and_field,
    a_job_is_there_once_however_often_it_is_handed_in,
);
