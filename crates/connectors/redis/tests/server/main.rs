//! What is promised of Redis, against a real server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

mod away;
mod contract;
mod crowd;
mod support;
