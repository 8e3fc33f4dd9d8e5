//! What was asked of the simulator, for tests to look at.

use crate::vendor::Vendor;
use bytes::Bytes;
use http::HeaderMap;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bodies above this size are not kept.
const BODY_LIMIT: usize = 1 << 20;
/// Headers that carry keys.
const SECRET: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is still under way.
    Pending,
    /// It was answered to the end, or as its fault demanded.
    Answered,
    /// The client went away before that.
    ClientGone,
}

/// A request that was received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Number, from 1.
    pub id: u64,
    /// The vendor asked.
    pub vendor: Vendor,
    /// HTTP method.
    pub method: http::Method,
    /// Path and query below the vendor's prefix, without keys.
    pub path: String,
    /// The model asked.
    pub model: Option<String>,
    /// Headers; keys are masked.
    pub headers: HeaderMap,
    /// The body, where it is not above 1 MiB.
    pub body: Bytes,
    /// The fault that struck.
    pub fault: Option<String>,
    /// Status of the response, once there is one.
    pub status: Option<u16>,
    /// How it ended.
    pub outcome: Outcome,
}

/// The last requests, and how many there were.
#[derive(Debug)]
pub(crate) struct Recorder {
    keep: usize,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    total: u64,
    counts: [u64; Vendor::ALL.len()],
    kept: VecDeque<RecordedRequest>,
}

impl Recorder {
    /// Keeps the last `keep` requests.
    pub(crate) fn new(keep: usize) -> Self {
        Self { keep, log: Mutex::default() }
    }

    /// Writes a request down. Drop the ticket when the client is gone, or [`Ticket::answered`] it.
    pub(crate) fn record(self: &Arc<Self>, mut request: RecordedRequest) -> Ticket {
        mask(&mut request.headers);
        if request.body.len() > BODY_LIMIT {
            request.body = Bytes::new();
        }
        let mut log = self.lock();
        log.total += 1;
        log.counts[request.vendor as usize] += 1;
        request.id = log.total;
        let ticket = Ticket { id: request.id, recorder: Arc::clone(self), done: false };
        if log.kept.len() >= self.keep {
            log.kept.pop_front();
        }
        if self.keep > 0 {
            log.kept.push_back(request);
        }
        ticket
    }

    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        self.lock().kept.iter().cloned().collect()
    }

    pub(crate) fn total(&self) -> u64 {
        self.lock().total
    }

    pub(crate) fn count(&self, vendor: Vendor) -> u64 {
        self.lock().counts[vendor as usize]
    }

    pub(crate) fn clear(&self) {
        let mut log = self.lock();
        // Ids go on, so that a request under way does not write into another's record.
        log.counts = [0; Vendor::ALL.len()];
        log.kept.clear();
    }

    fn update(&self, id: u64, change: impl FnOnce(&mut RecordedRequest)) {
        let mut log = self.lock();
        // The one that changes is nearly always among the last.
        if let Some(request) = log.kept.iter_mut().rev().find(|request| request.id == id) {
            change(request);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way. Dropped before its time, it says that the client went away.
#[derive(Debug)]
pub(crate) struct Ticket {
    id: u64,
    recorder: Arc<Recorder>,
    done: bool,
}

impl Ticket {
    pub(crate) fn status(&self, status: u16) {
        self.recorder.update(self.id, |request| request.status = Some(status));
    }

    pub(crate) fn answered(mut self) {
        self.done = true;
        self.recorder.update(self.id, |request| request.outcome = Outcome::Answered);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.done {
            self.recorder.update(self.id, |request| request.outcome = Outcome::ClientGone);
        }
    }
}

fn mask(headers: &mut HeaderMap) {
    for name in SECRET {
        if let Some(value) = headers.get_mut(name) {
            *value = http::HeaderValue::from_static("***");
        }
    }
}
