//! The store against ClickHouse's engine, which is real, behind an HTTP front, which is a stand-in for a server's.

#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests: a panic is the failure's message")]

mod contract;
mod engine;
mod exactness;
mod operations;
mod tls;
