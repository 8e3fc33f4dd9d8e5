//! A job is paid for before it is taken.

use super::lab::{Lab, item};
use crate::budgets::bank::{BUDGET, Bank, LUNA, acme, budget, is_exhausted, short, tenant};
use serde_json::json;
use signalbox_api::v1::{RateLimit, Tenant, batch_job::State};
use signalbox_testkit::{Topology, both_topologies};
use signalbox_vendorsim::{Place, Times, Vendor};
use tonic::Code;

async fn held(bank: &Bank) -> (i64, i64) {
    let status = bank.status(BUDGET).await;
    (status.reserved_nano_eur, status.settled_nano_eur)
}

/// What all of it can cost is set aside at submission; what it did not cost is free at its end.
async fn a_job_is_reserved_whole_or_refused_whole(topology: Topology) {
    let lab = Lab::open(topology).await;
    lab.strike(Vendor::Openai, Place::Create, "hold", Times::First(1));
    let three = || ["a", "b", "c"].map(|id| item(id, LUNA)).to_vec();
    let made = lab.submit("paid", three()).await.unwrap();
    let most = made.reserved.unwrap().nano_eur;
    assert!(most > 0);
    assert_eq!(held(&lab.bank).await, (most, 0));
    lab.handed(Vendor::Openai, 1).await;
    assert_eq!(held(&lab.bank).await, (most, 0));
    lab.bank.vendors.release_batches();
    let cost = lab.books_are_closed("paid", 3).await;
    assert!(0 < cost && cost < most, "{cost} of {most}");
    lab.bank.agrees(3).await;
}

async fn a_job_that_the_budget_cannot_pay_is_not_kept(topology: Topology) {
    let lab = Lab::without_money(topology, 1, json!({})).await;
    let one = lab.submit("measured", vec![item("a", LUNA)]).await.unwrap();
    let most = one.reserved.unwrap().nano_eur;
    lab.ended("measured").await;
    lab.bank.add(budget(most + most / 2)).await;
    let refused = lab.submit("short", vec![item("a", LUNA), item("b", LUNA)]).await.unwrap_err();
    is_exhausted(&refused, BUDGET);
    assert_eq!(lab.job("short").await.unwrap_err().code(), Code::NotFound);
    assert_eq!(held(&lab.bank).await, (0, 0));
    assert_eq!(lab.batches(Vendor::Openai).len(), 1, "nothing of it was handed over");
    // The name is as free as the money.
    let kept = lab.submit("short", vec![item("a", LUNA)]).await.unwrap();
    assert_ne!(kept.state(), State::Unspecified);
    lab.books_are_closed("short", 1).await;
}

/// A rate is for callers who wait: a job may be larger than a minute's, and takes nothing from it, whether its items go to
/// batch endpoints or are called as usual.
async fn a_tenants_rate_neither_holds_its_jobs_back_nor_is_used_up_by_them(topology: Topology) {
    let lab = Lab::open(topology).await;
    let rate_limit =
        Some(RateLimit { requests_per_minute: 2, concurrent_requests: 1, ..RateLimit::default() });
    lab.bank.limit(Tenant { rate_limit, ..tenant(&acme()) }).await;
    let items = |model: &'static str, name: &'static str| {
        (0..8).map(move |number| item(&format!("{name}-{number}"), model))
    };
    lab.submit("large", items(LUNA, "batch").chain(items("ollama/gemma4", "usual")).collect()).await.unwrap();
    lab.books_are_closed("large", 16).await;
    assert_eq!(lab.job("large").await.unwrap().counts.unwrap().succeeded, 16);
    lab.bank.ask(short(LUNA)).await.unwrap();
}

both_topologies!(
    a_job_is_reserved_whole_or_refused_whole,
    a_job_that_the_budget_cannot_pay_is_not_kept,
    a_tenants_rate_neither_holds_its_jobs_back_nor_is_used_up_by_them,
);
