//! What is known of all near answers of a tenant, a task and an embedder together.

mod encoding;
#[cfg(test)]
mod tests;

use super::{ALPHA, is_at_least, lower_bound};
use crate::Digest;
use std::time::{Duration, SystemTime};

/// Time in which an observation loses half of its weight: models and habits change.
pub const HALF_LIFE: Duration = Duration::from_hours(14 * 24);

/// Where buckets of similarity begin.
const EDGES: [f32; BUCKETS] = [0.0, 0.80, 0.85, 0.90, 0.92, 0.94, 0.96, 0.98];
const BUCKETS: usize = 8;
/// What a bucket must have seen itself for answers to be served from there on: what lies above says nothing of it.
const LEAST_OF_ITS_OWN: f64 = 10.0;

/// Observations, faded.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Answers that were right.
    pub right: f64,
    /// Answers that were wrong, or of which nobody could tell.
    pub wrong: f64,
}

impl Tally {
    fn plus(self, other: Self, weight: f64) -> Self {
        Self { right: self.right + weight * other.right, wrong: self.wrong + weight * other.wrong }
    }

    fn total(self) -> f64 {
        self.right + self.wrong
    }
}

/// Pooled observations by similarity. Small, and merged by adding: a replica gathers its own in an empty pool and merges
/// them into the stored one, again if somebody else was quicker.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    basis: Digest,
    as_of: SystemTime,
    buckets: [Tally; BUCKETS],
}

/// How the evidence stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Least similarity that is served; `None` while nothing is.
    pub served_from: Option<f32>,
    /// Share of answers that are right, at least: of those served, or if none are, of the best that could be.
    pub lower_bound: f64,
    /// All observations from the floor on.
    pub observed: Tally,
}

impl Pool {
    /// Nothing observed. `basis` is what observations rest on: see [`crate::TenantKeys::basis`].
    pub fn new(basis: Digest, now: SystemTime) -> Self {
        Self { basis, as_of: now, buckets: [Tally::default(); BUCKETS] }
    }

    /// Whether nothing was observed.
    pub fn is_empty(&self) -> bool {
        self.buckets.iter().all(|bucket| bucket.total() == 0.0)
    }

    /// Counts whether the answer to a request this near was right.
    pub fn observe(&mut self, similarity: f32, is_right: bool, now: SystemTime) {
        self.fade(now);
        let bucket = &mut self.buckets[bucket_of(similarity)];
        let weight = weight(now, self.as_of);
        *(if is_right { &mut bucket.right } else { &mut bucket.wrong }) += weight;
    }

    /// Adds what another replica observed. What rests on another basis is left out.
    pub fn merge(&mut self, other: &Self) {
        if other.basis != self.basis {
            return;
        }
        self.fade(other.as_of);
        let weight = weight(other.as_of, self.as_of);
        for (mine, others) in self.buckets.iter_mut().zip(other.buckets) {
            *mine = mine.plus(others, weight);
        }
    }

    /// From which similarity on answers are served against a target, no lower than a policy's floor; `None` for none.
    ///
    /// An answer is served if its similarity is at least a threshold from which on all together were right often enough.
    /// There are several thresholds to choose from, and the best of several chances is worth less: the chance of being
    /// fooled is shared out among them, half to the lowest above the floor, half of the rest to the next. So the confidence
    /// is that of the choice, whichever it is.
    pub fn served_from(&self, target: f64, floor: f32, now: SystemTime) -> Option<f32> {
        self.thresholds(floor, now).find(|threshold| threshold.meets(target)).map(|threshold| threshold.from)
    }

    /// How the evidence stands against a target.
    pub fn standing(&self, target: f64, floor: f32, now: SystemTime) -> Standing {
        let thresholds = || self.thresholds(floor, now);
        let served = thresholds().find(|threshold| threshold.meets(target));
        let best = || thresholds().map(|threshold| threshold.lower_bound()).fold(0.0, f64::max);
        Standing {
            served_from: served.map(|threshold| threshold.from),
            lower_bound: served.map_or_else(best, |threshold| threshold.lower_bound()),
            observed: self.above(now)[bucket_of(floor)],
        }
    }

    /// Where serving may begin, the lowest first.
    fn thresholds(&self, floor: f32, now: SystemTime) -> impl Iterator<Item = Threshold> {
        let above = self.above(now);
        let lowest = bucket_of(floor);
        (lowest..BUCKETS).filter(move |&bucket| self.has_its_own(bucket, now)).map(move |bucket| Threshold {
            from: EDGES[bucket].max(floor),
            above: above[bucket],
            alpha: alpha(bucket - lowest, BUCKETS - lowest),
        })
    }

    /// For each bucket, what was seen in it and above.
    fn above(&self, now: SystemTime) -> [Tally; BUCKETS] {
        let weight = weight(self.as_of, now);
        let mut sum = Tally::default();
        let mut above = [sum; BUCKETS];
        for (index, bucket) in self.buckets.iter().enumerate().rev() {
            sum = sum.plus(*bucket, weight);
            above[index] = sum;
        }
        above
    }

    fn has_its_own(&self, bucket: usize, now: SystemTime) -> bool {
        self.buckets[bucket].total() * weight(self.as_of, now) >= LEAST_OF_ITS_OWN
    }

    /// Brings the counts to a later time. Clocks of replicas differ: an earlier time changes nothing.
    fn fade(&mut self, now: SystemTime) {
        let weight = weight(self.as_of, now);
        self.buckets = self.buckets.map(|bucket| Tally::default().plus(bucket, weight));
        self.as_of = self.as_of.max(now);
    }
}

/// A similarity where serving may begin.
#[derive(Debug, Clone, Copy)]
struct Threshold {
    from: f32,
    /// What was seen from there on.
    above: Tally,
    /// Chance of being fooled that it may take.
    alpha: f64,
}

impl Threshold {
    fn meets(&self, target: f64) -> bool {
        is_at_least(target, self.above.right, self.above.wrong, self.alpha)
    }

    fn lower_bound(&self) -> f64 {
        lower_bound(self.above.right, self.above.wrong, self.alpha)
    }
}

/// What is left at a later time of what was seen at an earlier one.
fn weight(seen: SystemTime, now: SystemTime) -> f64 {
    let age = now.duration_since(seen).unwrap_or_default();
    (-age.as_secs_f64() / HALF_LIFE.as_secs_f64()).exp2()
}

fn bucket_of(similarity: f32) -> usize {
    EDGES.partition_point(|edge| *edge <= similarity).saturating_sub(1)
}

/// The part of a threshold, the lowest being 0, in the chance of being fooled. All parts sum to [`ALPHA`].
fn alpha(threshold: usize, thresholds: usize) -> f64 {
    let halvings = (threshold + 1).min(thresholds - 1);
    ALPHA / f64::from(1_u32 << halvings)
}
