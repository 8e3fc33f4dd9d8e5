//! What is heard of other adapters.

use signalbox_api::{convert::duration_from_proto, v1::WatchHealthResponse};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// An adapter that is not heard for so long is gone: each reports every ten seconds.
const GONE_AFTER: Duration = Duration::from_secs(30);
/// More adapters than any fleet has, and more vendors than any catalogue.
const MOST: usize = 256;
/// Longer than any name.
const LONGEST_NAME: usize = 256;

/// The adapters of other processes, as their health reports tell of them. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct OtherAdapters(Arc<Mutex<Heard>>);

#[derive(Debug, Default)]
struct Heard {
    adapters: HashMap<String, Instant>,
    /// When each vendor last served any of them.
    served: HashMap<String, Instant>,
}

impl OtherAdapters {
    /// Takes in a report.
    pub fn absorb(&self, report: &WatchHealthResponse) {
        let Some(target) = &report.target else { return };
        if [&report.adapter_id, &target.vendor]
            .into_iter()
            .any(|name| name.is_empty() || name.len() > LONGEST_NAME)
        {
            return;
        }
        let now = super::now();
        let served_at = report.served_ago.and_then(duration_from_proto).and_then(|ago| now.checked_sub(ago));
        let mut heard = self.heard();
        note(&mut heard.adapters, &report.adapter_id, now, now);
        if let Some(served_at) = served_at {
            note(&mut heard.served, &target.vendor, served_at, now);
        }
    }

    /// How many of those that run stand in line before this one.
    pub(super) fn before(&self, adapter_id: &str, now: Instant) -> u32 {
        let heard = self.heard();
        let runs = |at: &Instant| now.saturating_duration_since(*at) < GONE_AFTER;
        let before = heard.adapters.iter().filter(|(id, at)| id.as_str() < adapter_id && runs(at)).count();
        u32::try_from(before).unwrap_or(u32::MAX)
    }

    /// When a vendor last served one of them.
    pub(super) fn served_at(&self, vendor: &str) -> Option<Instant> {
        self.heard().served.get(vendor).copied()
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the latest moment of a name; where there are too many, the old ones go.
fn note(moments: &mut HashMap<String, Instant>, name: &str, at: Instant, now: Instant) {
    if let Some(known) = moments.get_mut(name) {
        *known = at.max(*known);
        return;
    }
    if moments.len() >= MOST {
        moments.retain(|_, at| now.saturating_duration_since(*at) < GONE_AFTER);
    }
    if moments.len() < MOST {
        moments.insert(name.to_owned(), at);
    }
}
