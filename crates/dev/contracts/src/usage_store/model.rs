//! The plainest store there can be: a list of events. What it answers is what every store must answer.

use crate::calendar;
use signalbox_api::v1::{Cost, LatencySummary, UsageRow};
use signalbox_api::v1::{TokenUsage, UsageEvent, usage_event::Outcome};
use signalbox_ports::{
    usage_facts::{Call, Certainty, Measures, calls, group_value, matches},
    usage_store::{Counted, Export, Minute, Query, Requests, Window},
};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
    time::{Duration, SystemTime},
};

/// A list of events.
#[derive(Debug, Default)]
pub(super) struct Model {
    counted: Vec<Counted>,
    known: HashSet<String>,
    closed_until: Option<SystemTime>,
}

/// A row with the times that its summaries are of, in order.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) row: UsageRow,
    pub(super) latencies: Vec<Duration>,
    pub(super) first_tokens: Vec<Duration>,
    certainty: Option<Certainty>,
}

impl Model {
    /// How many of the events are new.
    pub(super) fn insert(&mut self, events: &[UsageEvent], now: SystemTime) -> usize {
        let before = self.counted.len();
        for event in events {
            if self.known.insert(event.event_id.clone()) {
                let end = event.end_time.unwrap().try_into().unwrap();
                let late = self.closed_until.is_some_and(|closed| end < closed);
                let when = if late { now } else { end };
                self.counted.push(Counted { when, event: event.clone() });
            }
        }
        self.counted.len() - before
    }

    pub(super) fn close_months(&mut self, before: SystemTime) {
        self.closed_until = self.closed_until.max(Some(calendar::month(before)));
    }

    pub(super) fn newest(&self) -> Option<SystemTime> {
        self.counted.iter().map(|counted| counted.when).max()
    }

    fn within(&self, window: Window) -> impl Iterator<Item = &Counted> {
        self.counted.iter().filter(move |counted| window.start <= counted.when && counted.when < window.end)
    }

    /// All rows, without paging.
    pub(super) fn query(&self, query: &Query) -> Vec<Row> {
        let mut rows: BTreeMap<(SystemTime, Vec<String>), Row> = BTreeMap::new();
        for counted in self.within(query.window).filter(|counted| matches(&counted.event, &query.filter)) {
            let start = calendar::bucket(counted.when, query.interval).unwrap_or(query.window.start);
            let group =
                query.group_by.iter().map(|dimension| group_value(&counted.event, *dimension)).collect();
            rows.entry((start, group)).or_default().add(&counted.event);
        }
        let mut rows: Vec<Row> =
            rows.into_iter().map(|((start, group), row)| row.named(start, group)).collect();
        // Stable: rows that cost the same stay in the order of their groups.
        rows.sort_by_key(|row| (seconds(&row.row), Reverse(row.row.cost.as_ref().unwrap().nano_eur)));
        rows
    }

    /// All requests, without a limit.
    pub(super) fn requests(&self, query: &Requests) -> Vec<Counted> {
        let wanted = |counted: &&Counted| {
            let this = query.request_id.is_empty() || query.request_id == counted.event.request_id;
            let after = query.after.as_ref();
            let follows =
                after.is_none_or(|(when, id)| (counted.when, &counted.event.event_id) < (*when, id));
            this && follows && matches(&counted.event, &query.filter)
        };
        let mut found: Vec<Counted> = self.within(query.window).filter(wanted).cloned().collect();
        found.sort_by_key(|counted| Reverse((counted.when, counted.event.event_id.clone())));
        found
    }

    pub(super) fn export(&self, export: &Export) -> Vec<Counted> {
        let wanted =
            |counted: &&Counted| export.tenant_id.is_empty() || export.tenant_id == counted.event.tenant_id;
        let mut found: Vec<Counted> = self.within(export.month).filter(wanted).cloned().collect();
        found.sort_by_key(|counted| (counted.when, counted.event.event_id.clone()));
        found
    }

    pub(super) fn minutes(&self, window: Window) -> Vec<Minute> {
        let mut minutes: BTreeMap<(SystemTime, String, String), Minute> = BTreeMap::new();
        for counted in &self.counted {
            let start = calendar::minute(counted.when);
            if start < window.start || start >= window.end {
                continue;
            }
            for call in calls(&counted.event) {
                let (vendor, model) = (call.vendor.to_owned(), call.model.to_owned());
                let minute = minutes
                    .entry((start, vendor.clone(), model.clone()))
                    .or_insert_with(|| nothing(start, vendor, model));
                add(minute, &call);
            }
        }
        minutes.into_values().collect()
    }
}

impl Row {
    fn add(&mut self, event: &UsageEvent) {
        let measures = Measures::of(event);
        let row = &mut self.row;
        row.requests += 1;
        row.failed += u64::from(event.outcome() == Outcome::Failed);
        row.cancelled += u64::from(event.outcome() == Outcome::Cancelled);
        row.attempts += measures.attempts;
        row.fallbacks += u64::from(measures.fallback);
        row.cache_hits += u64::from(measures.cache_hit);
        add_tokens(row.usage.get_or_insert_default(), &measures.usage);
        add_cost(row.cost.get_or_insert_default(), measures.cost_nano_eur, measures.cost_unknown);
        add_cost(row.saved.get_or_insert_default(), measures.saved_nano_eur, measures.saved_unknown);
        row.cost_unknown_requests += u64::from(measures.cost_unknown);
        self.certainty = self.certainty.max(Some(measures.certainty));
        self.latencies.extend(measures.latency);
        self.first_tokens.extend(measures.time_to_first_token);
    }

    fn named(mut self, start: SystemTime, group: Vec<String>) -> Self {
        self.row.start_time = Some(start.into());
        self.row.group = group;
        let source = self.certainty.unwrap_or(Certainty::NothingUsed).source();
        self.row.usage.get_or_insert_default().set_source(source);
        self.latencies.sort();
        self.first_tokens.sort();
        self
    }

    /// How an answer differs from this row, if it does.
    pub(super) fn difference(&self, answer: &UsageRow) -> Option<String> {
        let summaries = [
            ("latency", &self.latencies, answer.latency),
            ("time_to_first_token", &self.first_tokens, answer.time_to_first_token),
        ];
        let plain = UsageRow { latency: None, time_to_first_token: None, ..answer.clone() };
        if plain != self.row {
            return Some(format!("expected {:#?}\n  answered {plain:#?}", self.row));
        }
        summaries.into_iter().find_map(|(name, times, summary)| {
            (!is_summary(summary, times)).then(|| format!("{name} {summary:?} is not that of {times:?}"))
        })
    }
}

/// Whether each quantile is within 2 % of the times around its rank. Stores differ in which of two neighbours they take.
fn is_summary(summary: Option<LatencySummary>, times: &[Duration]) -> bool {
    let Some(summary) = summary else { return times.is_empty() };
    let quantiles = [(0.5, summary.p50), (0.95, summary.p95), (0.99, summary.p99)];
    quantiles.into_iter().all(|(share, told)| {
        let told: Duration = told.unwrap_or_default().try_into().unwrap_or_default();
        let (low, high) = ((times.len() - 1) as f64 * share, times.len() as f64 * share);
        let (low, high) = (low.floor() as usize, (high.ceil() as usize).min(times.len() - 1));
        times[low].mul_f64(0.98) <= told && told <= times[high].mul_f64(1.02)
    })
}

fn seconds(row: &UsageRow) -> i64 {
    row.start_time.as_ref().map_or(0, |start| start.seconds)
}

fn add_tokens(sum: &mut TokenUsage, more: &TokenUsage) {
    sum.input_tokens += more.input_tokens;
    sum.cache_read_tokens += more.cache_read_tokens;
    sum.cache_write_tokens += more.cache_write_tokens;
    sum.cache_write_1h_tokens += more.cache_write_1h_tokens;
    sum.output_tokens += more.output_tokens;
    sum.reasoning_tokens += more.reasoning_tokens;
}

fn add_cost(sum: &mut Cost, nano_eur: i64, unknown: bool) {
    sum.nano_eur += nano_eur;
    sum.unknown |= unknown;
}

fn nothing(start: SystemTime, vendor: String, model: String) -> Minute {
    Minute {
        start,
        vendor,
        model,
        calls: 0,
        failed: 0,
        fell_back: 0,
        first_choices: 0,
        structured: 0,
        invalid: 0,
        cost_nano_eur: 0,
        priced: 0,
        output_tokens: 0,
        answered: 0,
    }
}

fn add(minute: &mut Minute, call: &Call<'_>) {
    minute.calls += 1;
    minute.failed += u64::from(call.failed);
    minute.fell_back += u64::from(call.fell_back);
    minute.first_choices += u64::from(call.first_choice);
    minute.structured += u64::from(call.structured);
    minute.invalid += u64::from(call.invalid);
    minute.cost_nano_eur += call.cost_nano_eur.unwrap_or(0);
    minute.priced += u64::from(call.cost_nano_eur.is_some());
    minute.output_tokens += call.output_tokens.unwrap_or(0);
    minute.answered += u64::from(call.output_tokens.is_some());
}
