//! Refusals for a budget's sake, which say whose.

use super::Purse;
use crate::plan::Refused;
use signalbox_api::v1;
use signalbox_ports::Standing;
use signalbox_types::{ErrorReason, Failure, Quota, QuotaViolation, shown};

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
            None => refused.failure = self.named(refused.failure),
        }
        refused
    }

    /// The failure with the budget for whose sake it is, where there is one.
    pub(crate) fn named(&self, failure: Failure) -> Failure {
        if failure.reason != ErrorReason::BudgetExhausted || failure.quota.is_some() {
            return failure;
        }
        let Standing { acting, tightest, allowance, effect, .. } = &self.standing;
        let left = allowance.unwrap_or_default();
        let (budget_id, description) = match (acting, tightest) {
            (Some(acting), _) => (acting, format!("the threshold {} is reached", effect.threshold)),
            (None, Some(tightest)) => (tightest, format!("{left} is left")),
            (None, None) => return failure,
        };
        let subject = format!("tenant/{}/budget/{budget_id}", self.payer.tenant_id);
        let quota = Quota {
            violations: vec![QuotaViolation { subject, description }],
            left: [("available_nano_eur".to_owned(), left.nano_eur().to_string())].into(),
        };
        let message = format!("{}; the budget is `{}`", failure.message, shown(budget_id));
        Failure { message, quota: Some(Box::new(quota)), ..failure }
    }
}
