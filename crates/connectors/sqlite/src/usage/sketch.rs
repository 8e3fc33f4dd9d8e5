//! Distributions of times, right to 1 %, as texts that SQLite itself can put together.
//!
//! A time falls into a bucket of a logarithmic scale, as in DDSketch (Masson, Rim and Lee, 2019). The text of a sketch
//! names the buckets and how often each was hit (`231;240:17;`), and the text of several is one after the other: the
//! sum of sketches is `group_concat(sketch, '')`.

use signalbox_api::v1::LatencySummary;
use std::{collections::BTreeMap, fmt::Write as _, iter, mem, time::Duration};

/// Relative error of a quantile.
const ERROR: f64 = 0.01;
/// Natural logarithm of a bucket's upper bound over its lower one, `(1 + ERROR) / (1 - ERROR)`.
const LN_GAMMA: f64 = 0.020_000_666_706_669;
/// Lower bound of the first bucket, in seconds; what is shorter is in it, too.
const LEAST: f64 = 10e-6;
/// Buckets up to six hours; what is longer is in the last.
const BUCKETS: usize = 1_076;

/// A sketch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sketch(BTreeMap<u16, u64>);

/// The bucket of a time.
pub(super) fn bucket(time: Duration) -> u16 {
    let steps = (time.as_secs_f64() / LEAST).ln() / LN_GAMMA;
    // From below the first bucket to beyond the last; `as` holds the number within an index's range.
    (steps as usize).min(BUCKETS - 1) as u16
}

/// The time that stands for a bucket: at most `ERROR` from each in it.
fn value(bucket: usize) -> Duration {
    Duration::from_secs_f64(LEAST * (bucket as f64 * LN_GAMMA).exp() * (1.0 + ERROR))
}

impl Sketch {
    /// Counts a time by its bucket.
    pub(super) fn record(&mut self, bucket: u16) {
        *self.0.entry(bucket).or_default() += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.0 {
            *self.0.entry(*bucket).or_default() += count;
        }
    }

    pub(super) fn parse(text: &str) -> Self {
        let mut sketch = Self::default();
        for (bucket, count) in counts(text) {
            *sketch.0.entry(bucket).or_default() += count;
        }
        sketch
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.0.len() * 6);
        for (bucket, count) in &self.0 {
            let _infallible = match count {
                1 => write!(text, "{bucket};"),
                count => write!(text, "{bucket}:{count};"),
            };
        }
        text
    }
}

/// The quantiles of the sketches in a text, unless they are empty.
pub(super) fn summary(text: &str) -> Option<LatencySummary> {
    let mut buckets = vec![0; BUCKETS];
    let mut total = 0;
    for (bucket, count) in counts(text) {
        buckets[usize::from(bucket).min(BUCKETS - 1)] += count;
        total += count;
    }
    let quantile = |share: f64| {
        let rank = ((share * total as f64).ceil() as u64).max(1);
        let mut below = 0;
        let found = buckets.iter().position(|count| {
            below += count;
            below >= rank
        });
        value(found.unwrap_or(BUCKETS - 1)).try_into().ok()
    };
    (total > 0).then(|| LatencySummary { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99) })
}

/// Buckets and counts of a text, which only this module writes. A month of them is read for an answer: no general
/// parser of numbers is as quick.
fn counts(text: &str) -> impl Iterator<Item = (u16, u64)> {
    let mut rest = text.as_bytes().iter();
    iter::from_fn(move || {
        let (mut bucket, mut number) = (None, 0_u64);
        loop {
            match *rest.next()? {
                digit @ b'0'..=b'9' => number = number.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')),
                b':' => bucket = Some(mem::take(&mut number)),
                _ => break,
            }
        }
        let (bucket, count) = bucket.map_or((number, 1), |bucket| (bucket, number));
        Some((bucket as u16, count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_sketch_has_no_quantiles() {
        assert_eq!(summary(""), None);
        assert_eq!(Sketch::default().to_text(), "");
    }

    #[test]
    fn times_beyond_the_scale_are_at_its_ends() {
        assert_eq!(bucket(Duration::ZERO), 0);
        assert_eq!(usize::from(bucket(Duration::from_secs(1 << 40))), BUCKETS - 1);
        assert!(value(BUCKETS - 1) > Duration::from_secs(6 * 3600));
    }

    proptest! {
        #[test]
        fn a_time_is_kept_to_one_percent(micros in 10_u64..6 * 3_600_000_000) {
            let time = Duration::from_micros(micros);
            let kept = value(usize::from(bucket(time)));
            prop_assert!(kept.abs_diff(time) <= time.mul_f64(ERROR * 1.001), "{time:?} {kept:?}");
        }

        #[test]
        fn texts_one_after_the_other_are_the_sum(one: Vec<(u16, u8)>, other: Vec<(u16, u8)>) {
            let sketch = |hits: &[(u16, u8)]| {
                let mut sketch = Sketch::default();
                hits.iter().for_each(|(bucket, times)| (0..*times).for_each(|_| sketch.record(*bucket)));
                sketch
            };
            let (one, other) = (sketch(&one), sketch(&other));
            let mut sum = one.clone();
            sum.merge(&other);
            let text = one.to_text() + &other.to_text();
            prop_assert_eq!(&Sketch::parse(&text), &sum);
            prop_assert_eq!(summary(&text), summary(&sum.to_text()));
        }
    }
}
