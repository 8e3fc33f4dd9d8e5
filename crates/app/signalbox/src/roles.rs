//! The roles a process serves.

use std::{fmt, str::FromStr};

/// One service of the design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Plans requests and fails over.
    Router,
    /// Calls vendors.
    Adapter,
    /// Stores accounts and answers what was used.
    Ingest,
    /// Knows tenants, API keys and budgets, and keeps the ledger.
    Budget,
    /// Keeps answers that may be given again.
    Cache,
    /// Keeps jobs of work that can wait, and hands them to vendors at batch prices.
    Batch,
}

impl Role {
    /// Every role that is built.
    pub(crate) const ALL: [Self; 6] =
        [Self::Router, Self::Adapter, Self::Ingest, Self::Budget, Self::Cache, Self::Batch];

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Router => "router",
            Self::Adapter => "adapter",
            Self::Ingest => "ingest",
            Self::Budget => "budget",
            Self::Cache => "cache",
            Self::Batch => "batch",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.name() == text).ok_or_else(|| {
            format!("there is no role `{text}`; there are router, adapter, ingest, budget, cache and batch")
        })
    }
}
