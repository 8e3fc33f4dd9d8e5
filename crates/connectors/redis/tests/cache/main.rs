//! What is promised of cached answers in Redis, against real servers of each kind.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message of a test")]

mod away;
mod contract;
mod isolation;
mod search;
mod secret;
mod support;
