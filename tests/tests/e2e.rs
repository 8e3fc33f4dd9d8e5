//! Signalbox from end to end.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

mod access;
mod accounting;
mod adapter_restart;
mod alerts;
mod bad_input;
mod batch;
mod budgets;
mod cache;
mod cancel;
mod catalog;
mod content_policy;
mod drills;
mod explain;
mod failover;
mod gate;
mod health;
mod hedging;
mod limits;
mod matrix;
mod operations;
mod policies;
mod readme;
mod real_model;
mod secrets;
mod security;
mod streams;
mod tracing;
mod up;
mod usage;
