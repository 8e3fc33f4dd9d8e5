//! How each model does: what this process sees itself (breakers, load, verdicts, the budget of retries), which counts at
//! once, and what the whole fleet reports.

use crate::{fleet::Fleet, metrics};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use signalbox_api::v1;
use signalbox_quality::Verdicts;
use signalbox_resilience::{
    Breaker, BreakerRules, BreakerState, Outcome, PeakEwma, Permit, RetryBudget, RetryRules,
};
use signalbox_routing as routing;
use signalbox_types::ModelRef;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

/// What a model that was never called is taken to need for a token.
const PRIOR_PER_TOKEN: Duration = Duration::from_millis(20);
/// Quality of a model whose answers were never judged.
const PRIOR_QUALITY: f64 = 0.9;

/// What all requests of this process have seen. Clones share it.
///
/// A model is named as the catalogue lists it, so that callers cannot make it grow by inventing names.
#[derive(Debug, Clone)]
pub struct SharedHealth(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    models: RwLock<HashMap<ModelRef, Arc<Model>>>,
    retries: Mutex<RetryBudget>,
    verdicts: Mutex<Verdicts>,
    fleet: Fleet,
    seed: u64,
}

#[derive(Debug)]
struct Model {
    name: ModelRef,
    seen: Mutex<Seen>,
    in_flight: AtomicU32,
}

#[derive(Debug)]
struct Seen {
    breaker: Breaker,
    load: PeakEwma,
    /// For the jitter of the breaker.
    random: StdRng,
}

impl Default for SharedHealth {
    fn default() -> Self {
        Self::seeded(rand::random())
    }
}

/// Tokio's time, which tests can move.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedHealth {
    /// Nothing seen yet; the seed decides whatever is left to chance.
    pub fn seeded(seed: u64) -> Self {
        Self(Arc::new(Inner {
            models: RwLock::default(),
            retries: Mutex::new(RetryBudget::new(RetryRules::default(), now())),
            verdicts: Mutex::default(),
            fleet: Fleet::default(),
            seed,
        }))
    }

    /// Takes in what an adapter reports of a model. What cannot be meant is refused, and counted.
    pub fn absorb(&self, report: &v1::WatchHealthResponse) {
        let outcome = self.0.fleet.absorb(report, now());
        metrics::health_report(outcome.is_ok());
        if let Err(error) = outcome {
            tracing::debug!(%error, "a health report was refused");
        }
    }

    /// Whether calls to a model are let through.
    pub(crate) fn breaker(&self, model: &ModelRef) -> routing::Breaker {
        let Some(model) = self.known(model) else { return routing::Breaker::Closed };
        match lock(&model.seen).breaker.state(now()) {
            BreakerState::Closed => routing::Breaker::Closed,
            BreakerState::Open { left } => routing::Breaker::Open(left),
            BreakerState::HalfOpen { probing } => routing::Breaker::HalfOpen(if probing { 0.0 } else { 1.0 }),
            BreakerState::Ramp { share } => routing::Breaker::HalfOpen(share),
        }
    }

    /// Adds to a candidate how its model has done lately; for plans that score.
    pub(crate) fn describe(&self, model: &ModelRef, task: &str, candidate: &mut routing::Candidate<'_>) {
        let passes = lock(&self.0.verdicts).get(model, task).map(|rate| (rate.mean(), rate.seen()));
        if let Some((mean, seen)) = passes {
            candidate.quality.passed = routing::Tally { good: mean * seen, all: seen };
        }
        let now = now();
        self.0.fleet.describe(model, candidate, now);
        let Some(model) = self.known(model) else { return };
        candidate.load.in_flight = model.in_flight.load(Ordering::Relaxed);
        let seen = candidate.latency.observed;
        let usual = if seen.samples > 0.0 { seen.p50 } else { PRIOR_PER_TOKEN };
        candidate.load.peak = Some(lock(&model.seen).load.value_towards(usual, now));
    }

    /// Starts a call to a model. `None` when its breaker lets no call through now.
    pub(crate) fn enter(&self, model: &ModelRef) -> Option<Passage> {
        let health = self.known_or_new(model);
        // The plan has drawn the lot of a recovering model already.
        let permit = lock(&health.seen).breaker.admit(now(), 0.0)?;
        Some(Passage::new(health, Some(permit)))
    }

    /// Starts a call past the breaker, because no other model is left. Its end is not held against the model.
    pub(crate) fn enter_anyway(&self, model: &ModelRef) -> Passage {
        Passage::new(self.known_or_new(model), None)
    }

    /// A request came in: it pays into the budget of retries.
    pub(crate) fn on_request(&self) {
        lock(&self.0.retries).on_request(now());
    }

    /// Whether one more retry is within the budget.
    pub(crate) fn may_retry(&self) -> bool {
        lock(&self.0.retries).try_spend(now())
    }

    /// Remembers whether an answer had the form that was asked for.
    pub(crate) fn judged(&self, model: &ModelRef, task: &str, passed: bool) {
        lock(&self.0.verdicts).record(model, task, PRIOR_QUALITY, passed);
    }

    fn known(&self, model: &ModelRef) -> Option<Arc<Model>> {
        self.0.models.read().unwrap_or_else(PoisonError::into_inner).get(model).cloned()
    }

    fn known_or_new(&self, model: &ModelRef) -> Arc<Model> {
        if let Some(known) = self.known(model) {
            return known;
        }
        let mut models = self.0.models.write().unwrap_or_else(PoisonError::into_inner);
        models
            .entry(model.clone())
            .or_insert_with(|| Arc::new(Model::new(model.clone(), self.0.seed, now())))
            .clone()
    }
}

impl Model {
    fn new(name: ModelRef, seed: u64, now: Instant) -> Self {
        // Each has its own chance, whoever is called first.
        let mut own = DefaultHasher::new();
        name.hash(&mut own);
        let seen = Seen {
            breaker: Breaker::new(BreakerRules::default(), now),
            load: PeakEwma::new(PRIOR_PER_TOKEN, now),
            random: StdRng::seed_from_u64(seed ^ own.finish()),
        };
        Self { name, seen: Mutex::new(seen), in_flight: AtomicU32::new(0) }
    }
}

/// A call under way. Dropped without an end, it tells nothing of the model.
#[derive(Debug)]
pub(crate) struct Passage {
    model: Arc<Model>,
    permit: Option<Permit>,
}

/// How long an answer took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) whole: Duration,
    pub(crate) answer_tokens: u64,
    /// It trickled, which is a failure of the vendor's.
    pub(crate) slow: bool,
}

impl Passage {
    fn new(model: Arc<Model>, permit: Option<Permit>) -> Self {
        model.in_flight.fetch_add(1, Ordering::Relaxed);
        Self { model, permit }
    }

    /// The call was answered.
    pub(crate) fn answered(mut self, took: Took) {
        let now = now();
        self.record(if took.slow { Outcome::Failure } else { Outcome::Success }, now);
        let tokens = u32::try_from(took.answer_tokens).unwrap_or(u32::MAX).max(1);
        let per_token = took.whole / tokens;
        lock(&self.model.seen).load.observe(per_token, now);
    }

    /// The call failed.
    pub(crate) fn failed(mut self, outcome: Outcome) {
        self.record(outcome, now());
    }

    fn record(&mut self, outcome: Outcome, now: Instant) {
        let Some(permit) = self.permit.take() else { return };
        let mut seen = lock(&self.model.seen);
        let before = seen.breaker.state(now);
        let jitter = seen.random.random();
        seen.breaker.record(permit, outcome, now, jitter);
        let after = seen.breaker.state(now);
        drop(seen);
        metrics::breaker_moved(&self.model.name, before, after);
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        self.model.in_flight.fetch_sub(1, Ordering::Relaxed);
        if self.permit.is_some() {
            self.record(Outcome::Neutral, now());
        }
    }
}
