//! Other limits for the running period: top-ups and overrides.

use super::budgets::{find, resource};
use crate::{
    accounts::{self, Line},
    audit::Deed,
    check::{check_amount, check_id, check_reason, check_required},
    failure,
    service::Dependencies,
};
use signalbox_api::{
    convert::Violations,
    v1::{
        Budget, LedgerEntry, OverrideBudgetRequest, OverrideBudgetResponse, Tenant, TopUpBudgetRequest,
        TopUpBudgetResponse, ledger_entry::Kind,
    },
};
use signalbox_ports::{
    Identity,
    ledger::{EntryQuery, LimitChange, LimitTo},
    tenants::Change,
};
use signalbox_types::{ErrorReason, Failure};

/// How the sources of overrides begin, before the id of their audit entry.
const OVERRIDE: &str = "override/";
/// Entries that are looked at together.
const AT_ONCE: usize = 1_000;

/// Answers `TopUpBudget`.
pub(crate) async fn top_up(
    dependencies: &Dependencies,
    actor: &Identity,
    request: TopUpBudgetRequest,
) -> Result<TopUpBudgetResponse, Failure> {
    let mut violations = Violations::default();
    check_ids(&request.tenant_id, &request.budget_id, &mut violations);
    check_required(&request.top_up_id, "top_up_id", &mut violations);
    check_amount(request.amount_nano_eur, "amount_nano_eur", &mut violations);
    violations.check(request.amount_nano_eur != 0, || "amount_nano_eur", || "is required");
    check_reason(&request.reason, &mut violations);
    violations.into_result()?;
    let (tenant, budget) = found(dependencies, &request.tenant_id, &request.budget_id).await?;
    let booked = booked(dependencies, &budget, &request.top_up_id).await?;
    let budget = if let Some(amount) = booked {
        refuse_another(amount, &request)?;
        accounts::told(dependencies, &tenant, budget).await?
    } else {
        let deed =
            Deed { actor, method: "TopUpBudget", tenant_id: &tenant.tenant_id, reason: &request.reason };
        let to = LimitTo::Raised(request.amount_nano_eur);
        change(dependencies, &deed, &tenant, budget, to, Some(request.top_up_id)).await?
    };
    Ok(TopUpBudgetResponse { budget: Some(budget) })
}

/// Answers `OverrideBudget`.
pub(crate) async fn override_limit(
    dependencies: &Dependencies,
    actor: &Identity,
    request: OverrideBudgetRequest,
) -> Result<OverrideBudgetResponse, Failure> {
    let mut violations = Violations::default();
    check_ids(&request.tenant_id, &request.budget_id, &mut violations);
    check_amount(request.limit_nano_eur, "limit_nano_eur", &mut violations);
    violations.check(!request.reason.is_empty(), || "reason", || "is required");
    check_reason(&request.reason, &mut violations);
    violations.into_result()?;
    let (tenant, budget) = found(dependencies, &request.tenant_id, &request.budget_id).await?;
    let deed =
        Deed { actor, method: "OverrideBudget", tenant_id: &tenant.tenant_id, reason: &request.reason };
    let to = LimitTo::Exactly(request.limit_nano_eur);
    let budget = change(dependencies, &deed, &tenant, budget, to, None).await?;
    Ok(OverrideBudgetResponse { budget: Some(budget) })
}

/// Changes the limit of the running period, writes it into the audit trail and tells the replicas.
async fn change(
    dependencies: &Dependencies,
    deed: &Deed<'_>,
    tenant: &Tenant,
    budget: Budget,
    to: LimitTo,
    source_id: Option<String>,
) -> Result<Budget, Failure> {
    let before = accounts::told(dependencies, tenant, budget.clone()).await?;
    let mut entry = deed.entry(&*dependencies.clock, resource(&budget.budget_id), Some(&before), None);
    let change = LimitChange {
        account: Line::new(tenant, budget.clone(), dependencies.clock.now()).opening(),
        to,
        source_id: source_id.unwrap_or_else(|| format!("{OVERRIDE}{}", entry.audit_id)),
        reason: deed.reason.to_owned(),
    };
    dependencies.ledger.set_limit(&change).await.map_err(failure::of_ledger)?;
    let after = accounts::told(dependencies, tenant, budget).await?;
    entry.after_json = deed.entry(&*dependencies.clock, String::new(), None, Some(&after)).after_json;
    dependencies.tenants.audit(&entry).await.map_err(failure::of_reading)?;
    let (tenant_id, budget_id) = (after.tenant_id.clone(), after.budget_id.clone());
    let told = dependencies.tenants.announce(&Change::Budget { tenant_id, budget_id }).await;
    told.map_err(failure::of_reading)?;
    Ok(after)
}

/// How much was booked for a top-up before, in whatever period.
async fn booked(
    dependencies: &Dependencies,
    budget: &Budget,
    top_up_id: &str,
) -> Result<Option<i64>, Failure> {
    let found = limit_entry(dependencies, budget, None, |entry| entry.source_id == top_up_id).await?;
    Ok(found.map(|entry| entry.amount_nano_eur))
}

/// The same id again is a second try only where it says the same.
fn refuse_another(amount: i64, request: &TopUpBudgetRequest) -> Result<(), Failure> {
    if amount == request.amount_nano_eur {
        return Ok(());
    }
    let message = format!(
        "top_up_id: `{}` was booked with another amount, {amount} nano-EUR; nothing was added: give each payment an id \
         of its own",
        request.top_up_id
    );
    Err(Failure::new(ErrorReason::Conflict, message))
}

/// Whether the limit of a period was overridden.
pub(super) async fn is_overridden(
    dependencies: &Dependencies,
    budget: &Budget,
    period_id: &str,
) -> Result<bool, Failure> {
    let overridden = |entry: &LedgerEntry| entry.source_id.starts_with(OVERRIDE);
    Ok(limit_entry(dependencies, budget, Some(period_id), overridden).await?.is_some())
}

/// The newest change of a limit that is looked for.
async fn limit_entry(
    dependencies: &Dependencies,
    budget: &Budget,
    period_id: Option<&str>,
    wanted: impl Fn(&LedgerEntry) -> bool,
) -> Result<Option<LedgerEntry>, Failure> {
    let mut query = EntryQuery {
        tenant_id: budget.tenant_id.clone(),
        budget_id: Some(budget.budget_id.clone()),
        period_id: period_id.map(str::to_owned),
        kinds: vec![Kind::Limit],
        most: AT_ONCE,
        ..EntryQuery::default()
    };
    loop {
        let entries = dependencies.ledger.entries(&query).await.map_err(failure::of_ledger)?;
        query.before = entries.last().filter(|_| entries.len() >= AT_ONCE).map(|last| last.entry_id);
        let found = entries.into_iter().find(&wanted);
        if found.is_some() || query.before.is_none() {
            return Ok(found);
        }
    }
}

fn check_ids(tenant_id: &str, budget_id: &str, violations: &mut Violations) {
    check_id(tenant_id, "tenant_id", violations);
    check_id(budget_id, "budget_id", violations);
}

async fn found(
    dependencies: &Dependencies,
    tenant_id: &str,
    budget_id: &str,
) -> Result<(Tenant, Budget), Failure> {
    find(dependencies, (tenant_id, "tenant_id"), (budget_id, "budget_id")).await
}
