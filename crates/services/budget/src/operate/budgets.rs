//! Budgets.

use super::{budget_limits, keys, tenants};
use crate::{
    accounts::{self, Line},
    audit::Deed,
    check::{check_budget, check_id, check_thresholds},
    failure,
    mask::{self, Field, field},
    pages::Page,
    service::Dependencies,
};
use signalbox_api::{
    convert::Violations,
    v1::{
        Budget, CreateBudgetRequest, CreateBudgetResponse, GetBudgetRequest, GetBudgetResponse,
        ListBudgetsRequest, ListBudgetsResponse, Tenant, UpdateBudgetRequest, UpdateBudgetResponse,
    },
};
use signalbox_ports::{
    Identity,
    ledger::{LimitChange, LimitTo},
};
use signalbox_types::{ErrorReason, Failure};

/// Most budgets of a tenant: every request is held against those that it falls under.
const MOST: usize = 1_000;

/// What can be changed of a budget.
fn fields() -> [Field<Budget>; 3] {
    [field!(Budget, limit_nano_eur), field!(Budget, enforcement), field!(Budget, thresholds)]
}

/// Answers `CreateBudget`.
pub(crate) async fn create(
    dependencies: &Dependencies,
    actor: &Identity,
    request: CreateBudgetRequest,
) -> Result<CreateBudgetResponse, Failure> {
    let mut budget = request.budget.ok_or_else(|| Failure::invalid("budget", "is required"))?;
    let mut violations = Violations::default();
    check_budget(&budget, &mut violations);
    violations.into_result()?;
    let tenant = tenants::find(dependencies, &budget.tenant_id, "budget.tenant_id").await?;
    if !budget.key_id.is_empty() {
        let found = keys::find(dependencies, &budget.tenant_id, &budget.key_id).await;
        found.map_err(|failure| of_field(failure, "budget.key_id", "is not a key of this tenant"))?;
    }
    let others = dependencies.tenants.budgets(&budget.tenant_id).await.map_err(failure::of_reading)?;
    if others.len() >= MOST {
        return Err(Failure::invalid("budget", format!("the tenant has {MOST} budgets already")));
    }
    budget.create_time = Some(dependencies.clock.now().into());
    budget.status = None;
    budget.etag.clear();
    let (tenant_id, id) = (budget.tenant_id.clone(), budget.budget_id.clone());
    let deed = Deed { actor, method: "CreateBudget", tenant_id: &tenant_id, reason: "" };
    let entry = deed.entry(&*dependencies.clock, resource(&id), None, Some(&budget));
    budget.etag.clone_from(&entry.audit_id);
    let created = dependencies.tenants.create_budget(&budget, &entry).await;
    created.map_err(|error| failure::of_store(error, || failure::budget(&tenant_id, &id)))?;
    let budget = accounts::told(dependencies, &tenant, budget).await?;
    Ok(CreateBudgetResponse { budget: Some(budget) })
}

/// Answers `GetBudget`.
pub(crate) async fn get(
    dependencies: &Dependencies,
    request: GetBudgetRequest,
) -> Result<GetBudgetResponse, Failure> {
    let GetBudgetRequest { tenant_id, budget_id } = request;
    let (tenant, budget) = find(dependencies, (&tenant_id, "tenant_id"), (&budget_id, "budget_id")).await?;
    let budget = accounts::told(dependencies, &tenant, budget).await?;
    Ok(GetBudgetResponse { budget: Some(budget) })
}

/// Answers `ListBudgets`.
pub(crate) async fn list(
    dependencies: &Dependencies,
    request: ListBudgetsRequest,
) -> Result<ListBudgetsResponse, Failure> {
    let mut violations = Violations::default();
    let page = Page::of(&request, &mut violations);
    violations.into_result()?;
    let tenant = tenants::find(dependencies, &request.tenant_id, "tenant_id").await?;
    let all = dependencies.tenants.budgets(&tenant.tenant_id).await.map_err(failure::of_reading)?;
    let after = page.after_id();
    let later = |budget: &Budget| after.is_none_or(|after| budget.budget_id.as_str() > after);
    let mut budgets: Vec<Budget> = all.into_iter().filter(later).take(page.ask()).collect();
    let next_page_token = page.cut(&mut budgets, |last| vec![last.budget_id.clone()]);
    let budgets = accounts::all_told(dependencies, &tenant, budgets).await?;
    Ok(ListBudgetsResponse { budgets, next_page_token })
}

/// Answers `UpdateBudget`.
pub(crate) async fn update(
    dependencies: &Dependencies,
    actor: &Identity,
    request: UpdateBudgetRequest,
) -> Result<UpdateBudgetResponse, Failure> {
    let wanted = request.budget.ok_or_else(|| Failure::invalid("budget", "is required"))?;
    let (tenant_id, id) = (wanted.tenant_id.clone(), wanted.budget_id.clone());
    let (tenant, before) =
        find(dependencies, (&tenant_id, "budget.tenant_id"), (&id, "budget.budget_id")).await?;
    let after = changed(&before, &wanted, request.update_mask.as_ref())?;
    let period = Line::new(&tenant, before.clone(), dependencies.clock.now()).opening().key.period_id;
    // An override stands until its period ends: a frozen budget is not thawed by a change of those to come.
    let overridden = budget_limits::is_overridden(dependencies, &before, &period).await?;
    let raise = if overridden { 0 } else { after.limit_nano_eur - before.limit_nano_eur };
    refuse_below_spend(dependencies, &tenant, &before, raise).await?;
    let deed = Deed { actor, method: "UpdateBudget", tenant_id: &tenant_id, reason: "" };
    let entry = deed.entry(&*dependencies.clock, resource(&id), Some(&before), Some(&after));
    let after = Budget { etag: entry.audit_id.clone(), ..after };
    // Whoever sends no etag means the budget as it is now, but even then no change that comes between is lost.
    let etag = if wanted.etag.is_empty() { &before.etag } else { &wanted.etag };
    let updated = dependencies.tenants.update_budget(&after, etag, &entry).await;
    updated.map_err(|error| failure::of_store(error, || failure::budget(&tenant_id, &id)))?;
    if raise != 0 {
        raise_running(dependencies, &tenant, &before, raise, &entry.audit_id).await?;
    }
    let budget = accounts::told(dependencies, &tenant, after).await?;
    Ok(UpdateBudgetResponse { budget: Some(budget) })
}

fn changed(
    before: &Budget,
    wanted: &Budget,
    mask: Option<&prost_types::FieldMask>,
) -> Result<Budget, Failure> {
    let mut violations = Violations::default();
    let mut after = before.clone();
    mask::apply(&fields(), mask, wanted, &mut after, &mut violations);
    check_thresholds(&after, &mut violations);
    violations.into_result()?;
    Ok(after)
}

/// What is spent and held by now must fit below the new limit, with the period's top-ups.
async fn refuse_below_spend(
    dependencies: &Dependencies,
    tenant: &Tenant,
    budget: &Budget,
    raise: i64,
) -> Result<(), Failure> {
    if raise >= 0 {
        return Ok(());
    }
    let line = Line::new(tenant, budget.clone(), dependencies.clock.now());
    let accounts = dependencies.ledger.accounts(&[line.opening()]).await.map_err(failure::of_ledger)?;
    let Some(account) = accounts.first() else { return Ok(()) };
    // Slices that replicas hold may be idle, so that they do not count as spent: a limit below them only means that
    // nothing more is granted. What comes of them may still be spent.
    let committed = account.settled + account.reserved + account.leased;
    if account.limit + raise < committed { Err(failure::below_spend(committed)) } else { Ok(()) }
}

/// The running period gets the same change as those to come: its top-ups stay.
async fn raise_running(
    dependencies: &Dependencies,
    tenant: &Tenant,
    before: &Budget,
    raise: i64,
    source_id: &str,
) -> Result<(), Failure> {
    let line = Line::new(tenant, before.clone(), dependencies.clock.now());
    let change = LimitChange {
        account: line.opening(),
        to: LimitTo::Raised(raise),
        source_id: source_id.to_owned(),
        reason: "UpdateBudget".to_owned(),
    };
    // Done once for its source, so that a second try cannot do it twice.
    let mut done = dependencies.ledger.set_limit(&change).await;
    if done.is_err() {
        done = dependencies.ledger.set_limit(&change).await;
    }
    done.map(drop).map_err(|error| {
        let failure = failure::of_ledger(error);
        let message = "the budget is changed from its next period on, but not the running one: the ledger cannot be \
                       reached; OverrideBudget sets the limit of the running period";
        Failure { message: message.to_owned(), ..failure }
    })
}

/// A tenant and its budget that two fields name.
pub(super) async fn find(
    dependencies: &Dependencies,
    (tenant_id, tenant_field): (&str, &str),
    (budget_id, budget_field): (&str, &str),
) -> Result<(Tenant, Budget), Failure> {
    let mut violations = Violations::default();
    check_id(tenant_id, tenant_field, &mut violations);
    check_id(budget_id, budget_field, &mut violations);
    violations.into_result()?;
    let tenant = tenants::find(dependencies, tenant_id, tenant_field).await?;
    let budgets = dependencies.tenants.budgets(tenant_id).await.map_err(failure::of_reading)?;
    let budget = budgets.into_iter().find(|budget| budget.budget_id == budget_id);
    let missing = || failure::not_found(&failure::budget(tenant_id, budget_id));
    Ok((tenant, budget.ok_or_else(missing)?))
}

/// Something that a field names is not there: the field is at fault.
fn of_field(failure: Failure, field: &str, description: &str) -> Failure {
    if failure.reason == ErrorReason::NotFound { Failure::invalid(field, description) } else { failure }
}

/// How the audit trail names a budget.
pub(super) fn resource(budget_id: &str) -> String {
    format!("budget/{budget_id}")
}
