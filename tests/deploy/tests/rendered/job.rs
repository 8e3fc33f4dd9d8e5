//! A batch job, handed in and fetched by the name that clients are told.

use signalbox_api::v1::{
    BatchItem, BatchJob, StreamBatchResultsRequest, SubmitBatchJobRequest, batch_item,
    batch_job::{Counts, State},
    batch_result::Outcome,
    batch_service_client::BatchServiceClient,
};
use signalbox_testkit::{Keyed, ask::request};
use std::{collections::BTreeSet, time::Duration};
use tokio::time::timeout;

const ID: &str = "nightly";
const MODEL: &str = "openai/gpt-6-luna";
/// Windows of a second, vendors that are quick, and a machine that is busy.
const WITHIN: Duration = Duration::from_secs(60);
/// Its items.
pub(super) const ITEMS: usize = 4;

fn item_id(number: usize) -> String {
    format!("article-{number}")
}

/// Hands it in.
pub(super) async fn hand_in(way: Keyed) {
    let item = |number| BatchItem {
        item_id: item_id(number),
        request: Some(batch_item::Request::Generate(request(MODEL, &format!("Sum up article {number}.")))),
    };
    let job = BatchJob { job_id: ID.to_owned(), ..BatchJob::default() };
    let first = SubmitBatchJobRequest { job: Some(job), items: (0..1).map(item).collect() };
    let more = SubmitBatchJobRequest { job: None, items: (1..ITEMS).map(item).collect() };
    let pieces = futures_util::stream::iter([first, more]);
    let taken = BatchServiceClient::new(way).submit_batch_job(pieces).await.unwrap().into_inner();
    let job = taken.job.unwrap_or_default();
    assert_eq!((&*job.job_id, job.counts.unwrap_or_default().total), (ID, ITEMS as u64));
}

/// Waits until it has ended: each item has an answer, at the price of batches.
pub(super) async fn is_answered(way: Keyed) {
    let answered = timeout(WITHIN, answers(&mut BatchServiceClient::new(way.clone()))).await;
    let answered = answered.unwrap_or_else(|_| panic!("the job has not ended within {WITHIN:?}"));
    assert_eq!(answered, (0..ITEMS).map(item_id).collect());
    let asked = signalbox_api::v1::GetBatchJobRequest { job_id: ID.to_owned(), ..Default::default() };
    let job = BatchServiceClient::new(way).get_batch_job(asked).await.unwrap().into_inner().job.unwrap();
    let Counts { total, succeeded, .. } = job.counts.unwrap_or_default();
    assert_eq!((job.state(), total, succeeded), (State::Ended, ITEMS as u64, ITEMS as u64), "{job:?}");
}

async fn answers(client: &mut BatchServiceClient<Keyed>) -> BTreeSet<String> {
    let asked = StreamBatchResultsRequest {
        job_id: ID.to_owned(),
        follow: true,
        ..StreamBatchResultsRequest::default()
    };
    let mut results = client.stream_batch_results(asked).await.unwrap().into_inner();
    let mut answered = BTreeSet::new();
    while let Some(response) = results.message().await.unwrap() {
        let result = response.result.unwrap();
        assert!(matches!(result.outcome, Some(Outcome::Generate(_))), "{result:?}");
        assert!(answered.insert(result.item_id), "an item has two results");
    }
    answered
}
