//! The model's words for the port's.

use signalbox_api::v1::{LedgerEntry, Settlement, UsageCharge, ledger_entry, settle_response};
use signalbox_budgeting::model as m;
use signalbox_ports::ledger as p;

/// A wish to raise a limit, for tests that need more than [`LIMIT`](super::support::LIMIT).
pub(super) fn raised(budget: &str, amount: i64) -> p::LimitChange {
    let (to, reason) = (p::LimitTo::Raised(amount), String::new());
    p::LimitChange {
        account: super::support::opening(budget),
        to,
        source_id: format!("raise {budget}"),
        reason,
    }
}

pub(super) fn key(key: &p::AccountKey) -> m::AccountKey {
    m::AccountKey {
        tenant_id: key.tenant_id.clone(),
        budget_id: key.budget_id.clone(),
        period_id: key.period_id.clone(),
    }
}

fn told_key(key: m::AccountKey) -> p::AccountKey {
    p::AccountKey { tenant_id: key.tenant_id, budget_id: key.budget_id, period_id: key.period_id }
}

pub(super) fn opening(opening: &p::Opening) -> m::Opening {
    m::Opening { key: key(&opening.key), limit: opening.limit, hard: opening.hard }
}

pub(super) fn grant(ask: &p::GrantAsk) -> m::GrantAsk {
    let slice = |slice: &p::SliceAsk| m::SliceAsk {
        account: opening(&slice.account),
        needed: slice.needed,
        wanted: slice.wanted,
        lease_id: slice.lease_id.clone(),
    };
    m::GrantAsk {
        replica_id: ask.replica_id.clone(),
        grant_id: ask.grant_id.clone(),
        accounts: ask.accounts.iter().map(slice).collect(),
        now: ask.now,
        expires_at: ask.expires_at,
    }
}

pub(super) fn reservation(ask: &p::ReserveAsk) -> m::ReserveAsk {
    m::ReserveAsk {
        reservation_id: ask.reservation_id.clone(),
        accounts: ask.accounts.iter().map(opening).collect(),
        amount: ask.amount,
        expires_at: ask.expires_at,
    }
}

pub(super) fn settlement(settlement: &Settlement) -> m::Settlement {
    let charge = |charge: &UsageCharge| m::Charge {
        budget_id: charge.budget_id.clone(),
        period_id: charge.period_id.clone(),
        lease_id: charge.lease_id.clone(),
        reservation_id: charge.reservation_id.clone(),
    };
    m::Settlement {
        settlement_id: settlement.settlement_id.clone(),
        tenant_id: settlement.tenant_id.clone(),
        charges: settlement.charges.iter().map(charge).collect(),
        amount: settlement.amount_nano_eur,
        more_follow: settlement.more_follow,
    }
}

pub(super) fn change(change: &p::LimitChange) -> m::LimitChange {
    let to = match change.to {
        p::LimitTo::Raised(amount) => m::LimitTo::Raised(amount),
        p::LimitTo::Exactly(limit) => m::LimitTo::Exactly(limit),
        p::LimitTo::NotBelowSpend(limit) => m::LimitTo::NotBelowSpend(limit),
    };
    m::LimitChange { account: opening(&change.account), to, source_id: change.source_id.clone() }
}

pub(super) fn told_account(account: m::Account) -> p::Account {
    p::Account {
        key: told_key(account.key),
        limit: account.limit,
        settled: account.settled,
        reserved: account.reserved,
        leased: account.leased,
    }
}

pub(super) fn told_lease(lease: m::LeaseState) -> p::LeaseState {
    p::LeaseState {
        lease_id: lease.lease_id,
        account: told_key(lease.account),
        replica_id: lease.replica_id,
        granted: lease.granted,
        outstanding: lease.outstanding,
        expires_at: lease.expires_at,
    }
}

pub(super) fn told_accounts(accounts: Vec<m::Account>) -> Vec<p::Account> {
    accounts.into_iter().map(told_account).collect()
}

pub(super) fn told_leases(leases: Vec<m::LeaseState>) -> Vec<p::LeaseState> {
    leases.into_iter().map(told_lease).collect()
}

pub(super) fn told_grant(granted: m::Granted) -> p::Granted {
    match granted {
        m::Granted::All(leases) => {
            let told = |(lease, account)| (told_lease(lease), told_account(account));
            p::Granted::All(leases.into_iter().map(told).collect())
        }
        m::Granted::Short { accounts, short } => {
            p::Granted::Short { accounts: told_accounts(accounts), short }
        }
    }
}

pub(super) fn told_reservation(reserved: m::Reserved) -> p::Reserved {
    match reserved {
        m::Reserved::All(accounts) => p::Reserved::All(told_accounts(accounts)),
        m::Reserved::Short { accounts, short } => {
            p::Reserved::Short { accounts: told_accounts(accounts), short }
        }
    }
}

/// In the order of their ids: in which order a sweep finds them is not said.
pub(super) fn told_sweep(swept: m::Swept) -> p::Swept {
    let (orphaned, written_off) = (told_leases(swept.orphaned), told_leases(swept.written_off));
    in_order(p::Swept { orphaned, written_off, released: swept.released })
}

pub(super) fn in_order(mut swept: p::Swept) -> p::Swept {
    for leases in [&mut swept.orphaned, &mut swept.written_off] {
        leases.sort_by(|one, other| one.lease_id.cmp(&other.lease_id));
    }
    swept
}

pub(super) fn told_refusals(refusals: Vec<m::Refusal>) -> Vec<settle_response::Refusal> {
    let told = |refusal: m::Refusal| settle_response::Refusal {
        settlement_id: refusal.settlement_id,
        reason: refusal.reason.to_owned(),
    };
    refusals.into_iter().map(told).collect()
}

/// What the model says of an entry, so that those of both can be compared: in which order movements of one call are
/// entered is not said.
pub(super) type Line = (String, String, String, i32, i64, String, String);

pub(super) fn line(entry: &m::Entry) -> Line {
    use ledger_entry::Kind;
    let kind = match entry.kind {
        m::Kind::Limit => Kind::Limit,
        m::Kind::Grant => Kind::Grant,
        m::Kind::Return => Kind::Return,
        m::Kind::Reserve => Kind::Reserve,
        m::Kind::Release => Kind::Release,
        m::Kind::Settle => Kind::Settle,
        m::Kind::Orphan => Kind::Orphan,
        m::Kind::WriteOff => Kind::WriteOff,
    };
    let m::AccountKey { tenant_id, budget_id, period_id } = entry.account.clone();
    let (hold_id, source_id) = (entry.hold_id.clone(), entry.source_id.clone());
    (tenant_id, budget_id, period_id, kind.into(), entry.amount, hold_id, source_id)
}

pub(super) fn told_line(entry: LedgerEntry) -> Line {
    let LedgerEntry { tenant_id, budget_id, period_id, kind, amount_nano_eur, hold_id, source_id, .. } =
        entry;
    (tenant_id, budget_id, period_id, kind, amount_nano_eur, hold_id, source_id)
}
