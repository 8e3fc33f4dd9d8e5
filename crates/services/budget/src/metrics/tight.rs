//! Budgets that somebody should look at, by name. There are many tenants, and few of these.

use prometheus::GaugeVec;
use signalbox_kit::telemetry::metrics;
use std::{collections::BTreeMap, sync::LazyLock};

/// From this share on a budget is shown.
const NEARLY_USED: f64 = 0.75;
/// As many are shown at most, those that are used up most.
const MOST: usize = 1_000;

static USED: LazyLock<GaugeVec> = LazyLock::new(|| {
    metrics::number(
        "signalbox_budget_used_share",
        "Share of its limit that is spent and reserved, of budgets in use of which that is three quarters or more.",
        &["tenant", "budget"],
    )
});
pub(super) fn register() {
    LazyLock::force(&USED);
}

/// A budget: its tenant and its id.
pub(crate) type Name = (String, String);

/// What is shown. A series is gone when its budget is no longer among those that count.
#[derive(Debug, Default)]
pub(crate) struct Tight(BTreeMap<Name, f64>);

impl Tight {
    /// These budgets are used so far.
    pub(crate) fn used(&mut self, budgets: Vec<(Name, f64)>) {
        let mut nearly: Vec<_> = budgets.into_iter().filter(|(_, share)| *share >= NEARLY_USED).collect();
        nearly.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        nearly.truncate(MOST);
        let now: BTreeMap<_, _> = nearly.into_iter().collect();
        for (tenant, budget) in self.0.keys().filter(|name| !now.contains_key(*name)) {
            // One that is not there is as good.
            let _gone = USED.remove_label_values(&[tenant, budget]);
        }
        for ((tenant, budget), share) in &now {
            USED.with_label_values(&[tenant, budget]).set(*share);
        }
        self.0 = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Vec<String> {
        let text = metrics::text();
        text.lines()
            .filter(|line| line.starts_with("signalbox_budget_used_share{"))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn only_budgets_that_are_nearly_used_up_are_shown_and_only_for_as_long() {
        let mut tight = Tight::default();
        let of = |budget: &str, share| (("acme".to_owned(), budget.to_owned()), share);
        tight.used(vec![of("day", 0.5), of("month", 0.8)]);
        assert_eq!(series(), [r#"signalbox_budget_used_share{budget="month",tenant="acme"} 0.8"#]);
        tight.used(vec![of("day", 0.9), of("month", 0.1)]);
        assert_eq!(series(), [r#"signalbox_budget_used_share{budget="day",tenant="acme"} 0.9"#]);
        tight.used((0..2_000).map(|n| of(&n.to_string(), 0.75 + f64::from(n) / 10_000.0)).collect());
        assert_eq!(series().len(), MOST);
        assert!(series().iter().any(|line| line.contains(r#"budget="1999""#)), "those used up most");
    }
}
