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

/// Every account says what its leases, reservations and entries add up to, those that were deleted included.
pub(super) async fn assert_books(ledger: &SqlLedger) {
    const OF_ACCOUNT: &str =
        "tenant_id = a.tenant_id AND m.budget_id = a.budget_id AND m.period_id = a.period_id";
    let moved = |kinds: &str| {
        format!(
            "(SELECT COALESCE(SUM(amount), 0) FROM entries m WHERE kind IN ({kinds}) AND m.{OF_ACCOUNT}) \
             + (SELECT COALESCE(SUM(amount), 0) FROM carried m WHERE kind IN ({kinds}) AND m.{OF_ACCOUNT})"
        )
    };
    let wrong = format!(
        "SELECT COUNT(*) AS wrong FROM accounts a WHERE \
         a.leased <> (SELECT COALESCE(SUM(CASE WHEN granted - returned - settled - written_off > 0 \
            THEN granted - returned - settled - written_off ELSE 0 END), 0) FROM leases m \
            WHERE m.state = 0 AND m.{OF_ACCOUNT}) \
         OR a.settled <> {} OR a.limit_amount <> {}",
        moved("6, 8"),
        moved("1")
    );
    let count = ledger.database.read(&wrong, |session: &mut Session<'_>, sql: &String| {
        Box::pin(async move {
            let row = session.query(sql.as_str()).fetch_one(&mut *session.connection).await?;
            row.try_get::<i64, _>("wrong")
        })
    });
    assert_eq!(count.await.unwrap(), 0);
}
