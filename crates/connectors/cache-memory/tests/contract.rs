//! The contract of every cache store, and that no answer crosses partitions.

use signalbox_cache_memory::MemoryCache;
use signalbox_contracts::cache_store::{
    Fresh,
    isolation::{Coarse, Reader, Unfiltered, crossings},
};
use signalbox_kit::{Clock, SystemClock};
use signalbox_ports::cache::{CacheStore as _, Digest, Scope};
use std::sync::Arc;

const BYTES: usize = 64 << 20;
const LOOKUPS: u64 = 100_000;

async fn fresh(clock: Arc<dyn Clock>) -> Fresh {
    Fresh { store: Arc::new(MemoryCache::new(BYTES, clock)), obeys_clock: true, keep: Box::new(()) }
}

signalbox_contracts::cache_store_tests!(fresh);

fn cache() -> MemoryCache {
    MemoryCache::new(BYTES, Arc::new(SystemClock))
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_thousand_lookups_none_is_answered_from_another_partition() {
    let seen = crossings(Arc::new(cache()), LOOKUPS, Reader::Trusting, 1).await;
    assert!(seen.lookups >= LOOKUPS && seen.answers > LOOKUPS / 5 && seen.crossed == 0, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_looks_again_is_safe_even_from_a_hash_of_two_bits() {
    let seen = crossings(Arc::new(Coarse(cache())), LOOKUPS, Reader::Checking, 2).await;
    assert!(seen.lookups >= LOOKUPS && seen.answers > LOOKUPS / 100 && seen.crossed == 0, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_without_its_filter_is_found_out() {
    let seen = crossings(Arc::new(Unfiltered::new(cache())), 5_000, Reader::Trusting, 3).await;
    assert!(seen.crossed > seen.answers / 4, "{seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_look_again_is_found_out() {
    let seen = crossings(Arc::new(Coarse(cache())), 5_000, Reader::Trusting, 4).await;
    assert!(seen.crossed > seen.answers / 4, "{seen:?}");
}

#[tokio::test]
async fn invalidations_without_end_take_no_memory_without_end_and_are_never_taken_back() {
    let cache = MemoryCache::new(1 << 20, Arc::new(SystemClock));
    let (tenant, first) = (Digest([1; 16]), Scope::Reference(Digest([2; 16])));
    let raised = cache.raise(tenant, first).await.unwrap();
    let mut last = raised;
    for number in 0..20_000_u128 {
        cache.raise(tenant, Scope::Reference(Digest(number.to_be_bytes()))).await.unwrap();
        let now = cache.epochs(tenant, &[first]).await.unwrap()[0].1;
        assert!(now >= last);
        last = now;
    }
    assert!(last > raised && cache.bytes() < 1 << 20, "{last} {}", cache.bytes());
}
