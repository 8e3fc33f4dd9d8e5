//! Leases for a replica that has too little.

use super::{rates, recall::recall, refusal, served};
use crate::{
    accounts::{self, Line},
    check::{check_amount, check_required, check_text},
    failure, metrics,
    service::Dependencies,
};
use signalbox_api::{
    convert::{Violations, duration_to_proto},
    v1::{
        AcquireLeasesRequest, AcquireLeasesResponse, BudgetSlice, Lease, Tenant, budget::Action, lease::Slice,
    },
};
use signalbox_ports::ledger::{Account, GrantAsk, Granted, LeaseState, SliceAsk};
use signalbox_types::Failure;
use std::time::SystemTime;
use uuid::Uuid;

/// Answers `AcquireLeases`.
///
/// Rates are taken first, since money is what must be exact: a rate that was taken in vain is given back as well as it
/// goes, while a grant stands until the replica itself returns it.
pub(crate) async fn acquire(
    dependencies: &Dependencies,
    request: AcquireLeasesRequest,
) -> Result<AcquireLeasesResponse, Failure> {
    check(&request)?;
    let ttl = Some(duration_to_proto(dependencies.options.cache_ttl));
    let Some(tenant) = served(dependencies, &request.tenant_id).await? else {
        return Ok(AcquireLeasesResponse { ttl, ..Default::default() });
    };
    let lines = accounts::lines(dependencies, &tenant, (&request.key_id, &request.scene)).await?;
    let taken = rates::take(dependencies, &tenant, &request).await?;
    let granted = match grant(dependencies, &lines, &request).await {
        Ok(granted) => granted,
        Err(failure) => {
            rates::give_back(dependencies, &taken).await;
            return Err(failure);
        }
    };
    metrics::granted(!lines.is_empty());
    let leases = granted.into_iter().chain(taken.into_iter().map(rates::Taken::into_lease)).collect();
    Ok(AcquireLeasesResponse { leases, tenant: Some(tenant_told(tenant)), ttl })
}

fn check(request: &AcquireLeasesRequest) -> Result<(), Failure> {
    let mut violations = Violations::default();
    check_required(&request.replica_id, "replica_id", &mut violations);
    check_required(&request.grant_id, "grant_id", &mut violations);
    check_amount(request.needed_nano_eur, "needed_nano_eur", &mut violations);
    let texts = [("tenant_id", &request.tenant_id), ("key_id", &request.key_id), ("scene", &request.scene)];
    for (field, text) in texts {
        check_text(text, 1_024, field, &mut violations);
    }
    violations.into_result()
}

/// A lease of every budget: all or none.
async fn grant(
    dependencies: &Dependencies,
    lines: &[Line],
    request: &AcquireLeasesRequest,
) -> Result<Vec<Lease>, Failure> {
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    let (now, needed) = (dependencies.clock.now(), request.needed_nano_eur);
    let openings: Vec<_> = lines.iter().map(Line::opening).collect();
    let accounts = dependencies.ledger.accounts(&openings).await.map_err(failure::of_ledger)?;
    let mut slices = Vec::with_capacity(lines.len());
    for (line, account) in lines.iter().zip(&accounts) {
        slices.push(slice(dependencies, line, account, needed)?);
    }
    let ask = GrantAsk {
        replica_id: request.replica_id.clone(),
        grant_id: request.grant_id.clone(),
        accounts: slices,
        now,
        expires_at: now + dependencies.options.lease_ttl,
    };
    match dependencies.ledger.grant(&ask).await.map_err(failure::of_ledger)? {
        Granted::All(leases) => {
            dependencies.feed.active().note(lines);
            let told = |(line, (lease, account)): (&Line, &(LeaseState, Account))| {
                told(dependencies, line, lease, account, now)
            };
            Ok(lines.iter().zip(&leases).map(told).collect())
        }
        Granted::Short { accounts, short } => {
            if let (Some(line), Some(account)) = (lines.get(short), accounts.get(short)) {
                recall(dependencies, line, account).await;
            }
            metrics::refused("budget");
            Err(refusal::exhausted(lines, &accounts, short, needed))
        }
    }
}

/// What to ask of a budget. One whose threshold rules out what costs anything gives nothing, so that a replica that has
/// not heard of it yet has nothing to spend.
fn slice(
    dependencies: &Dependencies,
    line: &Line,
    account: &Account,
    needed: i64,
) -> Result<SliceAsk, Failure> {
    let effect = dependencies.feed.active().effect(line, account, dependencies.clock.now());
    let forbidden = matches!(effect.action, Action::Refuse | Action::FreeOnly);
    // One that has too little besides is told as such, with what is left.
    let is_short = line.is_hard() && account.free() < needed;
    if forbidden && needed > 0 && !is_short {
        metrics::refused("threshold");
        return Err(refusal::forbidden(line, &effect.threshold));
    }
    let wanted = if forbidden { 0 } else { dependencies.options.slices.wanted(account.limit, needed) };
    Ok(SliceAsk { account: line.opening(), needed, wanted, lease_id: Uuid::now_v7().to_string() })
}

/// A lease of a budget as its replica hears of it. It never outlives its period.
pub(super) fn told(
    dependencies: &Dependencies,
    line: &Line,
    lease: &LeaseState,
    account: &Account,
    now: SystemTime,
) -> Lease {
    let left = lease.expires_at.duration_since(now).unwrap_or_default();
    let ttl = left.min(dependencies.options.lease_ttl);
    let runs = lease.account.period_id == line.running.id;
    let period = if runs { line.running.left(now) } else { Some(std::time::Duration::ZERO) };
    let effect = dependencies.feed.active().effect(line, account, now);
    Lease {
        lease_id: lease.lease_id.clone(),
        slice: Some(Slice::Budget(BudgetSlice {
            budget: Some(line.told(account, effect)),
            period_id: lease.account.period_id.clone(),
            granted_nano_eur: lease.granted,
        })),
        ttl: Some(duration_to_proto(period.map_or(ttl, |period| ttl.min(period)))),
    }
}

/// Replicas need no more of a tenant than what it may do.
fn tenant_told(tenant: Tenant) -> Tenant {
    Tenant { create_time: None, ..tenant }
}
