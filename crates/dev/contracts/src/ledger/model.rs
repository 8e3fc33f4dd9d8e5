//! The model's words for the port's.

use signalbox_api::v1::{LedgerEntry, Settlement, UsageCharge, ledger_entry, settle_response};
use signalbox_budgeting::model as m;
use signalbox_ports::ledger::{AccountKey, LimitChange, LimitTo, Swept};

/// A wish to raise a limit, for tests that need more than [`LIMIT`](super::support::LIMIT).
pub(super) fn raised(budget: &str, amount: i64) -> LimitChange {
    let (to, reason) = (LimitTo::Raised(amount), String::new());
    LimitChange { account: super::support::opening(budget), to, source_id: format!("raise {budget}"), reason }
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

/// In the order of their ids: in which order a sweep finds them is not said.
pub(super) fn in_order(mut swept: Swept) -> Swept {
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
    let AccountKey { tenant_id, budget_id, period_id } = entry.account.clone();
    let (hold_id, source_id) = (entry.hold_id.clone(), entry.source_id.clone());
    (tenant_id, budget_id, period_id, kind.into(), entry.amount, hold_id, source_id)
}

pub(super) fn told_line(entry: LedgerEntry) -> Line {
    let LedgerEntry { tenant_id, budget_id, period_id, kind, amount_nano_eur, hold_id, source_id, .. } =
        entry;
    (tenant_id, budget_id, period_id, kind, amount_nano_eur, hold_id, source_id)
}
