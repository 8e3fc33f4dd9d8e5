//! Short words for what tests of the database itself move.

use crate::SqlLedger;
use signalbox_api::v1::{Settlement, UsageCharge};
use signalbox_ports::ledger::{AccountKey, GrantAsk, Opening, SliceAsk};
use signalbox_sql::Session;
use sqlx::Row;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) const LIMIT: i64 = 1_000_000_000;

pub(super) fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

pub(super) fn opening(budget: &str) -> Opening {
    let key = AccountKey {
        tenant_id: "acme".to_owned(),
        budget_id: budget.to_owned(),
        period_id: "2026-11".to_owned(),
    };
    Opening { key, limit: LIMIT, hard: true }
}

/// So much of both budgets.
pub(super) fn grant(replica: &str, id: &str, amount: i64) -> GrantAsk {
    let slice = |budget: &str| SliceAsk {
        account: opening(budget),
        needed: amount,
        wanted: amount,
        lease_id: format!("{replica} {budget}"),
    };
    GrantAsk {
        replica_id: replica.to_owned(),
        grant_id: id.to_owned(),
        accounts: vec![slice("daily"), slice("monthly")],
        now: now(),
        expires_at: now() + Duration::from_secs(60),
    }
}

/// Spent of both leases of a replica.
pub(super) fn settlement(replica: &str, id: &str, amount: i64) -> Settlement {
    let charge = |budget: &str| UsageCharge {
        budget_id: budget.to_owned(),
        period_id: "2026-11".to_owned(),
        lease_id: format!("{replica} {budget}"),
        ..UsageCharge::default()
    };
    Settlement {
        settlement_id: id.to_owned(),
        tenant_id: "acme".to_owned(),
        charges: vec![charge("daily"), charge("monthly")],
        request_id: id.to_owned(),
        amount_nano_eur: amount,
        ..Settlement::default()
    }
}

/// Every account says what its leases, reservations and entries add up to.
pub(super) async fn assert_books(ledger: &SqlLedger) {
    let wrong = "SELECT COUNT(*) AS wrong FROM accounts a WHERE \
        a.leased <> (SELECT COALESCE(SUM(CASE WHEN granted - returned - settled - written_off > 0 \
            THEN granted - returned - settled - written_off ELSE 0 END), 0) FROM leases l \
            WHERE l.state = 0 AND l.tenant_id = a.tenant_id AND l.budget_id = a.budget_id AND l.period_id = a.period_id) \
        OR a.settled <> (SELECT COALESCE(SUM(amount), 0) FROM entries e WHERE e.kind IN (6, 8) \
            AND e.tenant_id = a.tenant_id AND e.budget_id = a.budget_id AND e.period_id = a.period_id) \
        OR a.limit_amount <> (SELECT COALESCE(SUM(amount), 0) FROM entries e WHERE e.kind = 1 \
            AND e.tenant_id = a.tenant_id AND e.budget_id = a.budget_id AND e.period_id = a.period_id)";
    let count = ledger.database.read(wrong, |session: &mut Session<'_>, sql| {
        Box::pin(async move {
            let row = session.query(sql).fetch_one(&mut *session.connection).await?;
            row.try_get::<i64, _>("wrong")
        })
    });
    assert_eq!(count.await.unwrap(), 0);
}
