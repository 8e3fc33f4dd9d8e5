//! What is known of a model.

use signalbox_pricing::Lifecycle;
use signalbox_routing::Pace;
use signalbox_types::{ModelFacts, ModelRef, Tier};
use std::{collections::BTreeMap, sync::Arc};

/// A model of the catalogue.
#[derive(Debug, Clone)]
pub struct CatalogModel {
    /// Its name. For unlisted models of a vendor that takes any, the model half is `*`.
    pub reference: ModelRef,
    /// What it can do and how it wants to be spoken to.
    pub facts: ModelFacts,
    /// Where it is in its life; ask it with the day of the request.
    pub lifecycle: Lifecycle,
    /// Its price class.
    pub tier: Option<Tier>,
    /// What it may be used for, as tenants' data policies name it: its own labels and its vendor's.
    pub labels: Arc<[Arc<str>]>,
    /// How good its answers are expected to be.
    pub quality: QualityPriors,
    /// How fast it is expected to be.
    pub pace: Option<Pace>,
    /// The operator's preference, a power of two on the score from -3 to 3: the model's and its vendor's together.
    pub priority: f64,
    /// Where its facts are from; empty where not said.
    pub source: String,
    /// When they were right; empty where not said.
    pub as_of: String,
}

/// Share of good answers to reckon with before any are seen, 0 to 1.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QualityPriors {
    pub(super) by_task: BTreeMap<String, f64>,
    pub(super) otherwise: Option<f64>,
}

impl QualityPriors {
    /// The prior for a task type: its own, else the model's for all work, else what is assumed of its tier; `None`
    /// where nothing is said.
    pub fn of(&self, task_type: &str) -> Option<f64> {
        self.by_task.get(task_type).copied().or(self.otherwise)
    }
}
