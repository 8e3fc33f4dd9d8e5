//! Budgets and their accounts of the running period.

use crate::{failure, metrics::Name, service::Dependencies};
use signalbox_api::v1::{
    Budget, BudgetStatus, Tenant,
    budget::{Enforcement, Period as WirePeriod},
};
use signalbox_budgeting::period::{Period, Running, Zone, ZoneChange};
pub(crate) use signalbox_budgeting::threshold::Threshold as CoreThreshold;
use signalbox_ports::ledger::{Account, AccountKey, Opening};
use signalbox_types::Failure;
use std::time::SystemTime;

mod effect;

pub(crate) use effect::{Effect, action, threshold, thresholds};

/// A budget and its running period.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The budget.
    pub(crate) budget: Budget,
    /// Its period.
    pub(crate) running: Running,
}

impl Line {
    /// The period of a tenant's budget that runs now.
    pub(crate) fn new(tenant: &Tenant, budget: Budget, now: SystemTime) -> Self {
        let running = running(tenant, period(budget.period()), now);
        Self { budget, running }
    }

    /// When it starts anew.
    pub(crate) fn period(&self) -> Period {
        period(self.budget.period())
    }

    /// Whether more than the limit is never granted.
    pub(crate) fn is_hard(&self) -> bool {
        self.budget.enforcement() != Enforcement::Soft
    }

    /// Its tenant and its id.
    pub(crate) fn name(&self) -> Name {
        (self.budget.tenant_id.clone(), self.budget.budget_id.clone())
    }

    /// Names the account.
    pub(crate) fn key(&self) -> AccountKey {
        AccountKey {
            tenant_id: self.budget.tenant_id.clone(),
            budget_id: self.budget.budget_id.clone(),
            period_id: self.running.id.clone(),
        }
    }

    /// The account, opened where it is not there.
    pub(crate) fn opening(&self) -> Opening {
        Opening { key: self.key(), limit: self.budget.limit_nano_eur, hard: self.is_hard() }
    }

    /// The budget with where it stands, and what it does by that.
    pub(crate) fn told(&self, account: &Account, effect: Effect) -> Budget {
        let is_prepaid = self.running.end.is_none();
        let status = BudgetStatus {
            period_id: self.running.id.clone(),
            // A prepaid budget begins when it is made, not at the beginning of time.
            period_start_time: if is_prepaid {
                self.budget.create_time
            } else {
                Some(self.running.start.into())
            },
            period_end_time: self.running.end.map(Into::into),
            limit_nano_eur: account.limit,
            settled_nano_eur: account.settled,
            reserved_nano_eur: account.reserved,
            leased_nano_eur: account.leased,
            free_nano_eur: account.free(),
            threshold: effect.threshold,
            action: effect.action as i32,
            tier: effect.tier as i32,
        };
        Budget { status: Some(status), ..self.budget.clone() }
    }
}

/// When a budget starts anew.
pub(crate) fn period(wire: WirePeriod) -> Period {
    match wire {
        WirePeriod::Daily => Period::Daily,
        WirePeriod::Monthly => Period::Monthly,
        WirePeriod::Prepaid | WirePeriod::Unspecified => Period::Prepaid,
    }
}

fn running(tenant: &Tenant, period: Period, now: SystemTime) -> Running {
    let zone = zone(&tenant.time_zone);
    let changed = tenant.time_zone_change_time.and_then(|time| SystemTime::try_from(time).ok());
    match changed {
        Some(at) => {
            period.at_after(now, &ZoneChange { from: self::zone(&tenant.former_time_zone), to: zone, at })
        }
        None => period.at(now, &zone),
    }
}

/// Names are checked before they are stored; one that a later table no longer has counts as UTC.
fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap_or_else(|error| {
        tracing::error!(%error, "a tenant's days begin at midnight UTC");
        Zone::utc()
    })
}

/// A budget with where it stands.
pub(crate) async fn told(
    dependencies: &Dependencies,
    tenant: &Tenant,
    budget: Budget,
) -> Result<Budget, Failure> {
    let told = all_told(dependencies, tenant, vec![budget.clone()]).await?;
    Ok(told.into_iter().next().unwrap_or(budget))
}

/// Budgets of a tenant with where they stand.
pub(crate) async fn all_told(
    dependencies: &Dependencies,
    tenant: &Tenant,
    budgets: Vec<Budget>,
) -> Result<Vec<Budget>, Failure> {
    let now = dependencies.clock.now();
    let lines: Vec<Line> = budgets.into_iter().map(|budget| Line::new(tenant, budget, now)).collect();
    let openings: Vec<Opening> = lines.iter().map(Line::opening).collect();
    let accounts = dependencies.ledger.accounts(&openings).await.map_err(failure::of_ledger)?;
    let active = dependencies.feed.active();
    let told = |(line, account): (&Line, &Account)| line.told(account, active.effect(line, account, now));
    Ok(lines.iter().zip(&accounts).map(told).collect())
}

/// The lines that a request falls under, by budget id: the tenant's, its key's and its scene's.
pub(crate) async fn lines(
    dependencies: &Dependencies,
    tenant: &Tenant,
    (key_id, scene): (&str, &str),
) -> Result<Vec<Line>, Failure> {
    let now = dependencies.clock.now();
    let budgets = dependencies.tenants.budgets(&tenant.tenant_id).await.map_err(failure::of_reading)?;
    let concerns = |budget: &Budget| match (budget.key_id.as_str(), budget.scene.as_str()) {
        ("", "") => true,
        ("", of) => of == scene,
        (of, _) => of == key_id,
    };
    let mut lines: Vec<Line> =
        budgets.into_iter().filter(concerns).map(|budget| Line::new(tenant, budget, now)).collect();
    // Accounts are locked in this order, by everybody.
    lines.sort_by(|one, other| one.budget.budget_id.cmp(&other.budget.budget_id));
    Ok(lines)
}
