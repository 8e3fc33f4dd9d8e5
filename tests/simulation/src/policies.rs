//! Who serves the requests: Signalbox, or one of the simple ways it is compared with.

use crate::{
    oracle,
    record::{Ask, Outcome, Served},
    world::{Call, Reply, World},
};
use async_trait::async_trait;
use signalbox_resilience::{RetryBudget, RetryRules};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout};

/// Time that a request has.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);
/// As in Signalbox's defaults: the wait before a quick retry, and how many vendors a request may meet.
const RETRY_AFTER: Duration = Duration::from_millis(100);
const MOST_VENDORS: usize = 3;
/// Answers by which the fastest vendor is known.
const REMEMBERED: usize = 64;

/// A way to serve requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Signalbox as configured.
    Signalbox,
    /// Signalbox with `preset: cheap`.
    Cheap,
    /// Signalbox with `greed: best`: the best score always goes first.
    BestScore,
    /// Each vendor in turn.
    RoundRobin,
    /// The cheapest vendor first.
    CheapestFirst,
    /// The vendor whose last answers were fastest first.
    FastestFirst,
    /// The cheapest vendor of those that will serve at once: by one who knows. What can be had at best.
    Oracle,
}

impl Policy {
    /// Every policy.
    pub const ALL: [Self; 7] = [
        Self::Signalbox,
        Self::Cheap,
        Self::BestScore,
        Self::RoundRobin,
        Self::CheapestFirst,
        Self::FastestFirst,
        Self::Oracle,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signalbox => "Signalbox",
            Self::Cheap => "Signalbox, `preset: cheap`",
            Self::BestScore => "Signalbox, `greed: best`",
            Self::RoundRobin => "round robin",
            Self::CheapestFirst => "cheapest first",
            Self::FastestFirst => "fastest first",
            Self::Oracle => "oracle",
        }
    }
}

/// Serves requests.
#[async_trait]
pub(crate) trait Client: Send + Sync {
    /// Serves one request.
    async fn ask(&self, ask: Ask) -> Outcome;

    /// The probability that each vendor is drawn now, where there is such a thing.
    async fn targets(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Prices have changed.
    async fn prices_changed(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Puts the vendors in some order and tries them, with the retries and switches that Signalbox allows itself; without
/// breakers, waiting times and health.
#[derive(Debug)]
pub(crate) struct Simple {
    world: Arc<World>,
    policy: Policy,
    retries: Mutex<RetryBudget>,
    /// For each vendor the time per token of its last answers.
    seen: Mutex<Vec<VecDeque<Duration>>>,
}

impl Simple {
    pub(crate) fn new(world: Arc<World>, policy: Policy) -> Self {
        let seen = vec![VecDeque::new(); world.scenario.vendors.len()];
        let retries = RetryBudget::new(RetryRules::default(), Instant::now().into_std());
        Self { world, policy, retries: Mutex::new(retries), seen: Mutex::new(seen) }
    }

    fn order(&self, ask: Ask) -> Vec<usize> {
        let vendors = self.world.scenario.vendors.len();
        let mut order: Vec<usize> = (0..vendors).collect();
        match self.policy {
            Policy::CheapestFirst => {
                order.sort_by_key(|vendor| self.world.scenario.cost(*vendor, ask.number, ask.at));
            }
            Policy::FastestFirst => {
                let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                order.sort_by_key(|vendor| seen.get(*vendor).map(mean));
            }
            Policy::Oracle => oracle::order(&self.world, ask, &mut order),
            _ => order.rotate_left(ask.number as usize % vendors),
        }
        order.truncate(MOST_VENDORS);
        order
    }

    async fn serve(&self, ask: Ask) -> Result<Served, ErrorReason> {
        let mut end = Err(ErrorReason::NoCapableModel);
        for vendor in self.order(ask) {
            end = self.attempt(vendor, ask).await;
            match &end {
                Err(failure) if failure.fail_over() => {}
                _ => break,
            }
        }
        end
    }

    /// One vendor's chance: a call, and a quick retry where that may help.
    async fn attempt(&self, vendor: usize, ask: Ask) -> Result<Served, ErrorReason> {
        let call = Call { vendor, request: ask.number, caller: 0, timeout: None };
        let mut end = self.world.call(call).await;
        if end.as_ref().is_err_and(|failure| failure.reason.retry_same_vendor()) && self.may_retry() {
            sleep(RETRY_AFTER).await;
            end = self.world.call(call).await;
        }
        self.remember(vendor, &end);
        end.map(|reply| Served { vendor, nano_eur: reply.nano_eur }).map_err(|failure| failure.reason)
    }

    fn may_retry(&self) -> bool {
        let mut retries = self.retries.lock().unwrap_or_else(PoisonError::into_inner);
        retries.try_spend(Instant::now().into_std())
    }

    /// A vendor that failed was not fast: it counts as a second for each token.
    fn remember(&self, vendor: usize, end: &Result<Reply, Failure>) {
        let per_token =
            end.as_ref().map_or(Duration::from_secs(1), |reply| reply.took.div_f64(reply.tokens as f64));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = seen.get_mut(vendor) {
            seen.push_back(per_token);
            if seen.len() > REMEMBERED {
                seen.pop_front();
            }
        }
    }
}

/// None for a vendor that was never called, so that it is tried.
fn mean(times: &VecDeque<Duration>) -> Option<Duration> {
    times.iter().sum::<Duration>().checked_div(times.len() as u32)
}

#[async_trait]
impl Client for Simple {
    async fn ask(&self, ask: Ask) -> Outcome {
        let started = Instant::now();
        self.retries.lock().unwrap_or_else(PoisonError::into_inner).on_request(started.into_std());
        let result = timeout(DEADLINE, self.serve(ask)).await.unwrap_or(Err(ErrorReason::DeadlineExceeded));
        Outcome { ask, latency: started.elapsed(), result }
    }
}
