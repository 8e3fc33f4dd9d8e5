//! Sizes and times.

use std::time::Duration;

/// Sizes and times. The defaults are right for most.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Most time for an exact match, whatever the caller allows.
    pub exact_budget: Duration,
    /// Most time for a match by meaning, that of the exact one and the embedding included.
    pub semantic_budget: Duration,
    /// Whether identical requests wait for one answer.
    pub single_flight: bool,
    /// How long a flight is led without being renewed.
    pub flight_ttl: Duration,
    /// Most requests that wait for one answer in this process; others call the model themselves.
    pub most_waiters: usize,
    /// How long epochs and data keys are relied on: the longest that an invalidated answer may still be served.
    pub epoch_ttl: Duration,
    /// Most answers that wait to be stored. Beyond it the oldest is dropped.
    pub queue: usize,
    /// Answers that are stored at the same time.
    pub storers: usize,
    /// Most time that storing an answer may take, with its embedding and the verdict of an audit.
    pub store_budget: Duration,
    /// Nearest entries that are looked at.
    pub nearest: usize,
    /// Texts whose vectors are kept in this process.
    pub known_vectors: usize,
    /// How long a text waits for others to be embedded with.
    pub embed_window: Duration,
    /// Most texts that are embedded in one call.
    pub embed_batch: usize,
    /// Most time for a call of the embedder.
    pub embed_timeout: Duration,
    /// Most time for a verdict of the verifier.
    pub verify_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            exact_budget: Duration::from_millis(5),
            semantic_budget: Duration::from_millis(25),
            single_flight: true,
            flight_ttl: Duration::from_secs(5),
            most_waiters: 1_024,
            epoch_ttl: Duration::from_secs(1),
            queue: 1_024,
            storers: 16,
            store_budget: Duration::from_secs(10),
            nearest: 5,
            known_vectors: 10_000,
            embed_window: Duration::from_millis(2),
            embed_batch: 64,
            embed_timeout: Duration::from_secs(5),
            verify_timeout: Duration::from_secs(5),
        }
    }
}
