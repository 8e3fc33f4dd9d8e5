//! What cached answers in Redis take: `cargo bench -p signalbox-redis --bench cache`, with a server of its own beside it.
//! The aim is less than 5 ms for the nearest in an index of a million, at the 99th percentile.
//!
//! `CACHE_ENTRIES` and `CACHE_DIMENSIONS` make it smaller or larger; a million of 64 dimensions take some 2 GiB.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the figures are the output; a failure ends the measurement"
)]

use signalbox_ports::cache::{CacheStore as _, Digest, Entry, Partition, Scope};
use signalbox_redis::{Purpose, Redis, RedisCache, RedisOptions, VectorSearch};
use signalbox_testkit::RedisServer;
use std::{
    env,
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::task::JoinSet;

const DAY: Duration = Duration::from_secs(86_400);
const EMBEDDER: &str = "bench";
const CALLS: u64 = 2_000;
/// Who stores at once.
const WRITERS: u64 = 64;
/// Places that vectors gather around, as texts of a kind do.
const TOPICS: u64 = 5_000;

/// Of a hundred entries, so many lie in the one large partition; of the others, there are a thousand in each of a few and
/// eight in each of the rest.
const LARGE_SHARE: u64 = 50;
const MIDDLE_SHARE: u64 = 10;

#[tokio::main]
async fn main() {
    let number = |name, default: u64| env::var(name).map_or(default, |value| value.parse().unwrap());
    let (entries, dimensions) = (number("CACHE_ENTRIES", 1_000_000), number("CACHE_DIMENSIONS", 64));
    let plain = RedisServer::start().await;
    exact("a plain server", &cache(&plain)).await;
    drop(plain);
    let server = RedisServer::searching().await;
    let cache = Arc::new(cache(&server));
    assert_eq!(cache.vector_search().await, Ok(VectorSearch::Module));
    fill(&cache, entries, dimensions).await;
    println!("the server takes {:.2} GiB", resident(&server) as f64 / f64::from(1 << 30));
    exact("a server with all of these", &cache).await;
    for (case, share) in [("half of them", 0), ("1,000", LARGE_SHARE), ("8", LARGE_SHARE + MIDDLE_SHARE)] {
        nearest(&format!("nearest 5 in a partition of {case}"), &cache, share, entries, dimensions).await;
    }
}

fn cache(server: &RedisServer) -> RedisCache {
    let patience = Duration::from_secs(60);
    let options = RedisOptions { patience, purpose: Purpose::Cache, ..RedisOptions::new(server.url()) };
    RedisCache::new(Redis::connect(&options).unwrap())
}

async fn exact(case: &str, cache: &RedisCache) {
    let (mut gets, mut puts) = (Vec::new(), Vec::new());
    for key in 0..CALLS {
        let entry = Entry { key: digest(u64::MAX - key, 1), vector: None, ..entry(0, 1) };
        let begin = Instant::now();
        cache.put(&entry, &[digest(u64::MAX - key, 2)], EMBEDDER, DAY).await.unwrap();
        puts.push(begin.elapsed());
        let keys = [entry.key, digest(u64::MAX - key, 2)];
        let begin = Instant::now();
        black_box(cache.get(entry.partition.tenant, &keys).await.unwrap().unwrap());
        gets.push(begin.elapsed());
    }
    report(&format!("put, {case}"), puts);
    report(&format!("get, {case}"), gets);
}

async fn fill(cache: &Arc<RedisCache>, entries: u64, dimensions: u64) {
    let (began, next) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let mut tasks = JoinSet::new();
    for _ in 0..WRITERS {
        let (cache, next) = (cache.clone(), next.clone());
        tasks.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= entries {
                    return;
                }
                cache.put(&entry(number, dimensions), &[], EMBEDDER, DAY).await.unwrap();
                if number % 100_000 == 99_999 {
                    println!("{} stored after {:.0} s", number + 1, began.elapsed().as_secs_f64());
                }
            }
        });
    }
    tasks.join_all().await;
    let took = began.elapsed().as_secs_f64();
    println!("{entries} stored with {dimensions} dimensions each in {took:.0} s");
}

/// Searches partitions that a share begins, for vectors near those that are there. Also how many of the true nearest are
/// found, where a partition is small enough to know them.
async fn nearest(case: &str, cache: &RedisCache, share: u64, entries: u64, dimensions: u64) {
    let (mut times, mut found) = (Vec::new(), 0);
    for call in 0..CALLS {
        let near = (mixed(call) % (entries / 100)) * 100 + share;
        let partition = partition(near);
        let asked = vector(near, dimensions, call + 1);
        let begin = Instant::now();
        let nearest = cache.nearest(&partition, EMBEDDER, &asked, 5).await.unwrap();
        times.push(begin.elapsed());
        assert!(nearest.iter().all(|near| near.entry.partition == partition));
        found += u64::from(nearest.iter().any(|found| found.entry.key == digest(near, 1)));
    }
    report(case, times);
    println!(
        "  the one that was asked for was among them {:.1} % of the time",
        found as f64 / CALLS as f64 * 100.0
    );
}

fn report(case: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let [p50, p99] =
        [0.5, 0.99].map(|share| times[(times.len() as f64 * share) as usize].as_secs_f64() * 1e3);
    println!("{case}: p50 {p50:.3} ms, p99 {p99:.3} ms");
}

fn partition(number: u64) -> Partition {
    let fingerprint = match number % 100 {
        ..LARGE_SHARE => 0,
        share if share < LARGE_SHARE + MIDDLE_SHARE => 1 + number / 100 / (1_000 / MIDDLE_SHARE),
        _ => 1_000_000 + number / 20,
    };
    Partition {
        tenant: digest(1, 3),
        task: digest(1, 4),
        locale: digest(1, 5),
        fingerprint: digest(fingerprint, 6),
    }
}

fn entry(number: u64, dimensions: u64) -> Entry {
    let partition = partition(number);
    Entry {
        key: digest(number, 1),
        partition,
        epochs: vec![(Scope::Tenant, 0), (Scope::Task(partition.task), 0)],
        sealed: vec![7; 200],
        vector: Some(vector(number, dimensions, 0)),
        worth: 1,
    }
}

/// Near the topic of a number, and a little aside from there.
fn vector(number: u64, dimensions: u64, aside: u64) -> Vec<f32> {
    let random = |seed: u64, at: u64| (mixed(seed << 20 ^ at) >> 40) as f32 / 16_777_216.0 - 0.5;
    let topic = mixed(number) % TOPICS;
    let at =
        |at| random(topic + 1, at) + 0.5 * random(number + 7_000_000, at) + 0.05 * random(aside << 30, at);
    (0..dimensions).map(at).collect()
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

/// Bytes of the server that are in memory.
fn resident(server: &RedisServer) -> u64 {
    let pages = std::fs::read_to_string(format!("/proc/{}/statm", server.pid().unwrap())).unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}
