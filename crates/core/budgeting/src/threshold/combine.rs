//! What several budgets do together.

use super::{Effect, InForce, effect};
use signalbox_types::Tier;

/// What a request's budgets do together.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The strictest effect of all.
    pub effect: Effect,
    /// Whose it is, as in `monthly 90%`.
    pub threshold: String,
    /// The best tier that any of them leaves; `None` for any.
    pub tier: Option<Tier>,
}

impl Standing {
    /// The tiers that are left, dearest first.
    pub fn tiers(&self) -> &'static [Tier] {
        effect::tiers(self.tier)
    }
}

/// The strictest of what the budgets of a tenant, a key and a scene do; the first of those that do the same is named.
/// `None` where nothing acts.
pub fn strictest<'a>(budgets: impl IntoIterator<Item = (&'a str, InForce)>) -> Option<Standing> {
    let mut budgets = budgets.into_iter();
    let (mut budget_id, mut strictest) = budgets.next()?;
    let mut tier = strictest.tier;
    for (id, one) in budgets {
        tier = effect::cheaper(tier, one.tier);
        if one.effect > strictest.effect {
            (budget_id, strictest) = (id, one);
        }
    }
    Some(Standing { effect: strictest.effect, threshold: strictest.name(budget_id), tier })
}
