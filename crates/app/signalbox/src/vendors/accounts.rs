//! Our accounts at vendors that have a limit, one for the whole process.

use crate::serve::budget_store;
use signalbox_api::v1::RateLimit;
use signalbox_kit::{
    Clock,
    catalog::VendorSettings,
    config::{ConfigHandle, VendorRateLimitConfig},
};
use signalbox_ports::RateLimiter;
use signalbox_provider_adapter::VendorAccount;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use uuid::Uuid;

/// Accounts by vendor.
pub(crate) struct Accounts {
    config: Arc<ConfigHandle>,
    clock: Arc<dyn Clock>,
    /// Made when a limit is configured for the first time.
    limiter: OnceLock<Arc<dyn RateLimiter>>,
    /// Names this process among those that share the limits.
    process: String,
    open: Mutex<BTreeMap<Arc<str>, Open>>,
}

/// The limit an account was opened with, and the account.
type Open = (VendorRateLimitConfig, Arc<VendorAccount>);

impl Accounts {
    pub(crate) fn new(config: Arc<ConfigHandle>, clock: Arc<dyn Clock>) -> Self {
        let process = Uuid::now_v7().to_string();
        Self { config, clock, limiter: OnceLock::new(), process, open: Mutex::default() }
    }

    /// The vendor's account, if it has a limit; a new one when the limit has changed.
    pub(crate) fn of(&self, settings: &VendorSettings) -> Result<Option<Arc<VendorAccount>>, String> {
        let limit = settings.rate_limit;
        if limit == VendorRateLimitConfig::default() {
            return Ok(None);
        }
        let limiter = self.limiter()?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, account)) = open.get(&settings.name).filter(|(before, _)| *before == limit) {
            return Ok(Some(account.clone()));
        }
        let rate = RateLimit {
            requests_per_minute: limit.requests_per_minute.unwrap_or_default(),
            tokens_per_minute: limit.tokens_per_minute.unwrap_or_default(),
            concurrent_requests: limit.concurrent_requests.unwrap_or_default(),
        };
        let account = VendorAccount::new(settings.name.clone(), rate, limiter, &self.process);
        open.insert(settings.name.clone(), (limit, account.clone()));
        Ok(Some(account))
    }

    fn limiter(&self) -> Result<Arc<dyn RateLimiter>, String> {
        if let Some(limiter) = self.limiter.get() {
            return Ok(limiter.clone());
        }
        let limiter = budget_store::rates(&self.config, &self.clock)?;
        Ok(self.limiter.get_or_init(|| limiter).clone())
    }
}
