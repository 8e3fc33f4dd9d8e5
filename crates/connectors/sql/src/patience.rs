//! How long is waited for what.

use std::time::Duration;

/// How long a database may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For one statement. PostgreSQL breaks it off itself, while it can.
    pub statement: Duration,
    /// For the locks of others.
    pub lock: Duration,
    /// For a client that stands still in a transaction.
    pub idle: Duration,
    /// For a transaction.
    pub transaction: Duration,
    /// For the turn at a file, which has one writer.
    pub turn: Duration,
}

impl Patience {
    /// For what others wait for, and moves little.
    pub const SHORT: Self = Self {
        statement: Duration::from_secs(8),
        lock: Duration::from_secs(6),
        idle: Duration::from_secs(10),
        transaction: Duration::from_secs(15),
        turn: Duration::from_secs(15),
    };

    /// For what moves much at once.
    pub const LONG: Self = Self {
        statement: Duration::from_secs(30),
        lock: Duration::from_secs(20),
        idle: Duration::from_secs(30),
        transaction: Duration::from_secs(90),
        turn: Duration::from_secs(60),
    };
}
