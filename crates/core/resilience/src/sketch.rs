//! How long calls took: a histogram whose quantiles are right to 2 % and whose sums over replicas are exact.

mod encoding;

use crate::unit::unit;
use std::{fmt, time::Duration};

pub use encoding::SketchError;

/// Relative error of a quantile, alpha.
const ERROR: f64 = 0.02;
/// Natural logarithm of a bucket's upper bound over its lower one, `(1 + alpha) / (1 - alpha)`, as in the paper on
/// DDSketch (Masson, Rim and Lee, 2019).
const LN_GAMMA: f64 = 0.040_005_334_613_699;
/// Lower bound of the first bucket, in seconds: quicker than the time per token of any hosted model.
const LEAST: f64 = 100e-6;
/// Buckets up to an hour and forty minutes: longer than any call is allowed to take.
const BUCKETS: usize = 448;

/// A histogram of latencies with logarithmic buckets.
///
/// A latency between 100 µs and 100 minutes is kept to 2 %; shorter and longer ones count as these. Bytes for the
/// wire: see [`Sketch::encode`].
#[derive(Clone, PartialEq, Eq)]
pub struct Sketch {
    counts: Box<[u32; BUCKETS]>,
}

/// The quantiles that scores are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantiles {
    /// Half of the calls were quicker.
    pub p50: Duration,
    /// 95 % of the calls were quicker.
    pub p95: Duration,
    /// 99 % of the calls were quicker.
    pub p99: Duration,
}

impl Sketch {
    /// An empty sketch.
    pub fn new() -> Self {
        Self { counts: Box::new([0; BUCKETS]) }
    }

    /// Counts a latency.
    pub fn record(&mut self, latency: Duration) {
        let count = &mut self.counts[bucket(latency)];
        *count = count.saturating_add(1);
    }

    /// Adds the latencies of another replica, or of another stretch of time.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count = count.saturating_add(*more);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Latencies counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().copied().map(u64::from).sum()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|count| *count == 0)
    }

    /// The latency that this share of the calls did not exceed (nearest rank), unless nothing was counted.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let [value] = self.ranked([share])?;
        Some(value)
    }

    /// The quantiles that scores are made of, unless nothing was counted.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let [p50, p95, p99] = self.ranked([0.5, 0.95, 0.99])?;
        Some(Quantiles { p50, p95, p99 })
    }

    /// The quantiles of ascending shares, in one pass.
    fn ranked<const N: usize>(&self, shares: [f64; N]) -> Option<[Duration; N]> {
        let total = self.count();
        if total == 0 {
            return None;
        }
        let (mut bucket, mut below) = (0, u64::from(self.counts[0]));
        Some(shares.map(|share| {
            let rank = ((unit(share) * total as f64).ceil() as u64).clamp(1, total);
            while below < rank && bucket + 1 < BUCKETS {
                bucket += 1;
                below += u64::from(self.counts[bucket]);
            }
            value(bucket)
        }))
    }
}

impl Default for Sketch {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sketch").field("count", &self.count()).field("quantiles", &self.quantiles()).finish()
    }
}

/// The bucket of a latency.
fn bucket(latency: Duration) -> usize {
    let steps = (latency.as_secs_f64() / LEAST).ln() / LN_GAMMA;
    // From below the first bucket to beyond the last; `as` holds the number within an index's range.
    (steps as usize).min(BUCKETS - 1)
}

/// The latency that stands for a bucket: at most `ERROR` from each in it.
fn value(bucket: usize) -> Duration {
    Duration::from_secs_f64(LEAST * (bucket as f64 * LN_GAMMA).exp() * (1.0 + ERROR))
}

#[cfg(test)]
mod tests;
