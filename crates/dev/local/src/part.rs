//! What the system is made of.

use std::{fmt, str::FromStr};

/// A kind of process. Their order is that in which they are ended: who calls before who is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The role that takes work that can wait.
    Batch,
    /// The role that clients call.
    Router,
    /// The role that calls vendors.
    Adapter,
    /// The role that keeps answers.
    Cache,
    /// The role that keeps budgets.
    Budget,
    /// The role that stores accounts.
    Ingest,
    /// The simulated vendors.
    Vendors,
    /// ClickHouse's engine.
    ClickHouse,
    /// A PostgreSQL server.
    Postgres,
    /// A Redis server with its search module.
    Redis,
    /// A node of the NATS cluster.
    Nats,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Batch,
        Self::Router,
        Self::Adapter,
        Self::Cache,
        Self::Budget,
        Self::Ingest,
        Self::Vendors,
        Self::ClickHouse,
        Self::Postgres,
        Self::Redis,
        Self::Nats,
    ];

    /// Its name; of a role, that on the command line of `signalbox serve`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Router => "router",
            Self::Adapter => "adapter",
            Self::Cache => "cache",
            Self::Budget => "budget",
            Self::Ingest => "ingest",
            Self::Vendors => "vendors",
            Self::ClickHouse => "clickhouse",
            Self::Postgres => "postgres",
            Self::Redis => "redis",
            Self::Nats => "nats",
        }
    }

    /// Whether it is a role of Signalbox.
    pub fn is_role(self) -> bool {
        self <= Self::Ingest
    }

    /// The role of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn role(name: &str) -> Result<Self, String> {
        let roles = || Self::ALL.into_iter().filter(|kind| kind.is_role());
        roles().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<&str> = roles().map(Self::name).collect();
            format!("`{name}` is no role of Signalbox; there are {}", names.join(", "))
        })
    }

    /// How many there are.
    fn count(self) -> u16 {
        match self {
            Self::Nats => 3,
            kind if kind.is_role() => 2,
            _ => 1,
        }
    }

    /// Its processes.
    pub fn parts(self) -> impl Iterator<Item = Part> + Clone {
        (1..=self.count()).map(move |number| Part { kind: self, number })
    }
}

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// What it is.
    pub kind: Kind,
    /// Which of its kind, from 1.
    pub number: u16,
}

impl Part {
    /// All, in the order in which they are ended.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        Kind::ALL.into_iter().flat_map(Kind::parts)
    }

    /// What Signalbox runs on.
    pub(crate) fn engines() -> impl Iterator<Item = Self> {
        Self::all().filter(|part| !part.kind.is_role())
    }

    /// Signalbox.
    pub fn roles() -> impl Iterator<Item = Self> {
        Self::all().filter(|part| part.kind.is_role())
    }

    /// Its place among all, in the order in which they came to be: a new one changes nobody's ports.
    pub(crate) fn place(self) -> u16 {
        let (new, old): (Vec<Self>, Vec<Self>) = Self::all().partition(|part| part.kind == Kind::Batch);
        old.into_iter()
            .chain(new)
            .zip(0..)
            .find_map(|(part, place)| (part == self).then_some(place))
            .unwrap_or_default()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind.count() {
            1 => f.write_str(self.kind.name()),
            _ => write!(f, "{}-{}", self.kind.name(), self.number),
        }
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::all().find(|part| part.to_string() == text);
        found.ok_or_else(|| format!("there is no process `{text}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for part in Part::all() {
            assert_eq!(part.to_string().parse(), Ok(part));
        }
        assert_eq!("router-2".parse(), Ok(Part { kind: Kind::Router, number: 2 }));
        assert!("router-3".parse::<Part>().is_err());
        assert_eq!(Kind::role("ingest"), Ok(Kind::Ingest));
        for name in ["bach", "nats"] {
            let told = format!(
                "`{name}` is no role of Signalbox; there are batch, router, adapter, cache, budget, ingest"
            );
            assert_eq!(Kind::role(name), Err(told));
        }
    }
}
