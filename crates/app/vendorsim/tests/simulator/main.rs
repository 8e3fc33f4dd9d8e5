//! The simulator as a client sees it.

#![expect(clippy::unwrap_used, reason = "a panic is the failure message")]

mod client;
mod faults;
mod fixtures;
mod shapes;
