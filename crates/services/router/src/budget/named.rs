//! Refusals for a budget's sake, which say whose.

use super::Purse;
use crate::plan::Refused;
use signalbox_api::v1;
use signalbox_ports::Standing;
use signalbox_types::{ErrorReason, Failure, Money, Quota, QuotaViolation, shown};
use std::time::Duration;

/// When a request may fit that only others under way leave no room for.
const SOON: Duration = Duration::from_secs(1);

impl Purse {
    /// Why nobody can serve: in the words of the budget that was short, where it is for money.
    pub(super) fn told(
        &self,
        mut refused: Box<Refused>,
        short: Option<(Failure, v1::Decision)>,
    ) -> Box<Refused> {
        let is_for_money = refused.failure.reason == ErrorReason::BudgetExhausted;
        match short.filter(|_| is_for_money) {
            Some((failure, _)) => refused.failure = failure,
            None => refused.failure = self.named(refused.failure, refused.too_dear),
        }
        refused
    }

    /// The failure with the budget for whose sake it is, where there is one. `needed`: what it would have to pay.
    pub(crate) fn named(&self, failure: Failure, needed: Option<Money>) -> Failure {
        if failure.reason != ErrorReason::BudgetExhausted || failure.quota.is_some() {
            return failure;
        }
        let Standing { acting, tightest, allowance, held, effect, .. } = &self.standing;
        let left = allowance.unwrap_or_default();
        let (budget_id, description) = match (acting, tightest) {
            (Some(acting), _) => (acting, format!("the threshold {} is reached", effect.threshold)),
            (None, Some(tightest)) if *held > Money::ZERO => {
                (tightest, format!("{left} is left, {held} is held for requests under way"))
            }
            (None, Some(tightest)) => (tightest, format!("{left} is left")),
            (None, None) => return failure,
        };
        let subject = format!("tenant/{}/budget/{budget_id}", self.payer.tenant_id);
        let quota = Quota {
            violations: vec![QuotaViolation { subject, description }],
            left: [("available_nano_eur".to_owned(), left.nano_eur().to_string())].into(),
        };
        // What others hold and do not need comes back.
        let fits_soon = acting.is_none() && needed.is_some_and(|needed| needed <= left + *held);
        let retry_after = failure.retry_after.or_else(|| fits_soon.then_some(SOON));
        let message = format!("{}; the budget is `{}`", failure.message, shown(budget_id));
        Failure { message, retry_after, quota: Some(Box::new(quota)), ..failure }
    }
}
