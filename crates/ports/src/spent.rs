//! What the usage store says was spent, for a comparison with the ledger.

use std::{fmt, time::SystemTime};

/// Requests that were charged to budgets, as the usage store has them.
#[async_trait::async_trait]
pub trait SpentRequests: Send + Sync + fmt::Debug {
    /// Those that ended in a window of time, page by page in any order.
    ///
    /// # Errors
    /// See [`SpentAway`].
    async fn page(&self, query: &SpentQuery) -> Result<SpentPage, SpentAway>;
}

/// Which requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentQuery {
    /// Whose; empty for all.
    pub tenant_id: String,
    /// Only those with this id.
    pub request_id: Option<String>,
    /// Ended from this time on.
    pub from: SystemTime,
    /// And before this.
    pub until: SystemTime,
    /// [`SpentPage::next`] of the page before.
    pub page: Option<String>,
}

/// A page of requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpentPage {
    /// They. One id may be there several times: callers choose it.
    pub requests: Vec<SpentRequest>,
    /// The next page; `None` at the end.
    pub next: Option<String>,
}

/// What one request cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentRequest {
    /// Whose.
    pub tenant_id: String,
    /// Which request.
    pub request_id: String,
    /// The budgets that pay, each the whole of `amount`.
    pub budget_ids: Vec<String>,
    /// How much, in nano-EUR; where the cost is not known, what was set aside.
    pub amount: i64,
    /// The part of `amount` that stands for what is not known of the cost; `None` where all is known.
    pub unknown: Option<i64>,
}

/// The usage store cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the usage store is away: {0}")]
pub struct SpentAway(pub String);
