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
    let now = dependencies.clock.now();
    let needed = request.needed_nano_eur;
    if needed > 0 {
        refuse_forbidden(dependencies, lines, now).await?;
    }
    let ask = GrantAsk {
        replica_id: request.replica_id.clone(),
        grant_id: request.grant_id.clone(),
        accounts: lines.iter().map(|line| slice(dependencies, line, needed)).collect(),
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
            Err(refusal::exhausted(lines, &accounts, short))
        }
    }
}

/// Refuses what a threshold rules out, so that a replica that has not heard of it yet gets nothing to spend.
async fn refuse_forbidden(
    dependencies: &Dependencies,
    lines: &[Line],
    now: SystemTime,
) -> Result<(), Failure> {
    let forbids = |line: &&Line| {
        line.budget.thresholds.iter().any(|one| matches!(one.action(), Action::Refuse | Action::FreeOnly))
    };
    let strict: Vec<&Line> = lines.iter().filter(forbids).collect();
    if strict.is_empty() {
        return Ok(());
    }
    let openings: Vec<_> = strict.iter().map(|line| line.opening()).collect();
    let accounts = dependencies.ledger.accounts(&openings).await.map_err(failure::of_ledger)?;
    for (line, account) in strict.into_iter().zip(&accounts) {
        let effect = dependencies.feed.active().effect(line, account, now);
        if matches!(effect.action, Action::Refuse | Action::FreeOnly) {
            metrics::refused("threshold");
            return Err(refusal::forbidden(line, &effect.threshold));
        }
    }
    Ok(())
}

fn slice(dependencies: &Dependencies, line: &Line, needed: i64) -> SliceAsk {
    SliceAsk {
        account: line.opening(),
        needed,
        wanted: dependencies.options.slices.wanted(line.budget.limit_nano_eur, needed),
        lease_id: Uuid::now_v7().to_string(),
    }
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
