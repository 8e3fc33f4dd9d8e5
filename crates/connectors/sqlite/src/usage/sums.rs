//! What is summed, in the order of the columns.

use super::sketch::{Sketch, bucket};
use signalbox_ports::usage_facts::Measures;
use sqlx::{Row, sqlite::SqliteRow};

/// Columns that add up. The first is not in `usage_events`, where it is always one.
pub(super) const COUNTS: [&str; 14] = [
    "requests",
    "attempts",
    "fallbacks",
    "cache_hits",
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_nano_eur",
    "cost_unknown",
    "saved_nano_eur",
    "saved_unknown",
];

/// The sums of one event or of many.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    /// In the order of [`COUNTS`].
    pub(super) counts: [i64; COUNTS.len()],
    /// The greatest of all.
    pub(super) certainty: i64,
    pub(super) latency: Sketch,
    pub(super) first_token: Sketch,
}

/// Of one event, as `usage_events` has it.
#[derive(Debug)]
pub(super) struct Single {
    pub(super) counts: [i64; COUNTS.len()],
    pub(super) certainty: i64,
    pub(super) latency: Option<u16>,
    pub(super) first_token: Option<u16>,
}

impl Single {
    pub(super) fn of(measures: &Measures) -> Self {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let usage = &measures.usage;
        let counts = [
            1,
            number(measures.attempts),
            measures.fallback.into(),
            measures.cache_hit.into(),
            number(usage.input_tokens),
            number(usage.cache_read_tokens),
            number(usage.cache_write_tokens),
            number(usage.cache_write_1h_tokens),
            number(usage.output_tokens),
            number(usage.reasoning_tokens),
            measures.cost_nano_eur,
            measures.cost_unknown.into(),
            measures.saved_nano_eur,
            measures.saved_unknown.into(),
        ];
        Self {
            counts,
            certainty: measures.certainty as i64,
            latency: measures.latency.map(bucket),
            first_token: measures.time_to_first_token.map(bucket),
        }
    }
}

impl Sums {
    pub(super) fn add(&mut self, single: &Single) {
        self.add_counts(&single.counts, single.certainty);
        single.latency.into_iter().for_each(|bucket| self.latency.record(bucket));
        single.first_token.into_iter().for_each(|bucket| self.first_token.record(bucket));
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.add_counts(&other.counts, other.certainty);
        self.latency.merge(&other.latency);
        self.first_token.merge(&other.first_token);
    }

    fn add_counts(&mut self, counts: &[i64; COUNTS.len()], certainty: i64) {
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum = sum.saturating_add(*count);
        }
        self.certainty = self.certainty.max(certainty);
    }

    /// Reads them from a row, from a column on.
    pub(super) fn from_row(row: &SqliteRow, from: usize) -> sqlx::Result<Self> {
        let mut sums = Self::default();
        for (number, count) in sums.counts.iter_mut().enumerate() {
            *count = row.try_get(from + number)?;
        }
        let next = from + COUNTS.len();
        sums.certainty = row.try_get(next)?;
        sums.latency = Sketch::parse(row.try_get(next + 1)?);
        sums.first_token = Sketch::parse(row.try_get(next + 2)?);
        Ok(sums)
    }
}
