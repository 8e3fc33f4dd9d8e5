//! Prometheus metrics of the process.

use prometheus::{
    GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
};
use std::sync::LazyLock;

/// The process's registry, served at `/metrics`.
pub static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::new);

/// Latency buckets in seconds, from a cache hit to a long reasoning answer.
const SECONDS: [f64; 16] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];

/// Registers a counter. A name that is there already keeps its first registration.
#[expect(
    clippy::panic,
    reason = "names and labels are constants; a bad one fails the first test that touches it"
)]
pub fn counter(name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
    let counter =
        IntCounterVec::new(Opts::new(name, help), labels).unwrap_or_else(|error| panic!("{name}: {error}"));
    let _duplicate = REGISTRY.register(Box::new(counter.clone()));
    counter
}

/// Registers a gauge.
#[expect(clippy::panic, reason = "as for counters")]
pub fn gauge(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    let gauge =
        IntGaugeVec::new(Opts::new(name, help), labels).unwrap_or_else(|error| panic!("{name}: {error}"));
    let _duplicate = REGISTRY.register(Box::new(gauge.clone()));
    gauge
}

/// Registers a gauge of shares, from 0 to 1.
#[expect(clippy::panic, reason = "as for counters")]
pub fn share(name: &str, help: &str, labels: &[&str]) -> GaugeVec {
    let gauge =
        GaugeVec::new(Opts::new(name, help), labels).unwrap_or_else(|error| panic!("{name}: {error}"));
    let _duplicate = REGISTRY.register(Box::new(gauge.clone()));
    gauge
}

/// Registers a gauge of numbers that are not whole.
#[expect(clippy::panic, reason = "as for counters")]
pub fn number(name: &str, help: &str, labels: &[&str]) -> GaugeVec {
    let gauge =
        GaugeVec::new(Opts::new(name, help), labels).unwrap_or_else(|error| panic!("{name}: {error}"));
    let _duplicate = REGISTRY.register(Box::new(gauge.clone()));
    gauge
}

/// Registers a histogram of seconds.
pub fn seconds(name: &str, help: &str, labels: &[&str]) -> HistogramVec {
    histogram(name, help, labels, &SECONDS)
}

/// Registers a histogram with buckets of its own.
#[expect(clippy::panic, reason = "as for counters")]
pub fn histogram(name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> HistogramVec {
    let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
    let histogram = HistogramVec::new(options, labels).unwrap_or_else(|error| panic!("{name}: {error}"));
    let _duplicate = REGISTRY.register(Box::new(histogram.clone()));
    histogram
}

/// Every metric in Prometheus' text format.
pub fn text() -> String {
    TextEncoder::new().encode_to_string(&REGISTRY.gather()).unwrap_or_else(|error| format!("# {error}\n"))
}
