//! What is shipped beside the program, checked as far as it can be without a cluster and a container engine: the chart,
//! images, rules, dashboards, and the whole system on one machine.

#![expect(clippy::panic, reason = "a panic is the failure message of a test")]

pub mod cluster;
pub mod helm;

mod files;

pub use files::{documents, read, yaml};
