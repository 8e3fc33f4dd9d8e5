//! What counts how much.

use crate::number::within;

/// How much each factor counts in the score. Only the proportions matter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// What the request is expected to cost.
    pub cost: f64,
    /// How soon the answer is expected.
    pub latency: f64,
    /// How often calls succeeded of late.
    pub health: f64,
    /// How often answers were good.
    pub quality: f64,
    /// How much of the vendor's quota is left.
    pub quota: f64,
}

/// Weights that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWeights {
    /// Not a number from 0 to 1000.
    #[error("the weight `{0}` must be a number from 0 to 1000")]
    OutOfRange(&'static str),
    /// Every weight is 0.
    #[error("at least one weight must be above 0")]
    AllZero,
}

const MOST: f64 = 1_000.0;

impl Default for Weights {
    fn default() -> Self {
        Preset::Balanced.weights()
    }
}

impl Weights {
    /// Nothing counts: every candidate scores the same but for its preference.
    pub const NONE: Self = Self { cost: 0.0, latency: 0.0, health: 0.0, quality: 0.0, quota: 0.0 };

    /// These weights so that they sum to 1, or what is wrong with them.
    pub fn checked(self) -> Result<Self, InvalidWeights> {
        if let Some((name, _)) = self.named().into_iter().find(|(_, weight)| !(0.0..=MOST).contains(weight)) {
            return Err(InvalidWeights::OutOfRange(name));
        }
        if self.sum() <= 0.0 { Err(InvalidWeights::AllZero) } else { Ok(self.normalised()) }
    }

    /// Sums to 1, or is [`Weights::NONE`]; what is out of range counts as the nearest that is not.
    pub(crate) fn normalised(self) -> Self {
        let usable = self.map(|weight| within(weight, 0.0, MOST));
        let sum = usable.sum();
        if sum > 0.0 { usable.map(|weight| weight / sum) } else { Self::NONE }
    }

    /// Each with its name.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("cost", self.cost),
            ("latency", self.latency),
            ("health", self.health),
            ("quality", self.quality),
            ("quota", self.quota),
        ]
    }

    fn sum(&self) -> f64 {
        self.cost + self.latency + self.health + self.quality + self.quota
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            cost: change(self.cost),
            latency: change(self.latency),
            health: change(self.health),
            quality: change(self.quality),
            quota: change(self.quota),
        }
    }
}

/// Weights with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// A bit of everything.
    #[default]
    Balanced,
    /// The money first.
    Cheap,
    /// The time first.
    Fast,
    /// The answer first.
    Best,
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 4] = [Self::Balanced, Self::Cheap, Self::Fast, Self::Best];

    /// The name used in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::Cheap => "cheap",
            Self::Fast => "fast",
            Self::Best => "best",
        }
    }

    /// The preset of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Its weights; they sum to 1.
    pub const fn weights(self) -> Weights {
        let (cost, latency, health, quality) = match self {
            Self::Balanced => (0.30, 0.25, 0.20, 0.20),
            Self::Cheap => (0.55, 0.10, 0.15, 0.15),
            Self::Fast => (0.10, 0.55, 0.15, 0.15),
            Self::Best => (0.10, 0.10, 0.15, 0.60),
        };
        Weights { cost, latency, health, quality, quota: 0.05 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_sums_to_one_and_is_found_by_its_name() {
        for preset in Preset::ALL {
            assert!((preset.weights().sum() - 1.0).abs() < 1e-12, "{preset:?}");
            assert_eq!(Preset::from_name(preset.name()), Some(preset));
        }
    }

    #[test]
    fn only_proportions_matter_and_a_bad_weight_is_named() {
        let tens = Weights::default().map(|weight| weight * 10.0).checked().unwrap();
        assert!((tens.cost - 0.30).abs() < 1e-12 && (tens.sum() - 1.0).abs() < 1e-12);
        for bad in [-0.1, f64::NAN, f64::INFINITY] {
            let invalid = Weights { quality: bad, ..Weights::default() }.checked().unwrap_err();
            assert_eq!(invalid.to_string(), "the weight `quality` must be a number from 0 to 1000");
        }
        assert_eq!(Weights::NONE.checked(), Err(InvalidWeights::AllZero));
    }
}
