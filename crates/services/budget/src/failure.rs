//! What a caller hears when a store, a ledger or a limiter does not do its part.

use signalbox_ports::{ledger::LedgerError, tenants::TenantStoreError};
use signalbox_types::{ErrorReason, Failure, Money, shown};

/// Of the tenant store; `what` names the thing, as in `the tenant acme`.
pub(crate) fn of_store(error: TenantStoreError, what: impl FnOnce() -> String) -> Failure {
    let (reason, message) = match error {
        TenantStoreError::Exists => (ErrorReason::AlreadyExists, format!("{} exists already", what())),
        TenantStoreError::NotFound => return not_found(&what()),
        TenantStoreError::Changed => (
            ErrorReason::Conflict,
            format!("{} was changed in between; read it again, then try again", what()),
        ),
        TenantStoreError::Full(why) => {
            tracing::error!(why, "the disk of the tenant store is full");
            return full("the tenant store");
        }
        TenantStoreError::Away(why) => {
            // What it says names its own tables and statements: for operators, not for callers.
            tracing::warn!(why, "the tenant store cannot be asked");
            (ErrorReason::Unavailable, "the tenant store cannot be reached; try again".to_owned())
        }
    };
    Failure::new(reason, message)
}

/// Of the tenant store, where only its being away can be meant.
pub(crate) fn of_reading(error: TenantStoreError) -> Failure {
    of_store(error, || "it".to_owned())
}

/// Of the ledger.
pub(crate) fn of_ledger(error: LedgerError) -> Failure {
    match error {
        LedgerError::BelowSpend { committed } => below_spend(committed),
        LedgerError::Full(why) => {
            tracing::error!(why, "the disk of the ledger is full");
            full("the ledger")
        }
        LedgerError::Away(why) => {
            tracing::warn!(why, "the ledger cannot be asked");
            Failure::new(ErrorReason::Unavailable, "the ledger cannot be reached; try again")
        }
    }
}

/// Trying again helps nobody before an operator has made room.
fn full(what: &str) -> Failure {
    Failure::new(ErrorReason::Unavailable, format!("{what} can be read and not written: its disk is full"))
}

/// A limit below what is spent and held.
pub(crate) fn below_spend(committed: i64) -> Failure {
    let spent = Money::from_nano_eur(committed);
    let description = format!(
        "must not be below what is spent and held in this period, {spent} ({committed} nano-EUR); OverrideBudget may"
    );
    Failure::invalid("budget.limit_nano_eur", description)
}

/// Something that is not there.
pub(crate) fn not_found(what: &str) -> Failure {
    Failure::new(ErrorReason::NotFound, format!("{what} does not exist"))
}

/// How a message names a tenant.
pub(crate) fn tenant(tenant_id: &str) -> String {
    format!("the tenant `{}`", shown(tenant_id))
}

/// How a message names a budget.
pub(crate) fn budget(tenant_id: &str, budget_id: &str) -> String {
    format!("the budget `{}` of the tenant `{}`", shown(budget_id), shown(tenant_id))
}

/// How a message names a key.
pub(crate) fn key(tenant_id: &str, key_id: &str) -> String {
    format!("the API key `{}` of the tenant `{}`", shown(key_id), shown(tenant_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_as_such_and_without_what_the_store_says() {
        let why = "budgets.db: INSERT INTO tenants: database or disk is full".to_owned();
        let store = of_store(TenantStoreError::Full(why.clone()), || tenant("acme"));
        let ledger = of_ledger(LedgerError::Full(why));
        for (failure, what) in [(store, "the tenant store"), (ledger, "the ledger")] {
            assert_eq!(failure.reason, ErrorReason::Unavailable);
            assert_eq!(failure.message, format!("{what} can be read and not written: its disk is full"));
        }
    }
}
