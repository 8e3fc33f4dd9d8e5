//! What the store in memory takes, in time and in bytes: `cargo bench -p signalbox-cache-memory`. The aim is less than a
//! microsecond for a `get`, and never more bytes than the bound through ten million stores.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the figures are the output; a failure ends the measurement"
)]

use signalbox_cache_memory::MemoryCache;
use signalbox_kit::SystemClock;
use signalbox_ports::cache::{CacheStore as _, Digest, Entry, Partition, Scope};
use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const DAY: Duration = Duration::from_secs(86_400);
const EMBEDDER: &str = "hashed-ngrams-512";
const DIMENSIONS: usize = 512;
const BOUND: usize = 256 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    stores(10_000_000).await;
    gets().await;
    for partition in [100, 1_000, 10_000] {
        nearest(partition).await;
    }
}

/// Ten million answers of all sizes into a small store.
async fn stores(number: u64) {
    let cache = MemoryCache::new(BOUND, Arc::new(SystemClock));
    let (before, started, mut most) = (resident(), Instant::now(), 0);
    let mut times = Vec::with_capacity(1 << 20);
    for number in 0..number {
        let entry = entry(number, number % 1000, 200 + (mixed(number) % 3000) as usize, number % 20 == 0);
        let alias = digest(number, 2);
        let begin = Instant::now();
        cache.put(&entry, &[alias], EMBEDDER, DAY).await.unwrap();
        times.push(begin.elapsed().as_nanos());
        if number % 10_000 == 0 {
            most = most.max(cache.bytes());
            assert!(most <= BOUND);
        }
        if times.len() == 1 << 20 {
            times.clear();
        }
    }
    let took = started.elapsed();
    report("put into a full store", times);
    println!(
        "{number} stores in {:.1} s: at most {:.1} of {} MiB by its own count, {:.1} MiB more resident",
        took.as_secs_f64(),
        most as f64 / f64::from(1 << 20),
        BOUND >> 20,
        (resident() - before) as f64 / f64::from(1 << 20),
    );
}

async fn gets() {
    let cache = MemoryCache::new(1 << 30, Arc::new(SystemClock));
    for number in 0..200_000 {
        cache.put(&entry(number, 0, 1500, false), &[digest(number, 2)], EMBEDDER, DAY).await.unwrap();
    }
    let tenant = digest(0, 0);
    for (case, kind, base, of) in [
        ("get, of 1,000 that are asked for often", 1, 0, 1_000),
        ("get, of 200,000", 1, 0, 200_000),
        ("get by an alias, of 200,000", 2, 0, 200_000),
        ("get of what is not there", 1, 1 << 40, 200_000),
    ] {
        let mut times = Vec::new();
        for number in 0..500_000 {
            let keys = [digest(base + mixed(number) % of, kind)];
            let begin = Instant::now();
            let found = black_box(cache.get(tenant, &keys).await.unwrap());
            times.push(begin.elapsed().as_nanos());
            drop(found);
        }
        report(case, times);
    }
}

async fn nearest(partition: u64) {
    let cache = MemoryCache::new(1 << 30, Arc::new(SystemClock));
    for number in 0..partition {
        cache.put(&entry(number, 0, 1500, true), &[], EMBEDDER, DAY).await.unwrap();
    }
    let searched = entry(0, 0, 0, false).partition;
    let mut times = Vec::new();
    for number in 0..500 {
        let vector = vector(number + 1);
        let begin = Instant::now();
        black_box(cache.nearest(&searched, EMBEDDER, &vector, 5).await.unwrap());
        times.push(begin.elapsed().as_nanos());
    }
    report(&format!("nearest 5 of {partition} with {DIMENSIONS} dimensions"), times);
}

fn report(case: &str, mut times: Vec<u128>) {
    times.sort_unstable();
    let [p50, p99] = [0.5, 0.99].map(|share| times[(times.len() as f64 * share) as usize]);
    println!("{case}: p50 {p50} ns, p99 {p99} ns");
}

fn entry(number: u64, fingerprint: u64, bytes: usize, with_vector: bool) -> Entry {
    let partition = Partition {
        tenant: digest(0, 0),
        task: digest(0, 4),
        locale: digest(0, 5),
        fingerprint: digest(fingerprint, 3),
    };
    Entry {
        key: digest(number, 1),
        partition,
        epochs: vec![
            (Scope::Tenant, 0),
            (Scope::Task(partition.task), 0),
            (Scope::Requested(digest(0, 6)), 0),
        ],
        sealed: vec![7; bytes],
        vector: with_vector.then(|| vector(number)),
        worth: 1 + (mixed(number) >> 32) as i64,
    }
}

fn vector(number: u64) -> Vec<f32> {
    (0..DIMENSIONS as u64).map(|at| (mixed(number << 20 | at) >> 40) as f32 - 8_388_608.0).collect()
}

fn digest(number: u64, kind: u64) -> Digest {
    let (high, low) = (mixed(number ^ kind << 60), mixed(number ^ kind << 56));
    Digest((u128::from(high) << 64 | u128::from(low)).to_be_bytes())
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Bytes of this process that are in memory.
fn resident() -> i64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<i64>().unwrap() * 4096
}
