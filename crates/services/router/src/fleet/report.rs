//! One report, read and checked: it comes from another process, and may be anything.

use super::is_believed;
use signalbox_api::{convert::duration_from_proto, v1};
use signalbox_resilience::{Counts, Sketch, SketchError};
use signalbox_types::ModelRef;
use std::time::{Duration, Instant};

/// Longer than any name.
const LONGEST_NAME: usize = 256;
/// More calls than an adapter makes in five minutes.
const MOST_CALLS: u64 = 1 << 32;
/// A full sketch has some three kilobytes.
const LONGEST_SKETCH: usize = 8 * 1024;
/// No vendor is held back for longer, whatever it asks.
const LONGEST_HOLD: Duration = Duration::from_secs(300);

/// Why a report is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReportError {
    /// It does not say who reports on what, or says it in too many letters.
    #[error("health report without adapter, vendor and model of 1 to 256 bytes")]
    Name,
    /// Its counts contradict each other, or are beyond what an adapter can do.
    #[error("health report with absurd counts")]
    Counts,
    /// A sketch cannot be read.
    #[error("{0}")]
    Sketch(#[from] SketchError),
    /// A sketch is larger than a full one.
    #[error("health report with an absurd sketch")]
    SketchTooLarge,
    /// A share or a length of time is none.
    #[error("health report with an absurd share or duration")]
    Number,
    /// There are as many adapters or models as can be.
    #[error("health report of one adapter or model too many")]
    TooMany,
}

/// What one adapter has seen of one model.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) heard_at: Instant,
    pub(super) counts: Counts,
    pub(super) per_token: Sketch,
    pub(super) first_token: Sketch,
    pub(super) held_until: Option<Instant>,
    pub(super) quota_left: Option<f64>,
    pub(super) unserved_since: Option<Instant>,
    pub(super) served_at: Option<Instant>,
}

impl Report {
    pub(super) fn read(
        wire: &v1::WatchHealthResponse,
        now: Instant,
    ) -> Result<(ModelRef, Self), ReportError> {
        let target = wire.target.as_ref().ok_or(ReportError::Name)?;
        for name in [&wire.adapter_id, &target.vendor, &target.model] {
            if name.is_empty() || name.len() > LONGEST_NAME {
                return Err(ReportError::Name);
            }
        }
        let duration = |wire: Option<_>| {
            wire.map(|wire| duration_from_proto(wire).ok_or(ReportError::Number)).transpose()
        };
        let since = |ago: Option<Duration>| ago.and_then(|ago| now.checked_sub(ago));
        let hold = duration(wire.retry_after)?.map(|hold| hold.min(LONGEST_HOLD));
        let report = Self {
            heard_at: now,
            counts: counts(wire)?,
            per_token: sketch(&wire.latency_sketch)?,
            first_token: sketch(&wire.time_to_first_token_sketch)?,
            held_until: hold.map(|hold| now + hold),
            quota_left: share(wire.quota_left)?,
            unserved_since: since(duration(wire.unserved_for)?),
            served_at: since(duration(wire.served_ago)?),
        };
        Ok((ModelRef::new(target.vendor.as_str(), target.model.as_str()), report))
    }

    pub(super) fn is_believed(&self, now: Instant) -> bool {
        is_believed(self.heard_at, now)
    }
}

fn counts(wire: &v1::WatchHealthResponse) -> Result<Counts, ReportError> {
    let v1::WatchHealthResponse { calls, failures, timeouts, .. } = *wire;
    let good = timeouts <= failures && failures <= calls && calls <= MOST_CALLS;
    good.then_some(Counts { calls, failures, timeouts }).ok_or(ReportError::Counts)
}

fn sketch(bytes: &[u8]) -> Result<Sketch, ReportError> {
    if bytes.len() > LONGEST_SKETCH {
        return Err(ReportError::SketchTooLarge);
    }
    Ok(Sketch::decode(bytes)?)
}

fn share(wire: Option<f64>) -> Result<Option<f64>, ReportError> {
    match wire {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(ReportError::Number),
        share => Ok(share),
    }
}
