//! What this process has seen of each model lately: breakers, latencies, load, and the budget of retries.

use crate::metrics;
use signalbox_quality::Verdicts;
use signalbox_resilience::{
    Breaker, BreakerRules, BreakerState, Outcome, PeakEwma, Permit, RetryBudget, RetryRules, SlidingSketch,
    Window,
};
use signalbox_routing as routing;
use signalbox_types::ModelRef;
use std::{
    collections::HashMap,
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
    calls: Window,
    /// Time of whole answers, per token of the answer.
    per_token: SlidingSketch,
    first_token: SlidingSketch,
    load: PeakEwma,
}

impl Default for SharedHealth {
    fn default() -> Self {
        Self(Arc::new(Inner {
            models: RwLock::default(),
            retries: Mutex::new(RetryBudget::new(RetryRules::default(), now())),
            verdicts: Mutex::default(),
        }))
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
        let Some(model) = self.known(model) else { return };
        candidate.load.in_flight = model.in_flight.load(Ordering::Relaxed);
        let now = now();
        let seen = lock(&model.seen);
        let counts = seen.calls.counts(Window::MINUTE, now);
        let failed = counts.failures.saturating_add(counts.timeouts).min(counts.calls);
        candidate.health = routing::Tally { good: to_f64(counts.calls - failed), all: to_f64(counts.calls) };
        candidate.load.peak = Some(seen.load.value(now));
        let (answers, firsts) = (seen.per_token.sketch(now), seen.first_token.sketch(now));
        if let Some(quantiles) = answers.quantiles() {
            let between_tokens = quantiles.p50;
            let first_token = firsts.quantile(0.5).unwrap_or(Duration::ZERO);
            candidate.latency.observed = routing::Observed {
                p50: quantiles.p50,
                p95: quantiles.p95,
                p99: quantiles.p99,
                pace: routing::Pace { first_token, between_tokens },
                samples: to_f64(answers.count()),
                first_token_p99: firsts.quantile(0.99).unwrap_or(Duration::ZERO),
                streams: to_f64(firsts.count()),
            };
        }
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
        models.entry(model.clone()).or_insert_with(|| Arc::new(Model::new(model.clone(), now()))).clone()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of minutes are far below 2^52")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

impl Model {
    fn new(name: ModelRef, now: Instant) -> Self {
        let seen = Seen {
            breaker: Breaker::new(BreakerRules::default(), now),
            calls: Window::new(now),
            per_token: SlidingSketch::new(now),
            first_token: SlidingSketch::new(now),
            load: PeakEwma::new(PRIOR_PER_TOKEN, now),
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
    pub(crate) first_token: Option<Duration>,
    pub(crate) answer_tokens: u64,
}

impl Passage {
    fn new(model: Arc<Model>, permit: Option<Permit>) -> Self {
        model.in_flight.fetch_add(1, Ordering::Relaxed);
        Self { model, permit }
    }

    /// The call was answered.
    pub(crate) fn answered(mut self, took: Took) {
        let now = now();
        self.record(Outcome::Success, now);
        let tokens = u32::try_from(took.answer_tokens).unwrap_or(u32::MAX).max(1);
        let per_token = took.whole / tokens;
        let mut seen = lock(&self.model.seen);
        seen.per_token.record(per_token, now);
        seen.load.observe(per_token, now);
        if let Some(first_token) = took.first_token {
            seen.first_token.record(first_token, now);
        }
    }

    /// The call failed.
    pub(crate) fn failed(mut self, outcome: Outcome) {
        self.record(outcome, now());
    }

    fn record(&mut self, outcome: Outcome, now: Instant) {
        let Some(permit) = self.permit.take() else { return };
        let mut seen = lock(&self.model.seen);
        seen.calls.record(outcome, now);
        let before = seen.breaker.state(now);
        seen.breaker.record(permit, outcome, now, rand::random());
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
