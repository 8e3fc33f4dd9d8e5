//! Budgets that had too little for somebody, by name: there are many of them, and few of these at a time.

use prometheus::GaugeVec;
use signalbox_kit::telemetry::metrics;
use signalbox_types::Failure;
use std::{
    collections::HashSet,
    sync::{LazyLock, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

/// As many are told of by one process, the first ones.
const MOST: usize = 1_000;

static LAST: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::number(
        "signalbox_budget_last_refusal_timestamp_seconds",
        "When a request was last refused because this budget had too little for it, in seconds since the epoch.",
        &["tenant", "budget"],
    )
});
static KNOWN: LazyLock<Mutex<HashSet<(String, String)>>> = LazyLock::new(Mutex::default);

pub(super) fn register() {
    LazyLock::force(&LAST);
}

/// A tenant's request was refused for want of money; the failure says of which budget.
pub(crate) fn refused(tenant: &str, failure: &Failure, now: SystemTime) {
    let of_budget = |subject: &str| {
        let budget = subject.strip_prefix("tenant/")?.strip_prefix(tenant)?.strip_prefix("/budget/")?;
        Some(budget.to_owned())
    };
    let violations = failure.quota.iter().flat_map(|quota| &quota.violations);
    for budget in violations.filter_map(|violation| of_budget(&violation.subject)) {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains(&(tenant.to_owned(), budget.clone())) {
            continue;
        }
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        LAST.with_label_values(&[tenant, &budget]).set(seconds);
        known.insert((tenant.to_owned(), budget));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_types::{ErrorReason, Quota, QuotaViolation};
    use std::time::Duration;

    fn refusal(subject: &str) -> Failure {
        let violation = QuotaViolation { subject: subject.to_owned(), description: String::new() };
        let quota = Quota { violations: vec![violation], ..Quota::default() };
        Failure { quota: Some(Box::new(quota)), ..Failure::new(ErrorReason::BudgetExhausted, "short") }
    }

    #[test]
    fn the_budget_that_was_short_is_told_with_the_time() {
        refused("acme", &refusal("tenant/acme/budget/monthly"), UNIX_EPOCH + Duration::from_secs(1_700));
        refused("acme", &refusal("tenant/acme/rate"), UNIX_EPOCH);
        let text = metrics::text();
        let told: Vec<_> =
            text.lines().filter(|line| line.starts_with("signalbox_budget_last_refusal")).collect();
        let series =
            r#"signalbox_budget_last_refusal_timestamp_seconds{budget="monthly",tenant="acme"} 1700"#;
        assert_eq!(told, [series]);
    }
}
