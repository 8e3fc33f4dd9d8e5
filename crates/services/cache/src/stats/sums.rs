//! Counts, added up.

use super::count_hit;
use prost_types::Duration;
use signalbox_api::{
    convert::{duration_from_proto, duration_to_proto},
    v1::{CacheEffect, CacheStats, Cost, TokenUsage, token_usage::Source},
};

/// One more answer served, and what it saved.
pub(super) fn served(stats: &mut CacheStats, effect: &CacheEffect) {
    count_hit(stats, effect.outcome());
    add_cost(&mut stats.saved, effect.saved.as_ref());
    add_usage(&mut stats.saved_usage, effect.saved_usage.as_ref());
    add_time(&mut stats.saved_latency, effect.saved_latency);
}

/// Adds all that is counted.
pub(super) fn add(to: &mut CacheStats, more: &CacheStats) {
    let CacheStats {
        task_type,
        // How things stand, not how often they happened: filled in by who answers.
        semantic_mode: _,
        entries: _,
        bytes: _,
        precision_lower_bound: _,
        lookups,
        exact_hits,
        normalized_hits,
        semantic_hits,
        coalesced,
        bypassed,
        refused,
        timeouts,
        saved,
        saved_usage,
        saved_latency,
        audited,
        audited_wrong,
    } = more;
    task_type.clone_into(&mut to.task_type);
    to.lookups += lookups;
    to.exact_hits += exact_hits;
    to.normalized_hits += normalized_hits;
    to.semantic_hits += semantic_hits;
    to.coalesced += coalesced;
    to.timeouts += timeouts;
    to.audited += audited;
    to.audited_wrong += audited_wrong;
    for (sums, more) in [(&mut to.bypassed, bypassed), (&mut to.refused, refused)] {
        for (reason, count) in more {
            *sums.entry(reason.clone()).or_default() += count;
        }
    }
    add_cost(&mut to.saved, saved.as_ref());
    add_usage(&mut to.saved_usage, saved_usage.as_ref());
    add_time(&mut to.saved_latency, *saved_latency);
}

/// The sum is unknown when any part is; `nano_eur` then is the sum of the others.
fn add_cost(to: &mut Option<Cost>, more: Option<&Cost>) {
    let Some(more) = more else { return };
    let to = to.get_or_insert_default();
    to.nano_eur = to.nano_eur.saturating_add(more.nano_eur);
    to.unknown |= more.unknown;
}

fn add_usage(to: &mut Option<TokenUsage>, more: Option<&TokenUsage>) {
    let Some(more) = more else { return };
    let to = to.get_or_insert_with(|| TokenUsage { source: Source::Vendor.into(), ..Default::default() });
    to.input_tokens += more.input_tokens;
    to.cache_read_tokens += more.cache_read_tokens;
    to.cache_write_tokens += more.cache_write_tokens;
    to.cache_write_1h_tokens += more.cache_write_1h_tokens;
    to.output_tokens += more.output_tokens;
    to.reasoning_tokens += more.reasoning_tokens;
    if more.source() != Source::Vendor {
        to.source = Source::Estimated.into();
    }
}

fn add_time(to: &mut Option<Duration>, more: Option<Duration>) {
    let Some(more) = more.and_then(duration_from_proto) else { return };
    let before = to.and_then(duration_from_proto).unwrap_or_default();
    *to = Some(duration_to_proto(before.saturating_add(more)));
}
