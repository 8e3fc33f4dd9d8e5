//! When a budget will be used up.

use super::budgets::find;
use crate::{accounts::Line, failure, service::Dependencies};
use signalbox_api::{
    convert::duration_to_proto,
    v1::{Budget, ForecastBudgetRequest, ForecastBudgetResponse, LedgerEntry, ledger_entry::Kind},
};
use signalbox_budgeting::forecast::{Spend, forecast as forecast_spend};
use signalbox_ports::ledger::EntryQuery;
use signalbox_types::{ErrorReason, Failure};
use std::time::{Duration, SystemTime};

/// How far back the rate of spending is taken from.
const RECENT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Entries that are looked at for it.
const LOOKED_AT: usize = 1_000;

/// Answers `ForecastBudget`.
pub(crate) async fn forecast(
    dependencies: &Dependencies,
    request: ForecastBudgetRequest,
) -> Result<ForecastBudgetResponse, Failure> {
    let ForecastBudgetRequest { tenant_id, budget_id } = request;
    let (tenant, budget) = find(dependencies, (&tenant_id, "tenant_id"), (&budget_id, "budget_id")).await?;
    let now = dependencies.clock.now();
    let line = Line::new(&tenant, budget, now);
    let accounts = dependencies.ledger.accounts(&[line.opening()]).await.map_err(failure::of_ledger)?;
    let account = accounts
        .first()
        .ok_or_else(|| Failure::new(ErrorReason::Internal, "the ledger does not know its own account"))?;
    let made = made(&line.budget).unwrap_or(line.running.start);
    let (recent, window) = recent(dependencies, &line.budget, made, now).await?;
    let spend = Spend { limit: account.limit, used: account.settled + account.reserved, recent, window };
    let told = forecast_spend(&spend, line.running.start.max(made), &line.running, now);
    Ok(ForecastBudgetResponse {
        exhaust_time: told.exhausted_at.map(Into::into),
        period_end_nano_eur: told.at_end,
        daily_nano_eur: told.daily,
        basis: Some(duration_to_proto(told.basis)),
    })
}

fn made(budget: &Budget) -> Option<SystemTime> {
    SystemTime::try_from(budget.create_time?).ok()
}

/// What was spent of late, and since when: for a week, since the budget was made, or as far as the newest entries go.
async fn recent(
    dependencies: &Dependencies,
    budget: &Budget,
    made: SystemTime,
    now: SystemTime,
) -> Result<(i64, Duration), Failure> {
    let query = EntryQuery {
        tenant_id: budget.tenant_id.clone(),
        budget_id: Some(budget.budget_id.clone()),
        kinds: vec![Kind::Settle, Kind::WriteOff],
        most: LOOKED_AT,
        ..EntryQuery::default()
    };
    let entries = dependencies.ledger.entries(&query).await.map_err(failure::of_ledger)?;
    let time = |entry: &LedgerEntry| SystemTime::try_from(entry.create_time?).ok();
    let oldest = entries.last().filter(|_| entries.len() >= LOOKED_AT).and_then(time);
    let since = [Some(made), now.checked_sub(RECENT), oldest].into_iter().flatten().max().unwrap_or(now);
    let late = entries.iter().filter(|entry| time(entry).is_some_and(|time| time >= since));
    let spent = late.fold(0_i64, |sum, entry| sum.saturating_add(entry.amount_nano_eur));
    Ok((spent, now.duration_since(since).unwrap_or_default()))
}
