//! Which vendors the adapter can reach.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

/// The vendors configured where the calls are made, which may be another process. Clones share their state.
#[derive(Debug, Clone, Default)]
pub struct ConfiguredVendors(Arc<RwLock<Known>>);

/// Name to whether it is simulated; `None` until the adapter has been heard.
type Known = Option<HashMap<Arc<str>, bool>>;

impl ConfiguredVendors {
    /// Replaces what is known: name, and whether it is simulated.
    pub fn set(&self, vendors: impl IntoIterator<Item = (Arc<str>, bool)>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(vendors.into_iter().collect());
    }

    /// Whether a vendor is configured. Until the adapter has been heard, every vendor is taken to be.
    pub fn has(&self, vendor: &str) -> bool {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .is_none_or(|known| known.contains_key(vendor))
    }

    /// Whether a vendor is simulated.
    pub fn simulated(&self, vendor: &str) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().and_then(|known| known.get(vendor).copied()).unwrap_or(false)
    }
}
