//! The life of leases: renewed, given back, ended.

use super::{acquire::told, rates};
use crate::{
    accounts::Line,
    check::{check_amount, check_required},
    failure,
    service::Dependencies,
};
use signalbox_api::{
    convert::Violations,
    v1::{
        Budget, EndReplicaRequest, EndReplicaResponse, Lease, LeaseReturn, RenewLeasesRequest,
        RenewLeasesResponse, ReturnLeasesRequest, ReturnLeasesResponse, Tenant,
    },
};
use signalbox_ports::{RateGrant, ledger::LeaseState};
use signalbox_types::Failure;
use std::collections::HashMap;

/// Answers `RenewLeases`.
pub(crate) async fn renew(
    dependencies: &Dependencies,
    request: RenewLeasesRequest,
) -> Result<RenewLeasesResponse, Failure> {
    let mut violations = Violations::default();
    check_required(&request.replica_id, "replica_id", &mut violations);
    violations.into_result()?;
    let (of_rates, of_budgets): (Vec<_>, Vec<_>) =
        request.lease_ids.into_iter().partition(|lease_id| rates::is_rate(lease_id));
    let mut leases = renew_budgets(dependencies, &request.replica_id, &of_budgets).await?;
    for lease_id in of_rates {
        let under_way = request.under_way.get(&lease_id).copied().unwrap_or(0);
        // That a rate cannot be renewed now must not cost the leases of money.
        match rates::renew(dependencies, &request.replica_id, &lease_id, under_way).await {
            Ok(lease) => leases.extend(lease),
            Err(failure) => tracing::debug!(%failure, "a slice of a rate is not renewed"),
        }
    }
    Ok(RenewLeasesResponse { leases })
}

async fn renew_budgets(
    dependencies: &Dependencies,
    replica_id: &str,
    lease_ids: &[String],
) -> Result<Vec<Lease>, Failure> {
    if lease_ids.is_empty() {
        return Ok(Vec::new());
    }
    let now = dependencies.clock.now();
    let expires_at = now + dependencies.options.lease_ttl;
    let renewed = dependencies.ledger.renew(replica_id, lease_ids, now, expires_at).await;
    let states = renewed.map_err(failure::of_ledger)?;
    let mut lines = Vec::new();
    let mut tenants = Tenants::default();
    for state in states {
        if let Some(line) = tenants.line(dependencies, &state).await? {
            lines.push((line, state));
        }
    }
    let openings: Vec<_> = lines.iter().map(|(line, _)| line.opening()).collect();
    let accounts = dependencies.ledger.accounts(&openings).await.map_err(failure::of_ledger)?;
    dependencies.feed.active().note(lines.iter().map(|(line, _)| line));
    let leases = lines
        .iter()
        .zip(&accounts)
        .map(|((line, state), account)| told(dependencies, line, state, account, now));
    Ok(leases.collect())
}

/// Tenants and their budgets, each read once.
#[derive(Default)]
struct Tenants(HashMap<String, Option<(Tenant, Vec<Budget>)>>);

impl Tenants {
    /// The budget that a lease is of, with the period that runs now; `None` where it is gone.
    async fn line(
        &mut self,
        dependencies: &Dependencies,
        state: &LeaseState,
    ) -> Result<Option<Line>, Failure> {
        let id = &state.account.tenant_id;
        if !self.0.contains_key(id) {
            let tenant = dependencies.tenants.tenant(id).await.map_err(failure::of_reading)?;
            let budgets = dependencies.tenants.budgets(id).await.map_err(failure::of_reading)?;
            self.0.insert(id.clone(), tenant.map(|tenant| (tenant, budgets)));
        }
        let Some(Some((tenant, budgets))) = self.0.get(id) else { return Ok(None) };
        let budget = budgets.iter().find(|budget| budget.budget_id == state.account.budget_id);
        Ok(budget.map(|budget| Line::new(tenant, budget.clone(), dependencies.clock.now())))
    }
}

/// Answers `ReturnLeases`.
pub(crate) async fn give_back(
    dependencies: &Dependencies,
    request: ReturnLeasesRequest,
) -> Result<ReturnLeasesResponse, Failure> {
    let mut violations = Violations::default();
    check_required(&request.replica_id, "replica_id", &mut violations);
    check_required(&request.return_id, "return_id", &mut violations);
    for (index, part) in request.returns.iter().enumerate() {
        check_required(&part.lease_id, &format!("returns[{index}].lease_id"), &mut violations);
        check_amount(part.amount_nano_eur, &format!("returns[{index}].amount_nano_eur"), &mut violations);
    }
    violations.into_result()?;
    let (of_rates, of_budgets): (Vec<_>, Vec<_>) =
        request.returns.into_iter().partition(|part| rates::is_rate(&part.lease_id));
    let parts: Vec<_> = of_budgets.into_iter().map(part).collect();
    if !parts.is_empty() {
        let done = dependencies.ledger.give_back(&request.replica_id, &request.return_id, &parts).await;
        done.map_err(failure::of_ledger)?;
    }
    for part in of_rates {
        let unused = RateGrant {
            requests: part.unused_requests,
            tokens: part.unused_tokens,
            // Permits come back all at once, when the slice ends.
            concurrent: if part.end { u32::MAX } else { 0 },
            ..RateGrant::default()
        };
        rates::returned(dependencies, &request.replica_id, &part.lease_id, unused).await?;
    }
    Ok(ReturnLeasesResponse {})
}

/// Of a lease that ends all comes back that is outstanding: what was spent from it is settled.
fn part(part: LeaseReturn) -> (String, i64) {
    let amount = if part.end { i64::MAX } else { part.amount_nano_eur };
    (part.lease_id, amount)
}

/// Answers `EndReplica`.
pub(crate) async fn end(
    dependencies: &Dependencies,
    request: EndReplicaRequest,
) -> Result<EndReplicaResponse, Failure> {
    let mut violations = Violations::default();
    check_required(&request.replica_id, "replica_id", &mut violations);
    violations.into_result()?;
    let ended = dependencies.ledger.end_replica(&request.replica_id).await;
    Ok(EndReplicaResponse { released_nano_eur: ended.map_err(failure::of_ledger)? })
}
