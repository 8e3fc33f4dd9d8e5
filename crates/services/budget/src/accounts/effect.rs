//! What a budget does on the way to its limit.

use super::Line;
use signalbox_api::v1::{
    Tier as WireTier,
    budget::{Action, Enforcement as WireEnforcement, Threshold as WireThreshold},
};
use signalbox_budgeting::{
    period::Period,
    threshold::{Effect as Done, Enforcement, InForce, Latch, Position, Threshold, Thresholds, used_share},
};
use signalbox_ports::ledger::Account;
use signalbox_types::{FieldViolation, Tier};
use std::time::SystemTime;

/// The threshold in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Which, as in `monthly 90%`; empty for none.
    pub(crate) threshold: String,
    /// What it does.
    pub(crate) action: Action,
    /// Best tier still allowed, by this or by another in force.
    pub(crate) tier: WireTier,
}

impl Effect {
    /// What is in force of a budget. `latch` remembers what was before.
    pub(crate) fn of(line: &Line, account: &Account, latch: &mut Latch, now: SystemTime) -> Self {
        let found = line.thresholds().and_then(|all| latch.update(&all, &line.position(account, now)));
        Self::told(&line.budget.budget_id, found)
    }

    /// Nothing acts.
    pub(crate) fn none() -> Self {
        Self { threshold: String::new(), action: Action::Unspecified, tier: WireTier::Unspecified }
    }

    fn told(budget_id: &str, found: Option<InForce>) -> Self {
        let threshold = found.map(|found| found.name(budget_id)).unwrap_or_default();
        let (action, tier) = match found {
            None => (Action::Unspecified, None),
            Some(found) => (action(found.effect), found.tier),
        };
        let tier = tier.map_or(WireTier::Unspecified, signalbox_api::convert::tier_to_proto);
        Self { threshold, action, tier }
    }
}

impl Line {
    /// Its thresholds; `None` where what is stored makes no sense, which is checked before it is.
    pub(crate) fn thresholds(&self) -> Option<Thresholds> {
        let list: Option<Vec<_>> = self.budget.thresholds.iter().map(threshold).collect();
        thresholds(list?, self.period(), self.budget.enforcement()).ok()
    }

    /// Where it stands.
    pub(crate) fn position(&self, account: &Account, now: SystemTime) -> Position<'_> {
        let used = account.settled.saturating_add(account.reserved);
        Position {
            period_id: &self.running.id,
            used_share: used_share(used, account.limit),
            elapsed_share: self.running.elapsed_share(now),
        }
    }
}

/// Checks thresholds.
pub(crate) fn thresholds(
    list: Vec<Threshold>,
    period: Period,
    enforcement: WireEnforcement,
) -> Result<Thresholds, Vec<FieldViolation>> {
    let enforcement = match enforcement {
        WireEnforcement::Soft => Enforcement::Soft,
        WireEnforcement::Hard | WireEnforcement::Unspecified => Enforcement::Hard,
    };
    Thresholds::new(list, period, enforcement)
}

/// A threshold from the wire; `None` where it does not say what happens.
pub(crate) fn threshold(wire: &WireThreshold) -> Option<Threshold> {
    let effect = match Action::try_from(wire.action).ok()? {
        Action::Unspecified => return None,
        Action::Notify => Done::Notify,
        Action::LimitTier => Done::LimitTier(tier(wire.tier)?),
        Action::CacheOrBatchOnly => Done::CacheOrBatchOnly,
        Action::FreeOnly => Done::FreeOnly,
        Action::Refuse => Done::Refuse,
    };
    Some(Threshold { used_share: wire.used_share, before_elapsed_share: wire.before_elapsed_share, effect })
}

fn tier(wire: i32) -> Option<Tier> {
    match WireTier::try_from(wire).ok()? {
        WireTier::Unspecified => None,
        WireTier::Premium => Some(Tier::Premium),
        WireTier::Standard => Some(Tier::Standard),
        WireTier::Economy => Some(Tier::Economy),
    }
}

/// What a threshold does, on the wire.
pub(crate) fn action(effect: Done) -> Action {
    match effect {
        Done::Notify => Action::Notify,
        Done::LimitTier(_) => Action::LimitTier,
        Done::CacheOrBatchOnly => Action::CacheOrBatchOnly,
        Done::FreeOnly => Action::FreeOnly,
        Done::Refuse => Action::Refuse,
    }
}
