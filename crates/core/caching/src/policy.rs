//! What is configured for a task.
//!
//! A policy begins with what is built in for the task's name. Over it are laid, in this order, the deployment's defaults,
//! the task's own section, and the tenant's: each says only what differs. A client may only tighten.

#[cfg(test)]
mod tests;

use crate::judge::Judge;
use signalbox_types::FieldViolation;
use std::{collections::BTreeMap, time::Duration};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const WEEK: Duration = Duration::from_hours(7 * 24);

/// Longest that an answer is kept.
pub const LONGEST_TTL: Duration = Duration::from_hours(30 * 24);
/// Longest that an answer is kept where it may be found by meaning: texts can be guessed from vectors.
pub const LONGEST_SEMANTIC_TTL: Duration = WEEK;
/// Lowest similarity that may be configured; below it texts have little in common but their language.
pub const LOWEST_FLOOR: f32 = 0.5;

/// How requests are matched by meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Semantic {
    /// Not at all.
    #[default]
    Off,
    /// Matched and judged, never served.
    Shadow,
    /// Served where the evidence allows.
    On,
}

/// What holds for a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskPolicy {
    /// Whether answers are kept and given again at all. Where not, nothing else is done either.
    pub exact: bool,
    /// Whether also to requests that differ only in how they are typeset: spaces, and forms of quotes and dashes.
    pub normalized: bool,
    /// Whether also to requests that say the same in other words.
    pub semantic: Semantic,
    /// Least similarity of a near request, 0 to 1.
    pub floor: f32,
    /// The same, by embedder: similarities of two embedders cannot be compared.
    pub floors: BTreeMap<String, f32>,
    /// How long an answer is kept.
    pub ttl: Duration,
    /// Share of hits by meaning that must be right, with 95% confidence.
    pub precision_target: f64,
    /// How the answer to a near request is compared with its own.
    pub judge: Judge,
    /// Highest temperature that may have a cached answer. Who asks for more asks for variety.
    pub temperature_at_most: f64,
}

impl Default for TaskPolicy {
    fn default() -> Self {
        Self {
            exact: true,
            normalized: false,
            semantic: Semantic::Off,
            floor: 0.95,
            floors: BTreeMap::new(),
            ttl: HOUR,
            precision_target: 0.99,
            judge: Judge::Text,
            temperature_at_most: 0.3,
        }
    }
}

impl TaskPolicy {
    /// What is built in for a task's name. Of tasks nobody knows, and of requests that name none, only exact matches.
    pub fn built_in(task_type: &str) -> Self {
        let plain = Self::default();
        match task_type {
            "classification" | "classify" => {
                Self { semantic: Semantic::Shadow, floor: 0.92, ttl: DAY, judge: Judge::Label, ..plain }
            }
            "tags" | "tagging" => {
                Self { semantic: Semantic::Shadow, floor: 0.92, ttl: DAY, judge: Judge::Tags, ..plain }
            }
            "extraction" => Self { ttl: DAY, judge: Judge::Json, ..plain },
            "summary" | "summarise" | "summarize" => Self { ttl: DAY, ..plain },
            "translation" | "translate" => Self { ttl: WEEK, ..plain },
            // Variety is wanted of these, but not of a retry.
            "headline" | "headlines" => Self { temperature_at_most: 1.0, ..plain },
            "chat" | "agent" | "agents" => Self { exact: false, ..plain },
            _ => plain,
        }
    }

    /// Whether a task may ever be matched by meaning. Translations may not: one word changes them.
    pub fn may_match_by_meaning(task_type: &str) -> bool {
        !matches!(task_type, "translation" | "translate")
    }

    /// A task's policy: what is built in, and what is configured over it, the most general first.
    pub fn of<'a>(task_type: &str, configured: impl IntoIterator<Item = &'a Overrides>) -> Self {
        let mut policy = configured.into_iter().fold(Self::built_in(task_type), Self::with);
        if !Self::may_match_by_meaning(task_type) {
            policy.semantic = Semantic::Off;
        }
        policy.ttl = policy.ttl.min(policy.longest_ttl());
        policy
    }

    fn with(self, over: &Overrides) -> Self {
        let Overrides {
            exact,
            normalized,
            semantic,
            floor,
            floors,
            ttl,
            precision_target,
            judge,
            temperature_at_most,
        } = over;
        let mut by_embedder = self.floors;
        by_embedder.extend(floors.iter().map(|(embedder, floor)| (embedder.clone(), *floor)));
        Self {
            exact: exact.unwrap_or(self.exact),
            normalized: normalized.unwrap_or(self.normalized),
            semantic: semantic.unwrap_or(self.semantic),
            floor: floor.unwrap_or(self.floor),
            floors: by_embedder,
            ttl: ttl.unwrap_or(self.ttl),
            precision_target: precision_target.unwrap_or(self.precision_target),
            judge: judge.unwrap_or(self.judge),
            temperature_at_most: temperature_at_most.unwrap_or(self.temperature_at_most),
        }
    }

    /// Least similarity, as an embedder sees it.
    pub fn floor_of(&self, embedder: &str) -> f32 {
        self.floors.get(embedder).copied().unwrap_or(self.floor)
    }

    fn longest_ttl(&self) -> Duration {
        if self.semantic == Semantic::Off { LONGEST_TTL } else { LONGEST_SEMANTIC_TTL }
    }
}

/// What a section of the configuration says; `None` where it says nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// See [`TaskPolicy::exact`].
    pub exact: Option<bool>,
    /// See [`TaskPolicy::normalized`].
    pub normalized: Option<bool>,
    /// See [`TaskPolicy::semantic`].
    pub semantic: Option<Semantic>,
    /// See [`TaskPolicy::floor`].
    pub floor: Option<f32>,
    /// See [`TaskPolicy::floors`]; added to what more general sections say.
    pub floors: BTreeMap<String, f32>,
    /// See [`TaskPolicy::ttl`].
    pub ttl: Option<Duration>,
    /// See [`TaskPolicy::precision_target`].
    pub precision_target: Option<f64>,
    /// See [`TaskPolicy::judge`].
    pub judge: Option<Judge>,
    /// See [`TaskPolicy::temperature_at_most`].
    pub temperature_at_most: Option<f64>,
}

impl Overrides {
    /// Everything that is wrong with a section, each with its field.
    pub fn violations(&self) -> Vec<FieldViolation> {
        let mut found = Vec::new();
        let mut check = |ok: bool, field: String, description: &str| {
            if !ok {
                found.push(FieldViolation { field, description: description.to_owned() });
            }
        };
        let is_floor = |floor: &f32| (LOWEST_FLOOR..=1.0).contains(floor);
        let floor_rule = "must be a similarity from 0.5 to 1";
        check(self.floor.as_ref().is_none_or(is_floor), "floor".to_owned(), floor_rule);
        for (embedder, floor) in &self.floors {
            check(is_floor(floor), format!("floors.{embedder}"), floor_rule);
        }
        let is_ttl = |ttl: Duration| !ttl.is_zero() && ttl <= LONGEST_TTL;
        check(self.ttl.is_none_or(is_ttl), "ttl".to_owned(), "must be more than 0 and at most 30 days");
        let is_target = |target: f64| (0.9..=0.999).contains(&target);
        check(
            self.precision_target.is_none_or(is_target),
            "precision_target".to_owned(),
            "must be a share from 0.9 to 0.999",
        );
        let is_temperature = |most: f64| (0.0..=2.0).contains(&most);
        check(
            self.temperature_at_most.is_none_or(is_temperature),
            "temperature_at_most".to_owned(),
            "must be a temperature from 0 to 2",
        );
        found
    }
}
