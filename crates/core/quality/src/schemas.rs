//! Compiled schemas, kept for the next request that brings the same one.

use crate::Validator;
use signalbox_types::JsonText;
use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, LazyLock, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// Most schemas kept in [`Schemas::shared`].
const MOST_SCHEMAS: usize = 256;
/// Most weight kept. Compiled, a schema takes several times its text, and its patterns far more.
const MOST_WEIGHT: usize = 64 << 20;
/// What a byte of text is taken to weigh.
const TEXT_WEIGHT: usize = 16;

/// Compiled schemas by their text, the least recently used dropped first. Shared between threads.
pub struct Schemas {
    kept: RwLock<Kept>,
    /// Counts uses, to tell which came last.
    uses: AtomicU64,
    most: usize,
}

#[derive(Default)]
struct Kept {
    by_text: HashMap<Box<str>, Entry>,
    weight: usize,
}

struct Entry {
    validator: Arc<Validator>,
    weight: usize,
    last_use: AtomicU64,
}

impl Schemas {
    /// Keeps at most so many.
    pub fn new(most: usize) -> Self {
        Self { kept: RwLock::default(), uses: AtomicU64::new(0), most }
    }

    /// The ones of this process.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Schemas> = LazyLock::new(|| Schemas::new(MOST_SCHEMAS));
        &SHARED
    }

    /// The compiled schema; the error as of [`Validator::compile`], and not kept.
    pub fn get(&self, schema: &JsonText) -> Result<Arc<Validator>, String> {
        let text = schema.as_str();
        if let Some(validator) = self.find(text) {
            return Ok(validator);
        }
        // Compiled outside of the lock: two threads may do it at once, and the first one's is kept.
        let validator = Arc::new(Validator::compile(schema)?);
        Ok(self.keep(text, validator))
    }

    /// Checks that a text is a JSON Schema that can be enforced.
    pub fn check(&self, schema: &JsonText) -> Result<(), String> {
        self.get(schema).map(drop)
    }

    fn find(&self, text: &str) -> Option<Arc<Validator>> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let entry = kept.by_text.get(text)?;
        entry.last_use.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(Arc::clone(&entry.validator))
    }

    fn keep(&self, text: &str, validator: Arc<Validator>) -> Arc<Validator> {
        let weight = text.len().saturating_mul(TEXT_WEIGHT).saturating_add(validator.pattern_bytes());
        if weight > MOST_WEIGHT || self.most == 0 {
            return validator;
        }
        let last_use = AtomicU64::new(self.uses.fetch_add(1, Ordering::Relaxed));
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = kept.by_text.get(text) {
            return Arc::clone(&entry.validator);
        }
        while kept.by_text.len() >= self.most || kept.weight + weight > MOST_WEIGHT {
            kept.drop_oldest();
        }
        kept.weight += weight;
        kept.by_text.insert(text.into(), Entry { validator: Arc::clone(&validator), weight, last_use });
        validator
    }
}

impl Kept {
    /// Looks at every entry, which is little beside the compilation that made it necessary.
    fn drop_oldest(&mut self) {
        let oldest = self.by_text.iter().min_by_key(|(_, entry)| entry.last_use.load(Ordering::Relaxed));
        let Some(text) = oldest.map(|(text, _)| text.clone()) else { return };
        if let Some(entry) = self.by_text.remove(&text) {
            self.weight -= entry.weight;
        }
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Schemas").field("kept", &kept.by_text.len()).field("weight", &kept.weight).finish()
    }
}

#[cfg(test)]
mod tests;
