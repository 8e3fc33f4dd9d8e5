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
/// Most bytes of schema text kept. Compiled, a schema takes several times its text.
const MOST_BYTES: usize = 4 << 20;

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
    bytes: usize,
}

struct Entry {
    validator: Arc<Validator>,
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
        Ok(if text.len() > MOST_BYTES || self.most == 0 { validator } else { self.keep(text, validator) })
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
        let last_use = AtomicU64::new(self.uses.fetch_add(1, Ordering::Relaxed));
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = kept.by_text.get(text) {
            return Arc::clone(&entry.validator);
        }
        while kept.by_text.len() >= self.most || kept.bytes + text.len() > MOST_BYTES {
            if !kept.drop_oldest() {
                break;
            }
        }
        kept.bytes += text.len();
        kept.by_text.insert(text.into(), Entry { validator: Arc::clone(&validator), last_use });
        validator
    }
}

impl Kept {
    /// Looks at every entry, which is little beside the compilation that made it necessary.
    fn drop_oldest(&mut self) -> bool {
        let oldest = self.by_text.iter().min_by_key(|(_, entry)| entry.last_use.load(Ordering::Relaxed));
        let Some(text) = oldest.map(|(text, _)| text.clone()) else { return false };
        self.bytes -= text.len();
        self.by_text.remove(&text);
        true
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Schemas").field("kept", &kept.by_text.len()).field("bytes", &kept.bytes).finish()
    }
}

#[cfg(test)]
mod tests;
