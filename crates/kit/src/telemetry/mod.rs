//! Logs, traces and metrics.

pub mod calls;
pub mod http;
pub mod logs;
pub mod metrics;
pub mod trace;
