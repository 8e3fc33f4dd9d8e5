//! How items end that are not simply answered.

use super::lab::{HAIKU, Lab, answer, asking, error, item, job, paid};
use crate::budgets::bank::LUNA;
use serde_json::json;
use signalbox_api::v1::{
    BatchJob, GenerateRequest, batch_item_error::Kind, batch_job::State, batch_window, token_usage::Source,
};
use signalbox_testkit::{Topology, ask, both_topologies, eventually};
use signalbox_vendorsim::{BatchState, Fault, Match, Place, Times, Vendor};

const FLASH: &str = "gemini/gemini-3.5-flash-lite";

fn model_of(vendor: Vendor, model: &str, fault: &str, times: Times) -> (Match, Fault, Times) {
    (Match::model(vendor, model).at(Place::Item), Fault::parse(fault).unwrap(), times)
}

/// One item fails at its vendor, the others do not; it alone goes to the next.
async fn an_item_that_fails_goes_to_the_next_vendor(topology: Topology) {
    let lab = Lab::open(topology).await;
    let (items, fault, times) = model_of(Vendor::Openai, "gpt-6-luna", "status=500", Times::First(1));
    lab.bank.vendors.set_fault(items, fault, times);
    lab.submit("moved", ["a", "b", "c"].map(|id| item(id, "pair")).to_vec()).await.unwrap();
    lab.books_are_closed("moved", 3).await;
    let results = lab.results("moved").await;
    let mut served: Vec<_> =
        results.iter().map(|result| answer(result).route.as_ref().unwrap().vendor.as_str()).collect();
    served.sort_unstable();
    assert_eq!(served, ["anthropic", "openai", "openai"]);
    let moved =
        results.iter().map(answer).find(|answer| answer.route.as_ref().unwrap().vendor == "anthropic");
    let attempts = &moved.unwrap().route.as_ref().unwrap().attempts;
    let told = ask::attempts(attempts);
    assert_eq!((told.len(), &*told[1]), (2, "anthropic"), "{told:?}");
    assert!(told[0].starts_with("openai: "), "{told:?}");
}

/// A vendor that takes nothing of a window costs its items a try each, and nothing else.
async fn a_window_that_is_refused_whole_goes_to_the_next_vendor(topology: Topology) {
    let lab = Lab::open(topology).await;
    lab.strike(Vendor::Openai, Place::Create, "refuse", Times::Always);
    lab.submit("refused", vec![item("a", "pair"), item("b", "pair")]).await.unwrap();
    lab.books_are_closed("refused", 2).await;
    let job = lab.job("refused").await.unwrap();
    let state = |vendor: &str| {
        let window = job.windows.iter().find(|window| window.vendor == vendor).unwrap();
        (window.state(), window.error_reason.is_empty())
    };
    assert_eq!(state("openai"), (batch_window::State::Refused, false));
    assert_eq!(state("anthropic"), (batch_window::State::Ended, true));
    for result in lab.results("refused").await {
        assert_eq!(answer(&result).route.as_ref().unwrap().vendor, "anthropic");
    }
}

/// A vendor that refuses a batch for one of its items is handed the others without it; and keeps no file of any of them.
async fn one_bad_item_does_not_fail_the_others(topology: Topology) {
    const MODELS: [(Vendor, &str); 4] = [
        (Vendor::Openai, LUNA),
        (Vendor::Anthropic, HAIKU),
        (Vendor::Gemini, FLASH),
        (Vendor::Xai, "xai/grok-4.3"),
    ];
    let lab = Lab::open(topology).await;
    let mut items = Vec::new();
    for (vendor, model) in MODELS {
        let named = |number: usize| format!("{}-{number}", vendor.name());
        items.extend((0..5).map(|number| item(&named(number), model)));
        let bad =
            GenerateRequest { max_output_tokens: Some(100), ..ask::request(model, "refuse-batch, please") };
        items.insert(items.len() - 2, asking(&format!("{}-bad", vendor.name()), bad));
    }
    lab.submit("mixed", items).await.unwrap();
    lab.books_are_closed("mixed", 24).await;
    let counts = lab.job("mixed").await.unwrap().counts.unwrap();
    assert_eq!((counts.succeeded, counts.failed), (20, 4), "{counts:?}");
    for (vendor, _) in MODELS {
        let result = lab.result("mixed", &format!("{}-bad", vendor.name())).await;
        let bad = error(&result);
        assert_eq!((bad.kind(), &*bad.reason), (Kind::Failed, "INVALID_REQUEST"), "{bad:?}");
        assert!(bad.message.contains("as it says itself"), "{bad:?}");
        // Those that were taken, and those that were refused once they were looked through.
        let taken = lab.batches(vendor).into_iter().filter(|batch| batch.state == BatchState::Completed);
        assert_eq!(taken.map(|batch| batch.items.len()).sum::<usize>(), 5, "{vendor:?}");
        eventually(&format!("{vendor:?} keeps no files"), || async {
            lab.bank.vendors.file_count(vendor) == 0
        })
        .await;
    }
}

/// Nobody else may serve it: the item has failed, with what was tried.
async fn an_item_that_nobody_serves_has_failed(topology: Topology) {
    let lab = Lab::open(topology).await;
    let (items, fault, times) = model_of(Vendor::Openai, "gpt-6-luna", "kind=policy", Times::First(1));
    lab.bank.vendors.set_fault(items, fault, times);
    lab.submit("failed", vec![item("a", LUNA), item("b", HAIKU)]).await.unwrap();
    lab.books_are_closed("failed", 2).await;
    let result = lab.result("failed", "a").await;
    assert_eq!(error(&result).kind(), Kind::Failed);
    assert!(!error(&result).reason.is_empty() && !error(&result).message.is_empty(), "{result:?}");
    answer(&lab.result("failed", "b").await);
    let counts = lab.job("failed").await.unwrap().counts.unwrap();
    assert_eq!((counts.succeeded, counts.failed), (1, 1), "{counts:?}");
}

/// What waits ends at once; what the vendor has is stopped there, and what it had finished is kept and paid for.
async fn a_cancelled_job_keeps_what_was_finished(topology: Topology) {
    let lab = Lab::open(topology).await;
    lab.strike(Vendor::Openai, Place::Create, "hold=1", Times::First(1));
    lab.submit("stopped", ["a", "b", "c"].map(|id| item(id, LUNA)).to_vec()).await.unwrap();
    lab.handed(Vendor::Openai, 1).await;
    let cancelled = lab.cancel("stopped").await;
    assert!(matches!(cancelled.state(), State::Cancelling | State::Ended), "{cancelled:?}");
    let cost = lab.books_are_closed("stopped", 3).await;
    let job = lab.job("stopped").await.unwrap();
    let counts = job.counts.unwrap();
    assert_eq!((counts.succeeded, counts.cancelled), (1, 2), "{counts:?}");
    assert_eq!(lab.batches(Vendor::Openai)[0].state, BatchState::Cancelled);
    let results = lab.results("stopped").await;
    let paid: Vec<i64> = results.iter().map(paid).filter(|paid| *paid > 0).collect();
    assert_eq!(paid, [cost]);
    for result in results.iter().filter(|result| super::lab::paid(result) == 0) {
        assert_eq!((error(result).kind(), &*error(result).reason), (Kind::Cancelled, "CANCELLED"));
    }
    assert_eq!(lab.cancel("stopped").await.state(), State::Ended, "again is as good");
}

/// Gemini shows nothing of a batch that was stopped: what it had answered is not taken for free.
async fn what_a_vendor_answered_and_does_not_show_is_unknown(topology: Topology) {
    let lab = Lab::open(topology).await;
    for (id, done, unknown) in [("some", "hold=2", true), ("none", "hold=0", false)] {
        lab.bank.vendors.clear_faults();
        lab.strike(Vendor::Gemini, Place::Create, done, Times::Always);
        let handed = lab.batches(Vendor::Gemini).len();
        lab.submit(id, ["a", "b", "c"].map(|id| item(id, FLASH)).to_vec()).await.unwrap();
        lab.handed(Vendor::Gemini, handed + 1).await;
        lab.cancel(id).await;
        lab.ended(id).await;
        for result in lab.results(id).await {
            let error = error(&result);
            assert_eq!((error.kind(), &*error.reason), (Kind::Cancelled, "CANCELLED"));
            assert_eq!(error.message, "its job was cancelled before it was answered");
            let cost = error.failure.as_ref().unwrap().total_cost.as_ref().unwrap();
            assert_eq!((cost.unknown, cost.nano_eur), (unknown, 0), "{id}");
        }
    }
}

/// As interactively: by prompt and answer, at the batch price.
async fn an_answer_without_a_count_is_estimated(topology: Topology) {
    let lab = Lab::open(topology).await;
    lab.strike(Vendor::Openai, Place::Item, "no-usage", Times::Always);
    lab.submit("uncounted", ["a", "b"].map(|id| item(id, LUNA)).to_vec()).await.unwrap();
    assert!(lab.books_are_closed("uncounted", 2).await > 0);
    for result in lab.results("uncounted").await {
        let answer = answer(&result);
        let (usage, cost) = (answer.usage.unwrap(), answer.cost.as_ref().unwrap());
        assert_eq!((usage.source(), cost.unknown), (Source::Estimated, false), "{answer:?}");
        assert!(usage.input_tokens > 0 && usage.output_tokens > 0 && cost.nano_eur > 0, "{answer:?}");
    }
}

async fn a_job_that_is_cancelled_before_its_window_is_full_costs_nothing(topology: Topology) {
    let lab = Lab::with(topology, 1, json!({"batch": {"window_wait": "10m"}})).await;
    lab.submit("early", vec![item("a", LUNA), item("b", HAIKU)]).await.unwrap();
    assert_eq!(lab.job("early").await.unwrap().counts.unwrap().queued, 2);
    assert_eq!(lab.cancel("early").await.state(), State::Ended);
    assert_eq!(lab.books_are_closed("early", 2).await, 0);
    assert_eq!(lab.bank.vendors.batches().len(), 0, "nobody was asked");
}

/// Time is up: what is not answered is given up, here and at the vendor, and its money is free.
async fn what_is_not_done_in_time_expires(topology: Topology) {
    let lab = Lab::open(topology).await;
    lab.strike(Vendor::Openai, Place::Create, "hold=1", Times::Always);
    let window = prost_types::Duration { seconds: 3, nanos: 0 };
    let late = BatchJob { completion_window: Some(window), ..job("late") };
    lab.submit_job(late, vec![item("a", LUNA), item("b", LUNA)]).await.unwrap();
    lab.handed(Vendor::Openai, 1).await;
    lab.books_are_closed("late", 2).await;
    let counts = lab.job("late").await.unwrap().counts.unwrap();
    assert_eq!((counts.succeeded, counts.expired), (1, 1), "{counts:?}");
    let results = lab.results("late").await;
    let expired = results.iter().find(|result| paid(result) == 0).unwrap();
    assert_eq!((error(expired).kind(), &*error(expired).reason), (Kind::Expired, "DEADLINE_EXCEEDED"));
    assert_eq!(lab.batches(Vendor::Openai)[0].state, BatchState::Cancelled);
}

both_topologies!(
    an_item_that_fails_goes_to_the_next_vendor,
    a_window_that_is_refused_whole_goes_to_the_next_vendor,
    one_bad_item_does_not_fail_the_others,
    an_item_that_nobody_serves_has_failed,
    a_cancelled_job_keeps_what_was_finished,
    what_a_vendor_answered_and_does_not_show_is_unknown,
    an_answer_without_a_count_is_estimated,
    a_job_that_is_cancelled_before_its_window_is_full_costs_nothing,
    what_is_not_done_in_time_expires,
);
