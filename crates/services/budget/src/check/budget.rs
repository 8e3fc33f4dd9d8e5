//! Budgets.

use super::texts::{amount, plain_id, text};
use crate::accounts;
use signalbox_api::{
    convert::{Violations, known_enum},
    v1::{
        Budget, Tier,
        budget::{Action, Enforcement, Period, Threshold},
    },
};

/// Checks a budget that is to be made.
pub(crate) fn budget(budget: &Budget, violations: &mut Violations) {
    plain_id(&budget.budget_id, "budget.budget_id", violations);
    plain_id(&budget.tenant_id, "budget.tenant_id", violations);
    text(&budget.scene, 256, "budget.scene", violations);
    let one = budget.key_id.is_empty() || budget.scene.is_empty();
    violations.check(
        one,
        || "budget.scene",
        || "cannot be set together with key_id: a budget is for one of them",
    );
    let period = said::<Period>(budget.period, "budget.period", "daily, monthly or prepaid", violations);
    changeable(budget, period, violations);
}

/// Checks what an update may change.
pub(crate) fn thresholds(budget: &Budget, violations: &mut Violations) {
    changeable(budget, budget.period(), violations);
}

fn changeable(budget: &Budget, period: Period, violations: &mut Violations) {
    amount(budget.limit_nano_eur, "budget.limit_nano_eur", violations);
    said::<Enforcement>(budget.enforcement, "budget.enforcement", "hard or soft", violations);
    let told: Vec<_> =
        budget.thresholds.iter().enumerate().map(|(index, one)| threshold(one, index, violations)).collect();
    let Some(list) = told.into_iter().collect() else { return };
    if let Err(found) = accounts::thresholds(list, accounts::period(period), budget.enforcement()) {
        for one in found {
            violations.add(format!("budget.{}", one.field), one.description);
        }
    }
}

/// A threshold; `None` where it is a violation that it does not say what happens.
fn threshold(wire: &Threshold, index: usize, violations: &mut Violations) -> Option<accounts::CoreThreshold> {
    let field = |name: &str| format!("budget.thresholds[{index}].{name}");
    let words = "notify, limit tier, cache or batch only, free only or refuse";
    let action = said::<Action>(wire.action, &field("action"), words, violations);
    if action == Action::LimitTier {
        said::<Tier>(wire.tier, &field("tier"), "the best tier still allowed", violations);
    } else {
        violations.check(wire.tier == 0, || field("tier"), || "is only for ACTION_LIMIT_TIER");
    }
    accounts::threshold(wire)
}

/// An enumeration's value that must be said.
fn said<E: TryFrom<i32> + Default + PartialEq + Copy>(
    value: i32,
    field: &str,
    words: &str,
    violations: &mut Violations,
) -> E {
    let known = known_enum::<E>(value, field, violations);
    let missing = E::try_from(value).is_ok() && known == E::default();
    violations.check(!missing, || field, || format!("is required: {words}"));
    known
}
