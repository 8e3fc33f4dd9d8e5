//! Signalbox from end to end.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

mod bad_input;
mod cancel;
mod catalog;
mod explain;
mod failover;
mod gate;
mod matrix;
mod operations;
mod readme;
mod real_model;
mod secrets;
mod streams;
mod tracing;
