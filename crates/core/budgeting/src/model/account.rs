//! Accounts and their limits.

use super::{Account, AccountKey, Kind, LedgerModel, LimitChange, LimitTo, Opening, lease::State};

/// What is kept of an account; the rest is looked up.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    /// Not while only settlements have spoken of it.
    opened: bool,
    limit: i64,
    pub(super) settled: i64,
}

/// The new limit is below what is spent and held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the limit would be below what is spent and held: {committed} nano-EUR")]
pub struct BelowSpend {
    /// Spent and held.
    pub committed: i64,
}

impl LedgerModel {
    /// Accounts as they stand; one that does not exist yet is opened with its limit.
    pub fn accounts(&mut self, openings: &[Opening]) -> Vec<Account> {
        openings.iter().map(|opening| self.open(opening)).collect()
    }

    /// Changes the limit of an account, once for each `source_id`.
    ///
    /// # Errors
    /// See [`BelowSpend`]. It was not done, and may be asked for again.
    pub fn set_limit(&mut self, change: &LimitChange) -> Result<Account, BelowSpend> {
        let account = self.open(&change.account);
        let id = (account.key.tenant_id.clone(), account.key.budget_id.clone(), change.source_id.clone());
        if self.limit_changes.contains(&id) {
            return Ok(account);
        }
        let committed = account.limit - account.free();
        let limit = match change.to {
            LimitTo::Raised(more) => account.limit.saturating_add(more),
            LimitTo::NotBelowSpend(limit) if limit < committed => return Err(BelowSpend { committed }),
            LimitTo::Exactly(limit) | LimitTo::NotBelowSpend(limit) => limit,
        };
        self.limit_changes.insert(id);
        self.line(&account.key).limit = limit;
        self.enter(Kind::Limit, &account.key, limit - account.limit, "", &change.source_id);
        Ok(self.account(&account.key))
    }

    pub(super) fn open(&mut self, opening: &Opening) -> Account {
        let line = self.line(&opening.key);
        if !line.opened {
            line.opened = true;
            line.limit = opening.limit;
            self.enter(Kind::Limit, &opening.key, opening.limit, "", "");
        }
        self.account(&opening.key)
    }

    /// The account's line. One that nobody opened has no limit.
    pub(super) fn line(&mut self, key: &AccountKey) -> &mut Line {
        self.lines.entry(key.clone()).or_default()
    }

    pub(super) fn account(&self, key: &AccountKey) -> Account {
        let line = self.lines.get(key).cloned().unwrap_or_default();
        let leases = |state| -> i64 {
            let of_account = self.leases.values().filter(|lease| lease.account == *key);
            of_account.filter(|lease| lease.is(state)).map(|lease| lease.outstanding()).sum()
        };
        let parts = self.parts.iter().filter(|((_, account), _)| account == key);
        Account {
            key: key.clone(),
            limit: line.limit,
            settled: line.settled,
            reserved: leases(State::Orphaned) + parts.map(|(_, part)| part.outstanding()).sum::<i64>(),
            leased: leases(State::Alive),
        }
    }
}
