//! What is measured of a model.

use crate::{
    scale::{Reading, Scale},
    tally::Tally,
};

/// What is measured of a model, or of all models of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Share of requests first sent there that another candidate served.
    FallbackRate,
    /// Share of calls that failed by the vendor's fault.
    FailureRate,
    /// Cost of a call, in nano-EUR.
    CostPerCall,
    /// Tokens of an answer.
    OutputTokens,
    /// Share of structured answers that were not valid.
    JsonFailureRate,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::FallbackRate, Self::FailureRate, Self::CostPerCall, Self::OutputTokens, Self::JsonFailureRate];

    /// The scale on which its values are compared.
    pub(crate) fn scale(self) -> Scale {
        match self {
            Self::FallbackRate | Self::FailureRate | Self::JsonFailureRate => Scale::Share,
            Self::CostPerCall | Self::OutputTokens => Scale::Ratio,
        }
    }

    /// What a minute says of it; nothing where there was nothing to measure.
    pub(crate) fn read(self, tally: &Tally) -> Option<Reading> {
        let (sum, of) = match self {
            Self::FallbackRate => (tally.fell_back as f64, tally.first_choices),
            Self::FailureRate => (tally.failed as f64, tally.calls),
            Self::CostPerCall => (tally.cost_nano_eur as f64, tally.priced),
            Self::OutputTokens => (tally.output_tokens as f64, tally.answered),
            Self::JsonFailureRate => (tally.invalid as f64, tally.structured),
        };
        self.scale().reading(sum, of as f64)
    }
}
