//! No answer crosses partitions, and the test that says so would see it.

use crate::support::{cache, server};
use signalbox_contracts::cache_store::isolation::{Coarse, Reader, Unfiltered, crossings};
use signalbox_redis::VectorSearch;
use std::sync::Arc;

const LOOKUPS: u64 = 100_000;

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_thousand_lookups_none_is_answered_from_another_partition() {
    let server = server(VectorSearch::Module).await;
    let seen = crossings(Arc::new(cache(&server)), LOOKUPS, Reader::Trusting, 1).await;
    assert!(seen.lookups >= LOOKUPS && seen.answers > LOOKUPS / 5 && seen.crossed == 0, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_are_those_by_vector_sets_and_by_brute_force() {
    for way in [VectorSearch::Sets, VectorSearch::BruteForce] {
        let server = server(way).await;
        let seen = crossings(Arc::new(cache(&server)), LOOKUPS / 10, Reader::Trusting, 2).await;
        assert!(seen.answers > LOOKUPS / 50 && seen.crossed == 0, "{way:?} {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_looks_again_is_safe_even_from_a_hash_of_two_bits() {
    let server = server(VectorSearch::Module).await;
    let seen = crossings(Arc::new(Coarse(cache(&server))), LOOKUPS / 5, Reader::Checking, 3).await;
    assert!(seen.answers > LOOKUPS / 500 && seen.crossed == 0, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_its_filter_is_found_out_and_so_is_who_does_not_look_again() {
    let servers = [server(VectorSearch::Module).await, server(VectorSearch::Module).await];
    let store = Arc::new(Unfiltered::new(cache(&servers[0])));
    let seen = crossings(store, 2_000, Reader::Trusting, 4).await;
    assert!(seen.crossed > seen.answers / 4, "{seen:?}");
    let seen = crossings(Arc::new(Coarse(cache(&servers[1]))), 2_000, Reader::Trusting, 5).await;
    assert!(seen.crossed > seen.answers / 4, "{seen:?}");
}
