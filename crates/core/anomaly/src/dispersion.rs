//! By how much minutes vary more than chance would have it.

/// Scores beyond this are as wild as this.
const FURTHEST: f64 = 10.0;
/// Bins to either side.
const HALF: usize = 100;
const BINS: usize = 2 * HALF + 1;
const WIDTH: f64 = FURTHEST / HALF as f64;
/// What a day leaves of the days before it.
const FADES_TO: f32 = 0.9;
/// Of a normal distribution, the median absolute deviation is this share of the standard deviation.
const NORMAL: f64 = 0.6745;

/// A histogram of scores, for their median absolute deviation: half of the minutes may be wild without changing it.
#[derive(Debug, Clone)]
pub(crate) struct Dispersion {
    bins: Box<[f32; BINS]>,
    total: f32,
}

impl Default for Dispersion {
    fn default() -> Self {
        Self { bins: Box::new([0.0; BINS]), total: 0.0 }
    }
}

impl Dispersion {
    /// Takes a minute's score in.
    pub(crate) fn add(&mut self, score: f64) {
        let step = (score.clamp(-FURTHEST, FURTHEST) / WIDTH).round();
        if let Some(bin) = self.bins.get_mut((step + HALF as f64) as usize) {
            *bin += 1.0;
            self.total += 1.0;
        }
    }

    /// A day has passed.
    pub(crate) fn fade(&mut self) {
        self.bins.iter_mut().for_each(|bin| *bin *= FADES_TO);
        self.total *= FADES_TO;
    }

    /// About how many minutes it knows.
    pub(crate) fn minutes(&self) -> f64 {
        self.total.into()
    }

    /// The standard deviation of scores, robustly.
    pub(crate) fn deviation(&self) -> Option<f64> {
        let half = f64::from(self.total) / 2.0;
        let median = self.median(half)?;
        let mut within = 0.0;
        for radius in 0..BINS {
            let ring = self.ring(median, radius);
            if within + ring >= half {
                // The bins of a ring reach from half a width before to half a width after.
                let inside = if ring > 0.0 { (half - within) / ring } else { 0.0 };
                let from = (radius as f64 - 0.5).max(0.0);
                let to = radius as f64 + 0.5;
                return Some((from + (to - from) * inside) * WIDTH / NORMAL);
            }
            within += ring;
        }
        None
    }

    fn median(&self, half: f64) -> Option<usize> {
        let mut below = 0.0;
        (half > 0.0).then(|| {
            self.bins.iter().position(|bin| {
                below += f64::from(*bin);
                below >= half
            })
        })?
    }

    /// Weight of the bins at this distance.
    fn ring(&self, median: usize, radius: usize) -> f64 {
        let at = |index: Option<usize>| {
            index.and_then(|index| self.bins.get(index)).map_or(0.0, |bin| f64::from(*bin))
        };
        let above = at(median.checked_add(radius));
        if radius == 0 { above } else { above + at(median.checked_sub(radius)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scores of a normal distribution, evenly by probability.
    fn normal(deviation: f64) -> impl Iterator<Item = f64> {
        // Sums of twelve even numbers are as good as normal here.
        (0..4000u64).map(move |seed| {
            let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            let even = (0..12).map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1u64 << 53) as f64
            });
            (even.sum::<f64>() - 6.0) * deviation
        })
    }

    #[test]
    fn it_is_the_standard_deviation_of_normal_scores() {
        for deviation in [0.5, 1.0, 2.5] {
            let mut dispersion = Dispersion::default();
            normal(deviation).for_each(|score| dispersion.add(score));
            let found = dispersion.deviation().unwrap();
            assert!((found / deviation - 1.0).abs() < 0.06, "{deviation}: {found}");
        }
    }

    #[test]
    fn wild_minutes_hardly_change_it() {
        let mut dispersion = Dispersion::default();
        normal(1.0).for_each(|score| dispersion.add(score));
        (0..400).for_each(|_| dispersion.add(1e300));
        assert!(dispersion.deviation().unwrap() < 1.25);
    }

    #[test]
    fn nothing_is_known_of_nothing() {
        let mut dispersion = Dispersion::default();
        assert_eq!(dispersion.deviation(), None);
        dispersion.add(f64::NAN);
        dispersion.fade();
        let _whatever = dispersion.deviation();
    }
}
