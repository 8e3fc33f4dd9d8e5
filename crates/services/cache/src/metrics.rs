//! What operators see of the cache. No labels of tenants or tasks: there are many of them.

use prometheus::{HistogramVec, IntCounterVec};
use signalbox_api::v1::{CachedAnswer, cache_effect::Outcome};
use signalbox_caching::judge::Verdict;
use signalbox_kit::telemetry::metrics;
use std::sync::LazyLock;

static LOOKUPS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cache_lookups_total",
        "Lookups by outcome, and by what refused a near answer, bypassed the cache or went wrong.",
        &["outcome", "reason"],
    )
});
static STORES: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cache_stores_total",
        "Answers to be kept, by whether they were (stored) or why not.",
        &["result"],
    )
});
static VIOLATIONS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cache_isolation_violations_total",
        "Entries that did not belong where they were found, by what gave them away. They were not served. Must stay 0.",
        &["by"],
    )
});
static SAVED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cache_saved_nano_eur_total",
        "What the answers that were served had cost.",
        &[],
    )
});
static SIMILARITY: LazyLock<HistogramVec> = LazyLock::new(|| {
    metrics::histogram(
        "signalbox_cache_similarity",
        "Similarity of near answers that passed the guards, by whether they were served or refused.",
        &["result"],
        &[0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 1.0],
    )
});
static JUDGED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cache_audits_total",
        "Near answers that were compared with the model's, by verdict; unsure counts as wrong.",
        &["verdict"],
    )
});
static REPORTS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter("signalbox_cache_reports_total", "Reports on answers served, by verdict.", &["verdict"])
});
static EMBEDDED: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_cache_embedded_texts_total",
        "Instructions of which a vector was to be made, by whether it was.",
        &["result"],
    )
});
static INVALIDATIONS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter("signalbox_cache_invalidations_total", "Invalidations, by what they named.", &["scope"])
});

/// What gave an entry away that did not belong where it was found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Violation {
    /// It says itself that it is of another partition.
    Partition,
    /// It is of this partition, but not what its key says.
    Key,
    /// It cannot be opened here.
    Seal,
}

pub(crate) fn looked_up(outcome: Outcome, reason: &str) {
    let name = outcome.as_str_name().trim_start_matches("OUTCOME_").to_ascii_lowercase();
    LOOKUPS.with_label_values(&[&name, reason]).inc();
}

pub(crate) fn kept(result: &str) {
    STORES.with_label_values(&[result]).inc();
}

pub(crate) fn violation(by: Violation) {
    let by = match by {
        Violation::Partition => "partition",
        Violation::Key => "key",
        Violation::Seal => "seal",
    };
    VIOLATIONS.with_label_values(&[by]).inc();
    tracing::error!(by, "a cached answer did not belong where it was found, and was not served");
}

/// How many entries were given away by anything so far.
#[cfg(test)]
pub(crate) fn violations() -> u64 {
    ["partition", "key", "seal"].iter().map(|by| VIOLATIONS.with_label_values(&[by]).get()).sum()
}

pub(crate) fn saved(answer: &CachedAnswer) {
    let cost = answer.cost.as_ref().map_or(0, |cost| cost.nano_eur);
    SAVED.with_label_values::<&str>(&[]).inc_by(u64::try_from(cost).unwrap_or(0));
}

pub(crate) fn similarity(result: &str, similarity: f32) {
    SIMILARITY.with_label_values(&[result]).observe(similarity.into());
}

pub(crate) fn judged(verdict: Verdict) {
    let verdict = match verdict {
        Verdict::Right => "right",
        Verdict::Wrong => "wrong",
        Verdict::Unsure => "unsure",
    };
    JUDGED.with_label_values(&[verdict]).inc();
}

pub(crate) fn reported(is_right: bool) {
    REPORTS.with_label_values(&[if is_right { "right" } else { "wrong" }]).inc();
}

pub(crate) fn embedded(result: &str, texts: usize) {
    EMBEDDED.with_label_values(&[result]).inc_by(texts as u64);
}

pub(crate) fn invalidated(scope: &str) {
    INVALIDATIONS.with_label_values(&[scope]).inc();
}

pub(crate) fn register() {
    metrics::from_zero(&VIOLATIONS, &["partition", "key", "seal"]);
    metrics::from_zero(&SAVED, &[]);
    metrics::from_zero(&JUDGED, &["right", "wrong", "unsure"]);
    metrics::from_zero(&REPORTS, &["right", "wrong"]);
    for counter in [&LOOKUPS, &STORES, &EMBEDDED, &INVALIDATIONS] {
        LazyLock::force(counter);
    }
    LazyLock::force(&SIMILARITY);
}
