//! Processes that die, and processes that stand still: nothing is lost, nothing is handed over twice.

use super::lab::{HAIKU, Lab, item};
use crate::budgets::bank::{BUDGET, LUNA, acme};
use serde_json::json;
use signalbox_api::v1::{StreamBatchResultsRequest, StreamBatchResultsResponse};
use signalbox_testkit::{Fleet, Topology, both_topologies, eventually, eventually_some};
use signalbox_vendorsim::{Place, SubmittedBatch, Times, Vendor};
use std::time::Duration;
use tonic::Streaming;

/// Longer than anybody waits.
const NEVER: &str = "first-byte=600000";

fn items(batches: &[SubmittedBatch]) -> usize {
    batches.iter().map(|batch| batch.items.len()).sum()
}

/// Ends the process that hands over, and starts it again.
async fn crash(lab: &mut Lab, lane: usize) {
    lab.lane_mut(lane).kill().await;
    lab.lane_mut(lane).restart().await;
}

/// The vendor has the batch, and nobody who knows it lives: the next one finds it there.
async fn a_process_that_dies_while_it_hands_over_hands_nothing_over_twice(topology: Topology) {
    let mut lab = Lab::open(topology).await;
    for vendor in [Vendor::Openai, Vendor::Anthropic, Vendor::Gemini, Vendor::Xai] {
        lab.strike(vendor, Place::Create, NEVER, Times::First(1));
    }
    let models = [LUNA, HAIKU, "gemini/gemini-3.5-flash-lite", "xai/grok-4.3"];
    let all = models.iter().map(|model| item(&model.replace(['/', '.'], "-"), model)).collect();
    lab.submit("struck", all).await.unwrap();
    for vendor in [Vendor::Openai, Vendor::Anthropic, Vendor::Gemini, Vendor::Xai] {
        lab.handed(vendor, 1).await;
    }
    crash(&mut lab, 0).await;
    lab.books_are_closed("struck", 4).await;
    assert_eq!(lab.bank.vendors.batches().len(), 4, "{:?}", lab.bank.vendors.batches());
    lab.bank.agrees(4).await;
}

/// The vendor took it, and the answer was lost on the way.
async fn a_lost_answer_hands_nothing_over_twice(topology: Topology) {
    let lab = Lab::open(topology).await;
    lab.strike(Vendor::Openai, Place::Create, "lost", Times::First(1));
    lab.submit("lost", vec![item("a", LUNA), item("b", LUNA)]).await.unwrap();
    lab.books_are_closed("lost", 2).await;
    assert_eq!((lab.batches(Vendor::Openai).len(), items(&lab.batches(Vendor::Openai))), (1, 2));
}

async fn a_process_that_dies_while_it_waits_for_vendors_loses_nothing(topology: Topology) {
    let mut lab = Lab::open(topology).await;
    lab.strike(Vendor::Openai, Place::Create, "hold=1", Times::First(1));
    lab.submit("waited", ["a", "b", "c"].map(|id| item(id, LUNA)).to_vec()).await.unwrap();
    lab.submit("queued", vec![item("a", HAIKU)]).await.unwrap();
    lab.handed(Vendor::Openai, 1).await;
    crash(&mut lab, 0).await;
    lab.bank.vendors.release_batches();
    let job = lab.ended("waited").await;
    lab.ended("queued").await;
    assert_eq!(job.counts.unwrap().succeeded, 3);
    lab.accounts("waited", 3).await;
    lab.accounts("queued", 1).await;
    lab.bank.agrees(4).await;
    assert_eq!(items(&lab.bank.vendors.batches()), 4);
}

/// Killed at any moment between taking the items in and the answer: the job is there or its money is free again within
/// seconds (minutes, as it comes), and handed in again it is there once.
async fn a_process_that_dies_while_it_takes_jobs_leaves_no_money_behind(topology: Topology) {
    const KILLS: u64 = 6;
    let mut lab = Lab::open(topology).await;
    let name = |kill: u64| format!("taken-{kill}");
    for kill in 0..KILLS {
        let submitting = {
            let (client, job) = (lab.client(Fleet::ADMIN_KEY), super::lab::job(&name(kill)));
            tokio::spawn(super::lab::submit(client, job, vec![item("a", LUNA), item("b", LUNA)]))
        };
        // Not to wait for something: to strike elsewhere each time.
        tokio::time::sleep(Duration::from_millis(3 + 5 * kill)).await;
        crash(&mut lab, 0).await;
        let _answered_or_lost = submitting.await.unwrap();
    }
    for kill in 0..KILLS {
        eventually_some("it is taken", || async {
            lab.submit(&name(kill), vec![item("a", LUNA), item("b", LUNA)]).await.ok()
        })
        .await;
    }
    for kill in 0..KILLS {
        assert_eq!(lab.ended(&name(kill)).await.counts.unwrap().succeeded, 2);
    }
    eventually("nothing is reserved any more", || async {
        lab.bank.status(BUDGET).await.reserved_nano_eur == 0
    })
    .await;
    lab.bank.agrees(2 * KILLS).await;
}

both_topologies!(
    a_process_that_dies_while_it_takes_jobs_leaves_no_money_behind,
    a_process_that_dies_while_it_hands_over_hands_nothing_over_twice,
    a_lost_answer_hands_nothing_over_twice,
    a_process_that_dies_while_it_waits_for_vendors_loses_nothing,
);

/// Whoever follows results is let go when the process is to end, and finds the rest when it is back.
#[tokio::test]
async fn a_process_that_is_told_to_stop_lets_followers_go_and_forgets_nothing() {
    let mut lab = Lab::open(Topology::AllInOne).await;
    lab.strike(Vendor::Openai, Place::Create, "hold", Times::First(1));
    lab.submit("stopped", vec![item("early", HAIKU), item("late", LUNA)]).await.unwrap();
    let mut follower = follow(&lab, "stopped", "").await;
    let early = follower.message().await.unwrap().unwrap();
    lab.handed(Vendor::Openai, 1).await;
    lab.lane(0).terminate();
    // Its stream ends, well or with a word to try elsewhere; it does not hold the process up.
    let _ended = follower.message().await;
    assert!(lab.lane_mut(0).ended().await.success());
    lab.lane_mut(0).restart().await;
    lab.bank.vendors.release_batches();
    let mut follower = follow(&lab, "stopped", &early.resume_token).await;
    assert_eq!(follower.message().await.unwrap().unwrap().result.unwrap().item_id, "late");
    lab.books_are_closed("stopped", 2).await;
    assert_eq!(items(&lab.bank.vendors.batches()), 2);
}

async fn follow(lab: &Lab, id: &str, token: &str) -> Streaming<StreamBatchResultsResponse> {
    let request = StreamBatchResultsRequest {
        job_id: id.to_owned(),
        tenant_id: acme(),
        resume_token: token.to_owned(),
        follow: true,
    };
    lab.client(Fleet::ADMIN_KEY).stream_batch_results(request).await.unwrap().into_inner()
}

/// Two processes over one PostgreSQL: what is handed in at one is seen at the other; while one stands still the other
/// does its work; and when it goes on it undoes nothing.
#[tokio::test]
async fn two_processes_share_the_work() {
    let mut lab = Lab::with(Topology::Remote, 2, json!({})).await;
    lab.lane(0).freeze();
    let client = lab.client_at(1, Fleet::ADMIN_KEY);
    let items_of =
        |count: usize| -> Vec<_> { (0..count).map(|index| item(&format!("i{index}"), LUNA)).collect() };
    super::lab::submit(client, super::lab::job("shared"), items_of(5)).await.unwrap();
    lab.handed(Vendor::Openai, 1).await;
    lab.accounts("shared", 5).await;
    lab.lane(0).thaw();
    lab.books_are_closed("shared", 5).await;
    lab.lane(1).freeze();
    lab.submit("other", items_of(3)).await.unwrap();
    lab.ended("other").await;
    lab.lane(1).thaw();
    lab.bank.agrees(8).await;
    assert_eq!(items(&lab.batches(Vendor::Openai)), 8);

    // Without their store they are not ready; with it they go on where they were.
    lab.strike(Vendor::Openai, Place::Create, "hold", Times::First(1));
    lab.submit("outlived", items_of(2)).await.unwrap();
    lab.handed(Vendor::Openai, 3).await;
    lab.bank.parts().postgres.kill().await;
    eventually("the lanes miss their store", || async {
        let missing = [lab.lane(0).ready().await, lab.lane(1).ready().await];
        missing.iter().all(|missing| missing.as_ref().is_err_and(|missing| missing.contains("batch store")))
    })
    .await;
    lab.bank.parts().postgres.restart().await;
    eventually("the lanes are ready", || async {
        lab.lane(0).ready().await.is_ok() && lab.lane(1).ready().await.is_ok()
    })
    .await;

    // One that can only be read is as good as none, for whoever keeps budgets in it too.
    lab.bank.parts().postgres.set_read_only(true).await;
    eventually("the lanes and the ledger miss a store that they can write", || async {
        let lane = lab.lane(0).ready().await.err().unwrap_or_default();
        let books = lab.bank.books().ready().await.err().unwrap_or_default();
        lane.contains("batch store") && books.contains("budget store")
    })
    .await;
    lab.bank.parts().postgres.set_read_only(false).await;
    lab.bank.vendors.release_batches();
    lab.accounts("outlived", 2).await;
    lab.bank.agrees(10).await;
    assert_eq!(items(&lab.batches(Vendor::Openai)), 10);
}
