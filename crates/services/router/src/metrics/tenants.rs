//! What tenants ask and what that costs. Tenants are many, and until there are API keys anybody may make some up: a process tells
//! the first ones apart, and all others are one.

use prometheus::{IntCounter, IntCounterVec};
use signalbox_api::v1::UsageEvent;
use signalbox_kit::telemetry::metrics;
use std::{
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

/// As many are told apart.
const MOST: usize = 200;
/// What all others go by; no tenant's id has a parenthesis.
const OTHERS: &str = "(others)";

static REQUESTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_tenant_requests_total",
        "Requests that have ended, by tenant; beyond the first 200 tenants of a process as (others).",
        &["tenant"],
    )
});
static COST: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_tenant_cost_nano_eur_total",
        "What requests cost in nano-EUR, failed calls and lost hedges included, by tenant as above.",
        &["tenant"],
    )
});

static KNOWN: LazyLock<RwLock<HashMap<String, Counters>>> = LazyLock::new(RwLock::default);

#[derive(Debug, Clone)]
struct Counters {
    requests: IntCounter,
    cost: IntCounter,
}

impl Counters {
    fn of(tenant: &str) -> Self {
        Self { requests: REQUESTS.with_label_values(&[tenant]), cost: COST.with_label_values(&[tenant]) }
    }

    fn count(&self, event: &UsageEvent) {
        let cost = event.cost.as_ref().map_or(0, |cost| cost.nano_eur);
        self.requests.inc();
        self.cost.inc_by(u64::try_from(cost).unwrap_or(0));
    }
}

pub(super) fn register() {
    LazyLock::force(&REQUESTS);
    LazyLock::force(&COST);
}

/// A request has ended.
pub(crate) fn ended(event: &UsageEvent) {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(counters) = known.get(&event.tenant_id) {
        return counters.count(event);
    }
    // Once it is full nobody waits for the lock.
    let is_full = known.len() >= MOST;
    drop(known);
    if is_full {
        return Counters::of(OTHERS).count(event);
    }
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let counters = match known.len() < MOST {
        true => {
            known.entry(event.tenant_id.clone()).or_insert_with(|| Counters::of(&event.tenant_id)).clone()
        }
        false => Counters::of(OTHERS),
    };
    counters.count(event);
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_api::v1::Cost;

    #[test]
    fn made_up_tenants_do_not_grow_the_metrics_without_end() {
        let of = |tenant: String| UsageEvent {
            tenant_id: tenant,
            cost: Some(Cost { nano_eur: 7, ..Cost::default() }),
            ..UsageEvent::default()
        };
        for n in 0..1_000 {
            ended(&of(format!("t{n}")));
            ended(&of("t0".to_owned()));
        }
        let text = metrics::text();
        let series = text.lines().filter(|line| line.starts_with("signalbox_tenant_requests_total{")).count();
        assert_eq!(series, MOST + 1);
        for line in [
            r#"signalbox_tenant_requests_total{tenant="t0"} 1001"#,
            r#"signalbox_tenant_requests_total{tenant="(others)"} 800"#,
            r#"signalbox_tenant_cost_nano_eur_total{tenant="(others)"} 5600"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}");
        }
    }
}
