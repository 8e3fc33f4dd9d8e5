//! A limit changes.

use super::{
    account,
    entry::Entry,
    operation::{self, kind},
};
use signalbox_api::v1::ledger_entry::Kind;
use signalbox_ports::ledger::{Account, LedgerError, LimitChange, LimitTo};
use signalbox_sql::Session;

pub(super) async fn set_limit(
    session: &mut Session<'_>,
    change: &LimitChange,
    now: i64,
) -> sqlx::Result<Result<Account, LedgerError>> {
    let key = &change.account.key;
    // Ids are the callers' own: those of one budget say nothing of another's.
    let id = format!("{}/{}/{}", key.tenant_id, key.budget_id, change.source_id);
    let mut books = account::lock(session, std::slice::from_ref(&change.account), now).await?;
    if operation::result(session, kind::LIMIT, &id).await?.is_some() {
        return Ok(Ok(books.account(key)));
    }
    let account = books.account(key);
    let committed = account.limit - account.free();
    let limit = match change.to {
        LimitTo::Raised(amount) => account.limit.saturating_add(amount),
        LimitTo::Exactly(limit) => limit,
        LimitTo::NotBelowSpend(limit) if limit >= committed => limit,
        LimitTo::NotBelowSpend(_) => {
            books.save(session).await?;
            return Ok(Err(LedgerError::BelowSpend { committed }));
        }
    };
    books.change_account(key, |line| line.limit_amount = limit);
    let entry = Entry::new(Kind::Limit, key.clone(), limit - account.limit).source(&change.source_id);
    books.enter(Entry { reason: change.reason.clone(), ..entry });
    operation::record(session, kind::LIMIT, &id, String::new()).await?;
    books.save(session).await?;
    Ok(Ok(books.account(key)))
}
