//! What is shipped beside the program.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is the failure message of a test")]

mod chart;
mod images;
mod local;
mod observability;
mod operations;
mod rendered;
