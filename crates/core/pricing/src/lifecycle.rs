//! From active to shut down.

use crate::Day;
use signalbox_types::ModelRef;

/// How a vendor stands behind a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ModelStatus {
    /// Offered and kept up.
    #[default]
    Active,
    /// Served, but no longer the vendor's current offer.
    Legacy,
    /// Served until a day that was announced, or soon will be.
    Deprecated,
    /// No longer served.
    Retired,
}

impl ModelStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Active, Self::Legacy, Self::Deprecated, Self::Retired];

    /// The word used in the catalogue.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Legacy => "legacy",
            Self::Deprecated => "deprecated",
            Self::Retired => "retired",
        }
    }
}

/// Where a model is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lifecycle {
    /// As known when the catalogue was written.
    pub status: ModelStatus,
    /// The first day on which the vendor no longer serves it.
    pub shutdown: Option<Day>,
    /// What the vendor says to use instead.
    pub successor: Option<ModelRef>,
}

impl Lifecycle {
    /// The status on a day: a model whose shutdown has come is retired, whatever the catalogue says.
    pub fn status_on(&self, day: Day) -> ModelStatus {
        if self.shutdown.is_some_and(|shutdown| shutdown <= day) { ModelStatus::Retired } else { self.status }
    }

    /// Whether the vendor serves it on a day.
    pub fn served_on(&self, day: Day) -> bool {
        self.status_on(day) != ModelStatus::Retired
    }
}
