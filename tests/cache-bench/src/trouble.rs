//! What requests notice while the store, or the embedder, does not do its part.

use crate::{
    ask::{ask, by_meaning, exact, past_the_cache},
    field,
    load::{Seen, fresh, load},
    spread::{ms, ms_more},
};
use serde_json::json;
use signalbox_api::v1::{GenerateRequest, cache_effect::Outcome};
use signalbox_testkit::{Client, Proxy, RedisServer, Vendorsim};
use std::{
    error::Error,
    fmt::Write as _,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// Late, and still within the time of an exact lookup.
const LATE: Duration = Duration::from_millis(3);
/// Far too late.
const SLOW: Duration = Duration::from_millis(50);
/// How late the slow embedder's vectors come.
const SLOW_EMBEDDER: Duration = Duration::from_millis(200);
/// How long it may take to be used again.
const BACK_WITHIN: Duration = Duration::from_secs(60);

const HEAD: &str = "| lookup | state | requests | failed | unanswered lookups | p50 ms | p99 ms | longest ms | p99 added ms | used again after s |\n\
                    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";

/// A kind of request, by number.
type Kind = fn(u64) -> GenerateRequest;

fn new_exact(number: u64) -> GenerateRequest {
    exact(&format!("Write a headline about article number {number}."))
}

fn new_by_meaning(number: u64) -> GenerateRequest {
    by_meaning(&format!("Say whether article number {number} is about sport."))
}

/// Each state of the store, under the same load.
pub(crate) async fn table(seconds: u64, rate: u64) -> Result<String, Box<dyn Error>> {
    let lasts = Duration::from_secs(seconds);
    let mut table = HEAD.to_owned();
    let vendors = Vendorsim::serve(Duration::ZERO).await;
    let folder = tempfile::tempdir()?;
    for (name, kind) in [("exact", new_exact as Kind), ("by meaning", new_by_meaning)] {
        let mut redis = RedisServer::start().await;
        let way = Proxy::to(redis.port()).await;
        let signalbox =
            field::serve(&folder, "", &field::config(&vendors, field::in_redis(way.port()))).await?;
        let client = signalbox.client();
        let mut run =
            Run { table: &mut table, name, kind, client: &client, lasts, rate, past: Seen::default() };
        run.warm().await?;
        run.past_the_cache().await;
        run.state("healthy").await;
        way.delay(LATE);
        run.state("replies 3 ms late").await;
        way.delay(SLOW);
        run.state("replies 50 ms late").await;
        way.delay(Duration::ZERO);
        run.back().await?;
        redis.freeze();
        run.state("frozen").await;
        redis.thaw();
        run.back().await?;
        redis.kill().await;
        run.state("killed").await;
        redis.restart().await;
        run.back().await?;
        run.state("healthy again").await;
    }
    slow_embedder(&mut table, &vendors, lasts, rate).await?;
    Ok(table)
}

/// Another vendor makes vectors, and takes its time.
async fn slow_embedder(
    table: &mut String,
    vendors: &Vendorsim,
    lasts: Duration,
    rate: u64,
) -> Result<(), Box<dyn Error>> {
    let (slow, folder) = (Vendorsim::serve(SLOW_EMBEDDER).await, tempfile::tempdir()?);
    let embedding = json!({
        "vendors": {"slow": {
            "kind": "openai-compatible",
            "base_url": format!("http://{}/openai", slow.address()),
            "api_key": {"env": "OPENAI_API_KEY"},
        }},
        "models": {"slow/text-embedding-3-small": {"capabilities": ["embeddings"], "context_window": 8192}},
        "cache": {"embedder": "slow/text-embedding-3-small"},
    });
    let signalbox = field::serve(&folder, "", &field::config(vendors, embedding)).await?;
    let client = signalbox.client();
    let (name, past) = ("by meaning", Seen::default());
    let mut run = Run { table, name, kind: new_by_meaning, client: &client, lasts, rate, past };
    run.warm().await?;
    run.past_the_cache().await;
    run.state("vectors 200 ms late").await;
    Ok(())
}

/// One process in one state after the other.
struct Run<'a> {
    table: &'a mut String,
    name: &'static str,
    kind: Kind,
    client: &'a Client,
    lasts: Duration,
    rate: u64,
    /// What requests took that had nothing to do with the cache.
    past: Seen,
}

impl Run<'_> {
    /// Connections are made, and code is paged in.
    async fn warm(&self) -> Result<(), Box<dyn Error>> {
        load(self.client, Duration::from_secs(2), self.rate, self.kind).await;
        self.used_again().await.map(drop)
    }

    async fn past_the_cache(&mut self) {
        let kind = self.kind;
        self.past = load(self.client, self.lasts, self.rate, |number| past_the_cache(kind(number))).await;
        let Seen { requests, failed, times, .. } = &self.past;
        let (p50, p99, longest) = (ms(times.median()), ms(times.p99()), ms(times.longest()));
        let _ = writeln!(
            self.table,
            "| {} | past the cache | {requests} | {failed} | | {p50} | {p99} | {longest} | | |",
            self.name
        );
    }

    /// What requests took in a state.
    async fn state(&mut self, state: &str) {
        let seen = load(self.client, self.lasts, self.rate, self.kind).await;
        let times = &seen.times;
        let _ = writeln!(
            self.table,
            "| {} | {state} | {} | {} | {} | {} | {} | {} | {} | |",
            self.name,
            seen.requests,
            seen.failed,
            seen.silent,
            ms(times.median()),
            ms(times.p99()),
            ms(times.longest()),
            ms_more(times.p99(), self.past.times.p99()),
        );
    }

    /// Waits until the store is used again, which goes into the row of the state before.
    async fn back(&mut self) -> Result<(), Box<dyn Error>> {
        let after = self.used_again().await?;
        if self.table.ends_with(" | |\n") {
            self.table.truncate(self.table.len() - "|\n".len());
            let _ = writeln!(self.table, "{:.1} |", after.as_secs_f64());
        }
        Ok(())
    }

    /// How long it takes until an answer is given again.
    async fn used_again(&self) -> Result<Duration, Box<dyn Error>> {
        let began = Instant::now();
        let asked = (self.kind)(fresh());
        while began.elapsed() < BACK_WITHIN {
            let seen = ask(self.client.clone(), asked.clone()).await;
            if seen.met().0 == Outcome::ExactHit {
                return Ok(began.elapsed());
            }
            sleep(Duration::from_millis(10)).await;
        }
        Err("the store was not used again".into())
    }
}
