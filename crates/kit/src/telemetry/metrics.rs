//! Prometheus metrics of the process.

use super::process;
use prometheus::{
    CounterVec, GaugeVec, HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry,
    TextEncoder, core::Collector,
};
use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex, PoisonError},
};

/// The process's registry, served at `/metrics`.
pub static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::new);

/// What was registered, by name: a family without a series is not in the text.
static FAMILIES: Mutex<BTreeMap<String, Family>> = Mutex::new(BTreeMap::new());

/// A metric, as it was registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// As in the text.
    pub name: String,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// Names of its labels.
    pub labels: Vec<String>,
    /// What it says.
    pub help: String,
}

/// All that are registered by now, by name.
pub fn families() -> Vec<Family> {
    FAMILIES.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
}

/// A name that is there already keeps its first registration.
fn register(metric: impl Collector + 'static, kind: &'static str, name: &str, help: &str, labels: &[&str]) {
    if REGISTRY.register(Box::new(metric)).is_ok() {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        let family = Family { name: name.to_owned(), kind, labels, help: help.to_owned() };
        FAMILIES.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), family);
    }
}

/// Shows a counter from the start, as 0: by each value of its only label, or as it is where it has none. What appears with its
/// first event has no increase that an alert could see.
pub fn from_zero(counter: &IntCounterVec, values: &[&str]) {
    if values.is_empty() {
        counter.with_label_values::<&str>(&[]);
    }
    for value in values {
        counter.with_label_values(&[value]);
    }
}

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
    register(counter.clone(), "counter", name, help, labels);
    counter
}

/// Registers a counter of what is not whole.
#[expect(clippy::panic, reason = "as for counters")]
pub fn amount(name: &str, help: &str, labels: &[&str]) -> CounterVec {
    let counter =
        CounterVec::new(Opts::new(name, help), labels).unwrap_or_else(|error| panic!("{name}: {error}"));
    register(counter.clone(), "counter", name, help, labels);
    counter
}

/// Registers a gauge.
#[expect(clippy::panic, reason = "as for counters")]
pub fn gauge(name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
    let gauge =
        IntGaugeVec::new(Opts::new(name, help), labels).unwrap_or_else(|error| panic!("{name}: {error}"));
    register(gauge.clone(), "gauge", name, help, labels);
    gauge
}

/// Registers a gauge of numbers that are not whole.
#[expect(clippy::panic, reason = "as for counters")]
pub fn number(name: &str, help: &str, labels: &[&str]) -> GaugeVec {
    let gauge =
        GaugeVec::new(Opts::new(name, help), labels).unwrap_or_else(|error| panic!("{name}: {error}"));
    register(gauge.clone(), "gauge", name, help, labels);
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
    register(histogram.clone(), "histogram", name, help, labels);
    histogram
}

/// Every metric in Prometheus' text format.
pub fn text() -> String {
    process::look();
    TextEncoder::new().encode_to_string(&REGISTRY.gather()).unwrap_or_else(|error| format!("# {error}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_listed_before_it_has_a_series() {
        let _unused = histogram("a_test_listed_seconds", "How long.", &["of"], &[1.0]);
        let family = families().into_iter().find(|family| family.name == "a_test_listed_seconds").unwrap();
        assert_eq!(
            (family.kind, &*family.labels, &*family.help),
            ("histogram", &["of".to_owned()][..], "How long.")
        );
        assert!(!text().contains("a_test_listed_seconds"));
    }

    #[test]
    fn a_counter_may_be_seen_before_its_first_event() {
        from_zero(&counter("a_test_zero_total", "Things.", &["of"]), &["one", "other"]);
        from_zero(&counter("a_test_bare_total", "Things.", &[]), &[]);
        let text = text();
        for series in
            ["a_test_zero_total{of=\"one\"} 0", "a_test_zero_total{of=\"other\"} 0", "a_test_bare_total 0"]
        {
            assert!(text.lines().any(|line| line == series), "{series} in {text}");
        }
    }
}
