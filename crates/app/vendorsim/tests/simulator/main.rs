//! The simulator as a client sees it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message")]

mod batches;
mod client;
mod faults;
mod fixtures;
mod shapes;
