//! The one HTTP client behind every vendor: connection pool, stage timeouts, bulkhead, and streams without a task.

mod batches;
mod bulkhead;
mod cause;
mod client;
mod config;
mod endpoint;
mod exchange;
mod limits;
mod request;
mod secrets;
mod stream;
mod tls;

#[cfg(test)]
mod tests;

pub use bulkhead::Bulkhead;
pub use client::HttpVendor;
pub use config::{ConfigureVendorError, Timeouts, VendorConfig};
