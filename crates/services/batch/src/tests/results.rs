use super::world::{TENANT, World, following, item, job};
use crate::pages::Question;
use futures_util::StreamExt as _;
use signalbox_api::{
    status::from_status,
    v1::{self, StreamBatchResultsRequest},
};
use signalbox_ports::batches::BatchStore as _;
use signalbox_types::ErrorReason;
use std::time::Duration;

#[tokio::test]
async fn results_go_on_after_the_last_one_that_came() {
    let world = World::new().await;
    let working = world.work();
    world.submit("j", vec![item("x", "two"), item("y", "two"), item("z", "two")]).await;
    assert_eq!(world.results("j").await.len(), 3);
    let read = async |resume_token: &str| {
        let asked = StreamBatchResultsRequest { resume_token: resume_token.into(), ..following("j") };
        let stream = world.client().stream_batch_results(asked).await.unwrap().into_inner();
        let all: Vec<_> = stream.map(Result::unwrap).collect().await;
        all
    };
    let all = read("").await;
    let after_first = read(&all[0].resume_token).await;
    assert_eq!(after_first, all[1..]);
    assert_eq!(read(&all[2].resume_token).await, []);
    assert!(all.iter().all(|one| one.result.as_ref().unwrap().end_time.is_some()));

    world.submit("other", vec![item("x", "two")]).await;
    let foreign =
        StreamBatchResultsRequest { resume_token: all[0].resume_token.clone(), ..following("other") };
    let failure = from_status(&world.client().stream_batch_results(foreign).await.unwrap_err());
    assert_eq!(failure.violations[0].field, "resume_token");
    let number = world.store.job(TENANT, "other").await.unwrap().unwrap().0.number;
    let beyond = Question::results(number).token(2);
    let beyond = StreamBatchResultsRequest { resume_token: beyond, ..following("other") };
    let failure = from_status(&world.client().stream_batch_results(beyond).await.unwrap_err());
    assert_eq!(failure.violations[0].field, "resume_token");
    working.end().await;
}

#[tokio::test]
async fn who_follows_survives_quiet_times_and_is_let_go_when_the_process_drains() {
    let world = World::new().await;
    world.submit("j", vec![item("x", "two")]).await;
    let asked = || StreamBatchResultsRequest { follow: true, ..following("j") };
    let mut stream = world.client().stream_batch_results(asked()).await.unwrap().into_inner();
    let quiet = tokio::time::timeout(Duration::from_millis(50), stream.next()).await;
    assert!(quiet.is_err(), "nothing has come, and the stream is open");
    let mut other = world.client().stream_batch_results(asked()).await.unwrap().into_inner();
    let working = world.work();
    assert_eq!(stream.next().await.unwrap().unwrap().result.unwrap().item_id, "x");
    assert!(stream.next().await.is_none(), "the job has ended");
    assert!(other.next().await.unwrap().is_ok());
    working.end().await;

    world.submit("k", vec![item("x", "two")]).await;
    let asked = StreamBatchResultsRequest { follow: true, ..following("k") };
    let mut stream = world.client().stream_batch_results(asked).await.unwrap().into_inner();
    world.dependencies.followers.close();
    let failure = from_status(&stream.next().await.unwrap().unwrap_err());
    assert_eq!(failure.reason, ErrorReason::Unavailable);
}

#[tokio::test]
async fn results_are_removed_once_they_need_not_be_kept() {
    let world = World::new().await;
    let working = world.work();
    world.submit("j", vec![item("x", "two")]).await;
    world.results("j").await;
    world.settled().await;
    working.end().await;
    let expires = world.job("j").await.expire_time.unwrap();
    assert!(expires.seconds > world.job("j").await.end_time.unwrap().seconds);
    world.clock.forward(Duration::from_secs(8 * 86_400));
    let working = world.work();
    let gone = async {
        let asked = v1::GetBatchJobRequest { job_id: "j".into(), tenant_id: job("").tenant_id };
        while world.client().get_batch_job(asked.clone()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), gone).await.unwrap();
    working.end().await;
}
