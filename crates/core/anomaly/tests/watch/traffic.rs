//! Made-up traffic, the same for the same seed.

use signalbox_anomaly::{Alert, Calls, Minute, State, Tally, Timing, Watch, shipped};

pub(crate) const MINUTES_OF_DAY: u64 = 24 * 60;
/// A Monday at midnight.
pub(crate) const START: Minute = Minute(MINUTES_OF_DAY * 20_000);

/// A small generator (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// From 0 to 1.
    pub(crate) fn even(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Of a standard normal distribution.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.even().max(1e-300).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.even()).cos()
    }

    /// How many of so many, by chance.
    pub(crate) fn of(&mut self, n: u64, share: f64) -> u64 {
        (0..n).filter(|_| self.even() < share).count() as u64
    }
}

/// A day's wave, from -1 to 1.
pub(crate) fn wave(minute: Minute) -> f64 {
    let day = (minute.0 % MINUTES_OF_DAY) as f64 / MINUTES_OF_DAY as f64;
    (std::f64::consts::TAU * day).sin()
}

/// Calls a minute: 40 at night, 400 at noon.
pub(crate) fn volume(minute: Minute) -> u64 {
    (220.0 + 180.0 * wave(minute)) as u64
}

pub(crate) fn watch() -> Watch {
    Watch::new(shipped(), Timing::default(), 14)
}

pub(crate) fn calls(tally: Tally) -> [Calls; 1] {
    [Calls { vendor: "openai".into(), model: "gpt".into(), tally }]
}

/// When alerts of a rule opened.
pub(crate) fn opened<'a>(changes: impl IntoIterator<Item = &'a Alert>, rule: &str) -> Vec<Minute> {
    let opened = changes.into_iter().filter(|alert| alert.rule == rule && alert.state == State::Open);
    opened.map(|alert| alert.opened).collect()
}
