//! The vendors: what a call to one of them gives, and what they saw.

use crate::{
    config::MODEL,
    dice::dice,
    monitor::Monitor,
    scenario::{Condition, Scenario},
};
use rand::RngExt;
use signalbox_api::v1;
use signalbox_types::{ErrorReason, Failure};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// How long it takes to hear of a failure that the vendor tells at once.
const REFUSAL: Duration = Duration::from_millis(40);
/// The adapter gives a vendor up that says nothing for so long.
const FIRST_BYTE: Duration = Duration::from_secs(15);
/// Calls that fail though the vendor is well.
const BAD_LUCK: f64 = 0.001;
/// Calls at once, in knees, from which on they are refused.
const FULL: f64 = 2.0;
/// Length of the window in which a vendor counts calls during a 429 storm.
const LIMIT_WINDOW: Duration = Duration::from_secs(5);

/// The vendors of one run.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) scenario: Arc<Scenario>,
    start: Instant,
    vendors: Vec<Mutex<Seen>>,
}

/// A call to a vendor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) vendor: usize,
    pub(crate) request: u64,
    /// Which of the routers calls; it is the one that hears how long to wait.
    pub(crate) caller: usize,
    /// Time that the caller gives it.
    pub(crate) timeout: Option<Duration>,
}

/// A served call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reply {
    pub(crate) tokens: u64,
    pub(crate) nano_eur: i64,
    pub(crate) took: Duration,
}

/// What a vendor saw in a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Second {
    /// Calls that began.
    pub calls: u64,
    /// Calls that it failed, refused ones not among them.
    pub failures: u64,
    /// Calls that it answered with 429.
    pub limited: u64,
    /// Calls from a router that it had told to wait for longer.
    pub too_early: u64,
}

#[derive(Debug)]
struct Seen {
    monitor: Monitor,
    in_flight: u32,
    seconds: Vec<Second>,
    /// Number of the window, and the calls taken in it.
    window: (u128, f64),
    /// For each router, until when it was told to wait.
    wait_until: Vec<Duration>,
}

/// How a call will go.
struct Fate {
    after: Duration,
    end: Result<(), Failure>,
}

impl World {
    pub(crate) fn new(scenario: Arc<Scenario>) -> Arc<Self> {
        let seconds = scenario.length.as_secs() as usize + 120;
        let start = Instant::now();
        let seen = |_: &_| {
            Mutex::new(Seen {
                monitor: Monitor::new(start.into_std()),
                in_flight: 0,
                seconds: vec![Second::default(); seconds],
                window: (0, 0.0),
                wait_until: vec![Duration::ZERO; scenario.routers],
            })
        };
        let vendors = scenario.vendors.iter().map(seen).collect();
        Arc::new(Self { scenario, start, vendors })
    }

    /// Time since the beginning.
    pub(crate) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// A moment on tokio's clock.
    pub(crate) fn instant(&self, at: Duration) -> Instant {
        self.start + at
    }

    /// Calls a vendor; cancelled when dropped.
    pub(crate) async fn call(self: &Arc<Self>, call: Call) -> Result<Reply, Failure> {
        let started = self.now();
        let fate = self.begin(&call, started);
        let under_way = UnderWay { world: self.clone(), vendor: call.vendor };
        let patience = call.timeout.map_or(FIRST_BYTE, |timeout| timeout.min(FIRST_BYTE));
        tokio::time::sleep(fate.after.min(patience)).await;
        drop(under_way);
        let end = if fate.after > patience { Err(silent()) } else { fate.end };
        let end = end.map(|()| Reply {
            tokens: self.scenario.answer_tokens(call.request),
            nano_eur: self.scenario.cost(call.vendor, call.request, started),
            took: self.now().saturating_sub(started),
        });
        self.note(&call, &end);
        end
    }

    /// What the adapter reports of a vendor now.
    pub(crate) fn report(&self, vendor: usize) -> Option<v1::WatchHealthResponse> {
        let name = self.scenario.vendors.get(vendor)?.name;
        let target = v1::Target { vendor: name.to_owned(), model: MODEL.to_owned() };
        let seen = self.seen(vendor)?;
        Some(seen.monitor.report(target, seen.in_flight, Instant::now().into_std()))
    }

    /// Whether a call now would be served well: by one who knows.
    pub(crate) fn has_room(&self, vendor: usize) -> bool {
        let now = self.now();
        let Condition { down, silent, slowness, capacity, limit, .. } = self.scenario.condition(vendor, now);
        let (Some(seen), Some(facts)) = (self.seen(vendor), self.scenario.vendors.get(vendor)) else {
            return false;
        };
        let taken = limit.is_none_or(|limit| {
            window(now) != seen.window.0 || seen.window.1 < limit * LIMIT_WINDOW.as_secs_f64()
        });
        !down && !silent && slowness <= 1.0 && taken && f64::from(seen.in_flight) < facts.knee * capacity
    }

    /// What every vendor saw.
    pub(crate) fn seconds(&self) -> Vec<Vec<Second>> {
        let whole = self.scenario.length.as_secs() as usize;
        let seen = |vendor| self.seen(vendor).map(|seen| seen.seconds.iter().take(whole).copied().collect());
        (0..self.vendors.len()).filter_map(seen).collect()
    }

    fn seen(&self, vendor: usize) -> Option<MutexGuard<'_, Seen>> {
        self.vendors.get(vendor).map(|seen| seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn begin(&self, call: &Call, now: Duration) -> Fate {
        let Some(mut seen) = self.seen(call.vendor) else { return Fate::failed(ErrorReason::UnknownModel) };
        seen.in_flight += 1;
        let too_early = seen.wait_until.get(call.caller).is_some_and(|until| now < *until);
        if let Some(second) = seen.second(now) {
            second.calls += 1;
            second.too_early += u64::from(too_early);
        }
        let condition = self.scenario.condition(call.vendor, now);
        let limited = condition.limit.is_some_and(|limit| !seen.takes(limit, now));
        self.fate(call, condition, limited, seen.in_flight, now)
    }

    fn fate(&self, call: &Call, condition: Condition, limited: bool, in_flight: u32, now: Duration) -> Fate {
        let knee = self.scenario.vendors.get(call.vendor).map_or(1.0, |vendor| vendor.knee);
        let load = f64::from(in_flight) / (knee * condition.capacity);
        let moment = now.as_millis() as u64;
        let luck = dice(self.scenario.seed, &[3, call.request, call.vendor as u64, moment]).random::<f64>();
        if condition.down {
            Fate::failed(ErrorReason::VendorError)
        } else if condition.silent {
            Fate { after: Duration::MAX, end: Ok(()) }
        } else if limited {
            Fate::limited(now)
        } else if load > FULL {
            Fate::failed(ErrorReason::VendorOverloaded)
        } else if luck < BAD_LUCK {
            Fate::failed(ErrorReason::VendorError)
        } else {
            let own = self.scenario.own_time(call.vendor, call.request);
            Fate { after: own.mul_f64(condition.slowness * load.max(1.0)), end: Ok(()) }
        }
    }

    fn note(&self, call: &Call, end: &Result<Reply, Failure>) {
        let now = Instant::now().into_std();
        let Some(mut seen) = self.seen(call.vendor) else { return };
        match end {
            Ok(reply) => seen.monitor.served(reply, now),
            Err(failure) => {
                seen.monitor.failed(failure, now);
                seen.failed(call.caller, failure, self.now());
            }
        }
    }
}

impl Seen {
    fn second(&mut self, now: Duration) -> Option<&mut Second> {
        self.seconds.get_mut(now.as_secs() as usize)
    }

    fn failed(&mut self, caller: usize, failure: &Failure, now: Duration) {
        let limited = failure.reason == ErrorReason::VendorRateLimited;
        if let Some(second) = self.second(now) {
            second.limited += u64::from(limited);
            second.failures += u64::from(!limited);
        }
        if let (Some(wait), Some(until)) = (failure.retry_after, self.wait_until.get_mut(caller)) {
            *until = (*until).max(now + wait);
        }
    }

    /// Whether a call fits into what the vendor takes in this window.
    fn takes(&mut self, limit: f64, now: Duration) -> bool {
        if self.window.0 != window(now) {
            self.window = (window(now), 0.0);
        }
        self.window.1 += 1.0;
        self.window.1 <= limit * LIMIT_WINDOW.as_secs_f64()
    }
}

/// Number of the window that a moment is in.
fn window(now: Duration) -> u128 {
    now.as_nanos() / LIMIT_WINDOW.as_nanos()
}

impl Fate {
    fn failed(reason: ErrorReason) -> Self {
        Self { after: REFUSAL, end: Err(Failure::new(reason, "the simulated vendor failed")) }
    }

    /// Refused until the next window, in whole seconds as vendors say it.
    fn limited(now: Duration) -> Self {
        let left = LIMIT_WINDOW.as_secs_f64() - now.as_secs_f64() % LIMIT_WINDOW.as_secs_f64();
        let retry_after = Some(Duration::from_secs_f64(left.ceil()));
        let failure =
            Failure::new(ErrorReason::VendorRateLimited, "the simulated vendor was called too often");
        Self { after: REFUSAL, end: Err(Failure { retry_after, ..failure }) }
    }
}

fn silent() -> Failure {
    Failure::new(ErrorReason::VendorTimeout, "the simulated vendor did not answer in time")
}

/// A call under way, for as long as somebody waits for it.
struct UnderWay {
    world: Arc<World>,
    vendor: usize,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(mut seen) = self.world.seen(self.vendor) {
            seen.in_flight = seen.in_flight.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests;
