//! Who is left alone for a while and who gets less: what vendors said of limits, keys and accounts, shared by all
//! requests of this process.
//!
//! | what the vendor said | who is held | for how long |
//! |---|---|---|
//! | rate limit (429) | the model | `Retry-After` or the reset headers, else 1 s; 5 min at most |
//! | overloaded, with a time | the model | that time, 5 min at most |
//! | quota used up, with a time | the model | that time, 1 h at most |
//! | quota used up, without one | the vendor | 5 min, doubling to 1 h |
//! | key refused | the vendor | 60 s, doubling to 10 min |
//! | not permitted | the model | 60 s, doubling to 10 min |
//!
//! Rate limits and daily quotas are per model at every vendor that tells (OpenAI, Anthropic, Gemini, xAI), and so are
//! most permissions; a key and an account are the vendor's. What only a person can mend is tried all the same when no
//! other candidate is left, so that a mended key is noticed at once.

mod model;
mod vendor;

use crate::metrics;
use model::ModelHolds;
use signalbox_routing::Candidate;
use signalbox_types::{ErrorReason, Failure, ModelRef};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::{Duration, Instant},
};
use vendor::VendorHolds;

/// What is known of holds, by tokio's clock so that tests can move it. Clones share it.
#[derive(Debug, Clone)]
pub struct SharedHolds(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Only models of which there is something to say.
    models: RwLock<HashMap<ModelRef, Mutex<ModelHolds>>>,
    /// Every vendor that ever failed in one of these ways.
    vendors: RwLock<HashMap<Arc<str>, Mutex<VendorHolds>>>,
    /// From 0 to 1, for the jitter of holds.
    random: fn() -> f64,
}

impl Default for SharedHolds {
    fn default() -> Self {
        Self::with_random(rand::random)
    }
}

/// Tokio's time, which tests can move.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(shared: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    shared.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(shared: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    shared.write().unwrap_or_else(PoisonError::into_inner)
}

impl SharedHolds {
    /// Nobody is held; `random` gives numbers from 0 to 1 for the jitter.
    pub fn with_random(random: fn() -> f64) -> Self {
        Self(Arc::new(Inner { models: RwLock::default(), vendors: RwLock::default(), random }))
    }

    /// Adds to a candidate for how long it is left alone, and what rate limits leave of its weight.
    pub(crate) fn describe(&self, model: &ModelRef, candidate: &mut Candidate<'_>) {
        let now = now();
        if let Some(holds) = read(&self.0.models).get(model) {
            lock(holds).describe(candidate, now);
        }
        if let Some(holds) = read(&self.0.vendors).get(&model.vendor) {
            lock(holds).describe(candidate, now);
        }
    }

    /// Whether a model is left alone now.
    pub(crate) fn is_held(&self, model: &ModelRef) -> bool {
        let now = now();
        read(&self.0.models).get(model).is_some_and(|holds| lock(holds).is_held(now))
            || read(&self.0.vendors).get(&model.vendor).is_some_and(|holds| lock(holds).is_held(now))
    }

    /// A call failed. Only what vendors say of limits, keys and accounts counts here; the rest is the breaker's.
    pub(crate) fn on_failure(&self, model: &ModelRef, failure: &Failure) {
        let random = (self.0.random)();
        match (failure.reason, failure.retry_after) {
            (ErrorReason::VendorRateLimited, wait) => {
                self.of_model(model, |holds, now| holds.rate_limited(wait, random, now));
            }
            (ErrorReason::VendorOverloaded, Some(wait)) => {
                self.of_model(model, |holds, now| holds.overloaded(wait, random, now));
            }
            (ErrorReason::VendorQuotaExhausted, Some(wait)) => {
                let wait = self.of_model(model, |holds, now| holds.quota_exhausted(wait, random, now));
                metrics::model_held(model, "its quota is used up", wait);
            }
            (ErrorReason::VendorPermission, _) => {
                if let Some(wait) = self.of_model(model, |holds, now| holds.refused(random, now)) {
                    metrics::model_held(model, "our key may not use it", wait);
                }
            }
            (ErrorReason::VendorQuotaExhausted, None) => {
                let wait = self.of_vendor(model, |holds, now| holds.account.refused(random, now));
                metrics::vendor_held(model, "our account is out of credit or over its spend limit", wait);
            }
            (ErrorReason::VendorAuth, _) => {
                let wait = self.of_vendor(model, |holds, now| holds.key.refused(random, now));
                metrics::vendor_held(model, "our key was refused", wait);
            }
            _ => {}
        }
    }

    /// A call was answered, with this share of the vendor's quota left.
    pub(crate) fn on_success(&self, model: &ModelRef, quota_left: Option<f64>) {
        let now = now();
        if let Some(holds) = read(&self.0.vendors).get(&model.vendor) {
            lock(holds).relent(Duration::ZERO, now);
        }
        if let Some(holds) = read(&self.0.models).get(model) {
            return lock(holds).served(quota_left, now);
        }
        if quota_left.is_some() {
            self.of_model(model, |holds, now| holds.served(quota_left, now));
        }
    }

    /// The configuration of these vendors has changed, their keys perhaps: what was refused is tried again within
    /// `grace`, the time that the change takes to be in force where the calls are made.
    pub fn reconfigured<'a>(&self, vendors: impl IntoIterator<Item = &'a str>, grace: Duration) {
        let now = now();
        for vendor in vendors {
            if let Some(holds) = read(&self.0.vendors).get(vendor) {
                lock(holds).relent(grace, now);
            }
            let models = read(&self.0.models);
            let of_vendor = models.iter().filter(|(model, _)| &*model.vendor == vendor);
            of_vendor.for_each(|(_, holds)| lock(holds).relent(grace, now));
        }
    }

    /// Brings the metrics of holds up to date.
    pub fn publish(&self) {
        let now = now();
        for (vendor, holds) in read(&self.0.vendors).iter() {
            let (mut rate_limited, mut not_permitted) = (0, 0);
            for (_, holds) in read(&self.0.models).iter().filter(|(model, _)| model.vendor == *vendor) {
                let holds = lock(holds);
                rate_limited += i64::from(holds.asked_to_wait(now).is_some());
                not_permitted += i64::from(holds.refused_for(now).is_some());
            }
            let holds = lock(holds);
            metrics::held(vendor, "rate_limited", rate_limited);
            metrics::held(vendor, "not_permitted", not_permitted);
            metrics::held(vendor, "key_refused", holds.key.left(now).is_some().into());
            metrics::held(vendor, "quota_exhausted", holds.account.left(now).is_some().into());
        }
    }

    /// Changes what is known of a model.
    fn of_model<T>(&self, model: &ModelRef, change: impl FnOnce(&mut ModelHolds, Instant) -> T) -> T {
        let now = now();
        if let Some(holds) = read(&self.0.models).get(model) {
            return change(&mut lock(holds), now);
        }
        // So that its metrics are published.
        self.of_vendor(model, |_, _| ());
        let mut models = write(&self.0.models);
        // Callers can invent names of unlisted models, so that what says nothing any more must go.
        models.retain(|_, holds| !lock(holds).is_blank(now));
        let holds = models.entry(model.clone()).or_insert_with(|| Mutex::new(ModelHolds::new(now)));
        change(&mut lock(holds), now)
    }

    /// Changes what is known of a model's vendor.
    fn of_vendor<T>(&self, model: &ModelRef, change: impl FnOnce(&mut VendorHolds, Instant) -> T) -> T {
        let now = now();
        if let Some(holds) = read(&self.0.vendors).get(&model.vendor) {
            return change(&mut lock(holds), now);
        }
        let mut vendors = write(&self.0.vendors);
        let holds = vendors.entry(model.vendor.clone()).or_default();
        change(&mut lock(holds), now)
    }
}

#[cfg(test)]
mod tests;
