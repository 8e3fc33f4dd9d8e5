//! The chassis that every role runs on.

pub mod access;
pub mod boundary;
pub mod catalog;
pub mod clock;
pub mod config;
pub mod content;
pub mod gate;
pub mod hop;
pub mod lag;
pub mod readiness;
pub mod serve;
pub mod telemetry;
pub mod tls;

pub use clock::{Clock, FixedClock, SystemClock};
pub use hop::Hop;
