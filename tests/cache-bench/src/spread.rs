//! How times are spread.

use std::time::Duration;

/// Times, the shortest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spread(Vec<Duration>);

impl Spread {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The time that so many of a thousand do not exceed.
    pub(crate) fn per_mille(&self, share: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get(last * share.min(1_000) / 1_000).copied().unwrap_or_default()
    }

    pub(crate) fn median(&self) -> Duration {
        self.per_mille(500)
    }

    /// What 99 of a hundred do not exceed.
    pub(crate) fn p99(&self) -> Duration {
        self.per_mille(990)
    }

    pub(crate) fn longest(&self) -> Duration {
        self.per_mille(1_000)
    }
}

/// In milliseconds.
pub(crate) fn ms(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

/// How much longer one takes than another, in milliseconds; below nothing where it is shorter.
pub(crate) fn ms_more(time: Duration, than: Duration) -> String {
    format!("{:.2}", (time.as_secs_f64() - than.as_secs_f64()) * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_sorted_times() {
        let spread = Spread::of((0..=100).rev().map(Duration::from_millis).collect());
        let of = [0, 500, 990, 1_000].map(|share| spread.per_mille(share).as_millis());
        assert_eq!(of, [0, 50, 99, 100]);
        assert_eq!(Spread::default().p99(), Duration::ZERO);
        assert_eq!(ms_more(Duration::from_millis(1), Duration::from_millis(3)), "-2.00");
    }
}
