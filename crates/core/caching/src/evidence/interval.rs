//! How sure one may be of a share, looked at once: for reports and evaluations.

use super::special::beta_cdf;

/// From where to where a share lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

/// The exact interval of Clopper and Pearson (1934) for `right` of `total`: it holds the true share with at least the
/// confidence given, whatever the share is. With nothing observed, everything is possible.
///
/// It is good for a single look. Whoever looks again and again and acts on the best moment needs
/// [`lower_bound`](super::lower_bound).
pub fn clopper_pearson(right: u64, total: u64, confidence: f64) -> Interval {
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    Interval { low: at_least(right, total, tail), high: at_most(right, total, tail) }
}

/// The share below which seeing so many right has no more than this chance.
fn at_least(right: u64, total: u64, tail: f64) -> f64 {
    let right = right.min(total);
    if right == 0 {
        return 0.0;
    }
    quantile(tail, right as f64, (total - right + 1) as f64)
}

/// The share above which seeing so few right has no more than this chance.
pub(super) fn at_most(right: u64, total: u64, tail: f64) -> f64 {
    let right = right.min(total);
    if right == total {
        return 1.0;
    }
    quantile(1.0 - tail, (right + 1) as f64, (total - right) as f64)
}

/// Where a Beta(a, b) variable is below with a probability, by halving.
fn quantile(probability: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beta_cdf(middle, a, b) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(interval: Interval, low: f64, high: f64) {
        assert!((interval.low - low).abs() < 5e-4 && (interval.high - high).abs() < 5e-4, "{interval:?}");
    }

    #[test]
    fn published_intervals_are_met() {
        assert_near(clopper_pearson(0, 10, 0.95), 0.0, 0.3085);
        assert_near(clopper_pearson(10, 10, 0.95), 0.6915, 1.0);
        assert_near(clopper_pearson(5, 10, 0.95), 0.1871, 0.8129);
        assert_near(clopper_pearson(95, 100, 0.95), 0.8872, 0.9836);
    }

    #[test]
    fn nothing_observed_says_nothing() {
        assert_eq!(clopper_pearson(0, 0, 0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(clopper_pearson(7, 3, 0.95), clopper_pearson(3, 3, 0.95));
    }

    #[test]
    fn the_rule_of_three_hundred_holds() {
        // 299 observations without an error show 99% with one-sided 95% confidence, 298 do not.
        assert!(at_least(299, 299, 0.05) >= 0.99);
        assert!(at_least(298, 298, 0.05) < 0.99);
    }
}
