//! The cache, for people.

use crate::commands::{show, when};
use signalbox_api::v1::{
    self, CacheStats, ExplainCacheResponse, GetCacheStatsResponse, InvalidateRequest, InvalidateResponse,
    cache_effect::Outcome, cache_stats::SemanticMode, invalidate_request::Scope,
};
use std::collections::HashMap;

/// What is to go, as it was understood.
fn understood(scope: Option<&Scope>) -> String {
    match scope {
        Some(Scope::TaskType(name)) if name.is_empty() => "answers without a task type".to_owned(),
        Some(Scope::TaskType(name)) => format!("answers of task type `{name}`"),
        Some(Scope::Locale(locale)) if locale.is_empty() => "answers without a locale".to_owned(),
        Some(Scope::Locale(locale)) => format!("answers in locale `{locale}`"),
        Some(Scope::Requested(requested)) => format!("answers asked of `{requested}`"),
        Some(Scope::PromptTemplate(name)) if name.contains('@') => {
            format!("answers from version `{name}` of a template")
        }
        Some(Scope::PromptTemplate(name)) => format!("answers from all versions of template `{name}`"),
        Some(Scope::Reference(reference)) => format!("answers for reference `{reference}`"),
        Some(Scope::EntryId(id)) => format!("answer `{id}`"),
        Some(Scope::Everything(_)) | None => "all answers".to_owned(),
    }
}

/// A block for each kind of work.
pub(super) fn stats(answer: &GetCacheStatsResponse) -> String {
    let seen = answer.stats.iter().filter(|stats| stats.lookups > 0 || stats.entries > 0);
    let blocks: Vec<String> = seen.map(block).collect();
    if blocks.is_empty() {
        "nothing was looked up, and nothing is kept".to_owned()
    } else {
        blocks.join("\n\n")
    }
}

fn block(stats: &CacheStats) -> String {
    let name = if stats.task_type.is_empty() { "(no task type)" } else { &stats.task_type };
    let hits = stats.exact_hits + stats.normalized_hits + stats.semantic_hits + stats.coalesced;
    let saved = stats.saved.clone().unwrap_or_default();
    let rows = [
        ("task type", name.to_owned()),
        ("kept", format!("{} answers, {} KiB", stats.entries, stats.bytes.div_ceil(1024))),
        ("lookups", stats.lookups.to_string()),
        ("hits", format!("{hits}{}", share(hits, stats.lookups))),
        ("", of_kinds(stats)),
        ("saved", format!("{}, {}", show::cost(&saved), time(stats))),
        ("bypassed", reasons(&stats.bypassed)),
        ("by meaning", by_meaning(stats)),
        ("refused", reasons(&stats.refused)),
        ("timeouts", if stats.timeouts > 0 { stats.timeouts.to_string() } else { String::new() }),
    ];
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    let rows: Vec<Vec<String>> = rows.map(|(name, value)| vec![name.to_owned(), value]).collect();
    show::table(&rows, &[]).join("\n")
}

fn of_kinds(stats: &CacheStats) -> String {
    let kinds = [
        (stats.exact_hits, "exact"),
        (stats.normalized_hits, "normalised"),
        (stats.semantic_hits, "by meaning"),
        (stats.coalesced, "of identical requests under way"),
    ];
    let told = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}"));
    told.collect::<Vec<_>>().join(", ")
}

fn time(stats: &CacheStats) -> String {
    show::wire_time(stats.saved_latency).unwrap_or_else(|| "no time".to_owned())
}

fn by_meaning(stats: &CacheStats) -> String {
    let how = match stats.semantic_mode() {
        SemanticMode::Unspecified | SemanticMode::Off => return String::new(),
        SemanticMode::Shadow => "looked for and judged, never given",
        SemanticMode::On => "given where the evidence allows",
    };
    let bound = stats.precision_lower_bound * 100.0;
    format!(
        "{how}; {} judged, {} of them wrong: at least {bound:.1} % right",
        stats.audited, stats.audited_wrong
    )
}

/// Most frequent first.
fn reasons(counts: &HashMap<String, u64>) -> String {
    let mut counts: Vec<_> = counts.iter().filter(|(_, count)| **count > 0).collect();
    counts.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), (*reason).clone()));
    counts.iter().map(|(reason, count)| format!("{reason} {count}")).collect::<Vec<_>>().join(", ")
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { format!(" ({:.1} %)", part as f64 * 100.0 / whole as f64) }
}

/// Each check, and what comes of them.
pub(super) fn explained(answer: &ExplainCacheResponse) -> String {
    let mut rows = vec![["CHECK", "", "WHAT"].map(str::to_owned).to_vec()];
    rows.extend(answer.checks.iter().map(|check| {
        let verdict = if check.passed { "passed" } else { "NOT PASSED" };
        vec![check.name.clone(), verdict.to_owned(), check.detail.clone()]
    }));
    let outcome = match answer.outcome() {
        Outcome::ExactHit => "shared: the same request",
        Outcome::NormalizedHit => "shared: the same but for typesetting",
        Outcome::SemanticHit => "shared, where evidence and configuration allow: another wording of the same",
        Outcome::Bypass => "not shared: one of them has nothing to do with the cache",
        Outcome::Miss | Outcome::Coalesced | Outcome::Unspecified => "not shared",
    };
    let similarity = answer.similarity.map(|similarity| format!("\nsimilarity {similarity:.3}"));
    let table = show::table(&rows, &[]).join("\n");
    format!("{outcome}{}\n\n{table}", similarity.unwrap_or_default())
}

/// From when on, and what was destroyed.
pub(super) fn invalidated(request: &InvalidateRequest, answer: &InvalidateResponse) -> String {
    let (whose, from) = (&request.tenant_id, answer.effective_at.as_ref());
    let what = understood(request.scope.as_ref());
    let mut lines = vec![
        format!("{what} of tenant `{whose}`: not given any more after {}", when::shown(from)),
        "(how many there were is not counted: a name or a tenant that does not exist has none)".to_owned(),
    ];
    if let Some(v1::invalidate_response::Erasure { entries, key_ids, verified_at }) = &answer.erasure {
        lines.push(format!("{entries} answers destroyed"));
        if !key_ids.is_empty() {
            lines.push(format!("keys destroyed: {}", key_ids.join(", ")));
        }
        lines.push(format!("nothing was left at {}", when::shown(verified_at.as_ref())));
    }
    lines.join("\n")
}
