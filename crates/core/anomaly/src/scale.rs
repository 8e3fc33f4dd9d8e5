//! The two scales on which measures are compared, so that everything after them is one arithmetic.

/// Calls beyond which a minute's mean is no surer: what varies then is the minute's kind of work.
const MIXED: f64 = 50.0;
/// A share below this counts as this: twice nothing is not worth an alert.
const LEAST_SHARE: f64 = 0.005;
/// And a share that is expected to be worse may not be certain.
const MOST_SHARE: f64 = 0.9;
/// The furthest that one minute's mean may speak, so that a single giant request never raises an alert.
const LOUDEST: f64 = 4.5;

/// How values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// k of n, from 0 to 1.
    Share,
    /// A positive mean. Its logarithm is compared, for means vary by factors.
    Ratio,
}

/// What was seen in some time: a sum over so many.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Reading {
    pub(crate) sum: f64,
    pub(crate) of: f64,
}

impl Reading {
    /// The share, or the mean. Only for readings of something.
    pub(crate) fn value(self) -> f64 {
        self.sum / self.of
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, of: self.of + other.of }
    }

    /// A part of it.
    pub(crate) fn times(self, share: f64) -> Self {
        Self { sum: self.sum * share, of: self.of * share }
    }
}

impl Scale {
    /// A reading, where it says something on this scale.
    pub(crate) fn reading(self, sum: f64, of: f64) -> Option<Reading> {
        let told = of >= 1.0 && of.is_finite() && sum.is_finite();
        match self {
            Self::Share => told.then(|| Reading { sum: sum.clamp(0.0, of), of }),
            Self::Ratio => (told && sum > 0.0).then_some(Reading { sum, of }),
        }
    }

    /// Where a value is on this scale.
    pub(crate) fn level(self, value: f64) -> f64 {
        match self {
            Self::Share => value,
            Self::Ratio => value.max(f64::MIN_POSITIVE).ln(),
        }
    }

    /// The value at a place of this scale.
    pub(crate) fn value(self, level: f64) -> f64 {
        match self {
            Self::Share => level,
            Self::Ratio => level.exp(),
        }
    }

    /// How much a reading weighs: its variance is that of one unit, divided by this.
    pub(crate) fn weight(self, reading: Reading) -> f64 {
        match self {
            Self::Share => reading.of,
            Self::Ratio => reading.of / (1.0 + reading.of / MIXED),
        }
    }

    /// A level that may be expected.
    pub(crate) fn bounded(self, level: f64) -> f64 {
        match self {
            Self::Share => level.clamp(LEAST_SHARE, MOST_SHARE),
            Self::Ratio => level,
        }
    }

    /// Standard deviation of one unit at this level, if nothing but chance were at work.
    pub(crate) fn deviation(self, level: f64) -> f64 {
        match self {
            Self::Share => (level * (1.0 - level)).max(0.0).sqrt(),
            Self::Ratio => 1.0,
        }
    }

    /// The least over-dispersion. Chance explains counts; what explains means is only seen in them.
    pub(crate) fn least_dispersion(self) -> f64 {
        match self {
            Self::Share => 1.0,
            Self::Ratio => 0.3,
        }
    }
}

/// What a baseline leads one to expect of a minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Expectation {
    pub(crate) scale: Scale,
    /// On the scale.
    pub(crate) level: f64,
    /// By how much minutes vary more than chance would have it.
    pub(crate) dispersion: f64,
}

impl Expectation {
    /// The share, or the mean.
    pub(crate) fn value(self) -> f64 {
        self.scale.value(self.level)
    }

    /// How many standard deviations of chance a minute lies above it, before over-dispersion.
    pub(crate) fn raw_score(self, reading: Reading) -> f64 {
        let away = self.scale.level(reading.value()) - self.level;
        away * self.scale.weight(reading).sqrt() / self.scale.deviation(self.level)
    }

    /// The same after over-dispersion.
    pub(crate) fn score(self, reading: Reading) -> f64 {
        self.raw_score(reading) / self.dispersion
    }

    /// How rare such a reading is by chance, in standard deviations. Few events are skewed, so that shares are judged by
    /// their likelihood, which knows it.
    pub(crate) fn rarity(self, reading: Reading) -> f64 {
        match self.scale {
            Scale::Share => {
                let (seen, usual) = (reading.value().clamp(1e-9, 1.0 - 1e-9), self.level);
                let apart = seen * (seen / usual).ln() + (1.0 - seen) * ((1.0 - seen) / (1.0 - usual)).ln();
                (2.0 * reading.of * apart.max(0.0)).sqrt() / self.dispersion
            }
            Scale::Ratio => self.score(reading).abs(),
        }
    }

    /// How much more likely a minute is if the value were `ratio` times what is expected: the logarithm of it.
    pub(crate) fn evidence(self, reading: Reading, ratio: f64) -> f64 {
        match self.scale {
            Scale::Share => {
                let (usual, worse) = (self.level, (self.level * ratio).min(MOST_SHARE.max(self.level)));
                let misses = reading.of - reading.sum;
                let log = reading.sum * (worse / usual).ln() + misses * ((1.0 - worse) / (1.0 - usual)).ln();
                log / (self.dispersion * self.dispersion)
            }
            Scale::Ratio => {
                let shift = ratio.ln() * self.scale.weight(reading).sqrt() / self.dispersion;
                (shift * self.score(reading) - shift * shift / 2.0).clamp(-LOUDEST, LOUDEST)
            }
        }
    }

    /// The value beyond which minutes speak for "`ratio` times what is expected", and below which against it.
    pub(crate) fn threshold(self, ratio: f64) -> f64 {
        match self.scale {
            Scale::Share => {
                let (usual, worse) = (self.level, (self.level * ratio).min(MOST_SHARE.max(self.level)));
                let (hit, miss) = ((worse / usual).ln(), ((1.0 - usual) / (1.0 - worse)).ln());
                if hit + miss > 0.0 { miss / (hit + miss) } else { usual }
            }
            Scale::Ratio => self.value() * ratio.sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(level: f64) -> Expectation {
        Expectation { scale: Scale::Share, level, dispersion: 1.0 }
    }

    #[test]
    fn evidence_changes_its_sign_at_the_threshold() {
        for usual in [0.005, 0.015, 0.2, 0.8] {
            let expected = share(usual);
            let threshold = expected.threshold(3.0);
            assert!(threshold > usual && threshold < 1.0, "{usual}: {threshold}");
            let at = |value: f64| expected.evidence(Reading { sum: value * 1e4, of: 1e4 }, 3.0);
            assert!(at(threshold + 0.001) > 0.0 && at(threshold - 0.001) < 0.0, "{usual}");
        }
    }

    #[test]
    fn means_are_compared_by_factors_up_and_down() {
        let expected = Expectation { scale: Scale::Ratio, level: 400.0f64.ln(), dispersion: 1.0 };
        let at = |mean: f64, ratio: f64| expected.evidence(Reading { sum: mean * 50.0, of: 50.0 }, ratio);
        assert!(at(800.0, 2.0) > 0.0 && at(400.0, 2.0) < 0.0);
        assert!(at(200.0, 0.5) > 0.0 && at(400.0, 0.5) < 0.0);
        assert!((at(800.0, 2.0) - at(200.0, 0.5)).abs() < 1e-9);
        assert_eq!(at(1e12, 2.0), LOUDEST, "one giant minute does not decide");
    }

    #[test]
    fn a_minute_that_says_nothing_is_no_reading() {
        assert_eq!(Scale::Share.reading(0.0, 0.0), None);
        assert_eq!(Scale::Ratio.reading(0.0, 7.0), None, "what is free has no ratio");
        assert_eq!(Scale::Ratio.reading(-5.0, 7.0), None);
        assert_eq!(Scale::Share.reading(9.0, 3.0), Some(Reading { sum: 3.0, of: 3.0 }));
    }
}
