//! Accounts on their way, against real NATS servers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

mod alerts;
mod bus;
mod cluster;
mod crash;
mod dead;
mod doubt;
mod forwarder;
mod streams;
mod support;
mod tail;
