//! What storing accounts costs with all views attached, and what a monthly question over ten million of them takes.
//!
//! `cargo bench --package signalbox-clickhouse`; `BENCH_EVENTS` and `BENCH_ROWS` set how many are stored through the
//! store and in bulk. Both the engine (see `tools/clickhouse/serve.py`) and this program run on this machine.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark's output is its report")]

use futures_util::future::join_all;
use signalbox_api::v1::{UsageDimension, UsageEvent, UsageFilter, query_usage_request::Interval};
use signalbox_clickhouse::{ClickHouseStore, Options};
use signalbox_contracts::events;
use signalbox_kit::clock::SystemClock;
use signalbox_ports::usage_store::{Batch, Query, UsageStore, Window};
use signalbox_testkit::ClickHouseEngine;
use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant, UNIX_EPOCH},
};

/// Clock ticks of `/proc` in a second, on every Linux that Rust runs on.
const TICKS: f64 = 100.0;

/// Accounts of three years: 20 tenants, 4 scenes of 2 tasks each, 2 models for each task, 3 locales.
const BULK: &str = "INSERT INTO usage_events (
    event_id, counted_at, batch, tenant_id, key_id, scene, task_type, locale, reference, lane, operation, vendor, model,
    outcome, error_reason, cache_outcome, simulated, ended_at, latency_us, first_token_us, attempts_made, fallback,
    cache_hit, input_tokens, output_tokens, certainty, cost, cost_unknown)
WITH
    cityHash64(number) AS h, fromUnixTimestamp64Micro(1704067200000000 + toInt64(number) * {step:Int64}, 'UTC') AS at,
    toString(h % 20) AS tenant, intDiv(h, 20) % 4 AS scene, (scene + intDiv(h, 80) % 2) % 5 AS task,
    (task + intDiv(h, 160) % 2) % 6 AS model, intDiv(h, 1000) % 50 = 0 AS bad, intDiv(h, 50000) % 7 = 0 AS hit
SELECT
    toString(number), at, 'bulk', concat('tenant-', tenant), concat('key-', tenant), concat('scene-', toString(scene)),
    concat('task-', toString(task)), ['it-IT', 'pl-PL', 'uk-UA'][1 + intDiv(h, 320) % 3],
    concat('article-', toString(h % 100000)), 'LANE_INTERACTIVE', 'OPERATION_STREAM_GENERATE',
    ['openai', 'anthropic', 'gemini'][1 + model % 3], concat('model-', toString(model)),
    if(bad, 'OUTCOME_FAILED', 'OUTCOME_SUCCEEDED'), if(bad, 'VENDOR_TIMEOUT', ''),
    if(hit, 'OUTCOME_EXACT_HIT', 'OUTCOME_MISS'), false, at, toUInt64(exp(8 + (h % 8000) / 1000)),
    toUInt64(exp(7 + (h % 7000) / 1000)), 1, false, hit, h % 4000, h % 900, 1, (h % 1000) / 1000000, false
FROM numbers({rows:UInt64})";

#[tokio::main]
async fn main() {
    let engine = ClickHouseEngine::start().await;
    let store = Arc::new(ClickHouseStore::new(options(&engine), Arc::new(SystemClock)).unwrap());
    store.migrate().await.unwrap();
    ingest(&engine, &store).await;
    ask(&engine, &store).await;
}

fn options(engine: &ClickHouseEngine) -> Options {
    Options {
        user: ClickHouseEngine::USER.to_owned(),
        password: ClickHouseEngine::PASSWORD.to_owned(),
        ..Options::new(engine.url(), "usage")
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Events through the store.
async fn ingest(engine: &ClickHouseEngine, store: &Arc<ClickHouseStore>) {
    println!("| batch | at once | events/s | store µs CPU/event | engine µs CPU/event |");
    println!("| --- | --- | --- | --- | --- |");
    let count = setting("BENCH_EVENTS", 200_000);
    for (seed, (size, writers)) in
        [(1000, 1), (5000, 1), (5000, 2), (20_000, 1), (20_000, 2)].into_iter().enumerate()
    {
        let events: Vec<UsageEvent> = events(seed as u64 + 1, count).collect();
        let batches: Vec<Batch> = events.chunks(size).map(|events| batch(seed, events)).collect();
        drop(events);
        let before = (cpu(None), cpu(engine.pid()));
        let began = Instant::now();
        join_all(
            (0..writers).map(|writer| write(store.clone(), batches.iter().skip(writer).step_by(writers))),
        )
        .await;
        let took = began.elapsed().as_secs_f64();
        let (own, its) = (cpu(None) - before.0, cpu(engine.pid()) - before.1);
        let each = |seconds: f64| seconds * 1e6 / count as f64;
        println!("| {size} | {writers} | {:.0} | {:.1} | {:.1} |", count as f64 / took, each(own), each(its));
    }
}

fn batch(seed: usize, events: &[UsageEvent]) -> Batch {
    let token = format!("{seed}-{}", events.first().map_or("", |event| event.event_id.as_str()));
    Batch { token, events: events.to_vec(), suspects: Vec::new() }
}

async fn write(store: Arc<ClickHouseStore>, batches: impl Iterator<Item = &Batch>) {
    for batch in batches {
        store.insert(batch).await.unwrap();
    }
}

/// Monthly sums by tenant over three years, of which the bulk is spread.
async fn ask(engine: &ClickHouseEngine, store: &ClickHouseStore) {
    let rows = setting("BENCH_ROWS", 10_000_000);
    let span = 3 * 365 * 86_400_u64;
    let client = clickhouse::Client::default().with_url(engine.url()).with_database("usage");
    let client = client.with_user(ClickHouseEngine::USER).with_password(ClickHouseEngine::PASSWORD);
    let began = Instant::now();
    let bulk = client.query(BULK).param("step", span * 1_000_000 / rows).param("rows", rows);
    // Blocks small enough that the views' sums of one stay in memory.
    let bulk = bulk.with_setting("max_threads", "1").with_setting("min_insert_block_size_rows", "65536");
    bulk.execute().await.unwrap();
    println!("\n{rows} events in bulk: {:.1} s\n", began.elapsed().as_secs_f64());
    println!("| question | rows | read | best ms | median ms |\n| --- | --- | --- | --- | --- |");
    let start = UNIX_EPOCH + Duration::from_secs(1_704_067_200);
    let years = Window { start, end: start + Duration::from_secs(span) };
    let ragged = Window { start: start + Duration::from_secs(12_345), end: years.end };
    for (name, window, group_by, interval) in [
        ("month × tenant", years, vec![UsageDimension::Tenant], Interval::Month),
        ("month × tenant, ragged start", ragged, vec![UsageDimension::Tenant], Interval::Month),
        ("month × tenant × scene × model", years, by_model(), Interval::Month),
        ("day × tenant", years, vec![UsageDimension::Tenant], Interval::Day),
        ("reference, from accounts", years, vec![UsageDimension::Reference], Interval::Unspecified),
    ] {
        let query =
            Query { window, filter: UsageFilter::default(), group_by, interval, limit: 10_000, offset: 0 };
        measure(store, name, &query).await;
    }
}

fn by_model() -> Vec<UsageDimension> {
    vec![UsageDimension::Tenant, UsageDimension::Scene, UsageDimension::Model]
}

async fn measure(store: &ClickHouseStore, name: &str, query: &Query) {
    let mut times = Vec::new();
    let (mut rows, mut read) = (0, 0);
    for _ in 0..7 {
        let began = Instant::now();
        let page = store.query(query).await.unwrap();
        times.push(began.elapsed().as_secs_f64() * 1e3);
        (rows, read) = (page.rows.len(), page.rows_read);
    }
    times.sort_by(f64::total_cmp);
    println!("| {name} | {rows} | {read} | {:.0} | {:.0} |", times[0], times[3]);
}

/// Seconds of processor time that a process has used, this one for none.
fn cpu(pid: Option<u32>) -> f64 {
    let pid = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11..13].iter().map(|field| field.parse::<f64>().unwrap()).sum();
    ticks / TICKS
}
