//! What operators are told, once.

use super::{Effect, Position, Thresholds};
use std::collections::BTreeSet;

/// A threshold was reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Notice {
    /// Which share of the limit.
    pub used_share: f64,
    /// What it does.
    pub effect: Effect,
}

/// Which thresholds of a budget were told of in the running period.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Noticed {
    period_id: String,
    /// Shares, in millionths.
    levels: BTreeSet<u32>,
}

impl Noticed {
    /// Thresholds that were reached since the last look, lowest first. Each is told once a period and level, also where
    /// the use falls and rises again, or the threshold's effect was changed.
    pub fn update(&mut self, thresholds: &Thresholds, at: &Position<'_>) -> Vec<Notice> {
        if self.period_id != at.period_id {
            at.period_id.clone_into(&mut self.period_id);
            self.levels.clear();
        }
        let mut found: Vec<Notice> = Vec::new();
        for one in thresholds.list.iter().filter(|one| one.is_reached(at)) {
            match found.last_mut() {
                Some(last) if level(last.used_share) == level(one.used_share) => {
                    last.effect = last.effect.max(one.effect);
                }
                _ => found.push(Notice { used_share: one.used_share, effect: one.effect }),
            }
        }
        found.retain(|notice| self.levels.insert(level(notice.used_share)));
        found
    }
}

fn level(share: f64) -> u32 {
    (share * 1e6).round() as u32
}
