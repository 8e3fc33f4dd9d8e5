//! Which thresholds are in force, without flickering.

use super::{Effect, Percent, Position, Threshold, Thresholds, effect::cheaper};
use signalbox_types::Tier;

/// How far below its share a threshold lets go.
const SLACK: f64 = 0.02;

/// What a budget does now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InForce {
    /// The strictest effect.
    pub effect: Effect,
    /// The share it begins at.
    pub used_share: f64,
    /// The best tier left, by this or by another threshold in force: the batch lane, too, is bound by it.
    pub tier: Option<Tier>,
}

impl InForce {
    /// As people are told, as in `monthly 90%`.
    pub fn name(&self, budget_id: &str) -> String {
        format!("{budget_id} {}", Percent(self.used_share))
    }
}

/// Remembers which thresholds of a budget act. One that does lets go only when the use falls two points of share below it
/// (as holds come back all the time), when its part of the period is over, or with a new period.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Latch {
    period_id: String,
    acting: Vec<Threshold>,
}

impl Latch {
    /// What is in force now; `None` for nothing that acts.
    pub fn update(&mut self, thresholds: &Thresholds, at: &Position<'_>) -> Option<InForce> {
        if self.period_id != at.period_id {
            at.period_id.clone_into(&mut self.period_id);
            self.acting.clear();
        }
        let is_kept = |one: &Threshold| {
            at.used_share >= one.used_share - SLACK
                && one.is_in_time(at.elapsed_share)
                && self.acting.contains(one)
        };
        let is_in_force = |one: &&Threshold| one.effect.acts() && (one.is_reached(at) || is_kept(one));
        self.acting = thresholds.list.iter().filter(is_in_force).copied().collect();
        in_force(&self.acting)
    }
}

/// Of two that do the same the higher one is named.
fn in_force(acting: &[Threshold]) -> Option<InForce> {
    let strictest = acting.iter().max_by_key(|one| one.effect)?;
    let tier = acting.iter().fold(None, |tier, one| cheaper(tier, one.effect.tier()));
    Some(InForce { effect: strictest.effect, used_share: strictest.used_share, tier })
}
