//! Jobs and what came of them, for people.

use crate::commands::{show, when};
use signalbox_api::v1::{
    BatchItemError, BatchJob, BatchResult, BatchWindow, Cost, GenerateResponse, Part, Route,
    batch_item_error::Kind, batch_job::Counts, batch_result::Outcome, part,
};

/// Of an answer on a line.
const CHARACTERS: usize = 100;

/// A line each.
pub(super) fn all(jobs: &[BatchJob]) -> String {
    if jobs.is_empty() {
        return "no job".to_owned();
    }
    let head = ["JOB", "TENANT", "STATE", "ITEMS", "DONE", "GOOD", "COST", "HANDED IN (UTC)"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(jobs.iter().map(|job| {
        let counts = job.counts.unwrap_or_default();
        vec![
            job.job_id.clone(),
            job.tenant_id.clone(),
            state(job),
            counts.total.to_string(),
            done(&counts).to_string(),
            counts.succeeded.to_string(),
            cost(job.cost.as_ref()),
            when::shown(job.create_time.as_ref()),
        ]
    }));
    show::table(&rows, &[3, 4, 5, 6]).join("\n")
}

/// All of one.
pub(super) fn one(job: &BatchJob) -> String {
    let at = |time: Option<&prost_types::Timestamp>| {
        time.map(|time| format!("{} UTC", when::shown(Some(time)))).unwrap_or_default()
    };
    let facts = [
        ("job", job.job_id.clone()),
        ("tenant", job.tenant_id.clone()),
        ("state", state(job)),
        ("items", items(&job.counts.unwrap_or_default())),
        ("cost", format!("{} of at most {}", cost(job.cost.as_ref()), cost(job.reserved.as_ref()))),
        ("handed in", at(job.create_time.as_ref())),
        ("due", at(job.complete_by_time.as_ref())),
        ("ended", at(job.end_time.as_ref())),
        ("kept until", at(job.expire_time.as_ref())),
    ];
    let told = facts.into_iter().filter(|(_, fact)| !fact.is_empty());
    let mut lines: Vec<String> = told.map(|(name, fact)| format!("{name:<10} {fact}")).collect();
    lines.extend(windows(&job.windows));
    lines.join("\n")
}

/// Where its items are.
fn windows(windows: &[BatchWindow]) -> Vec<String> {
    if windows.is_empty() {
        return Vec::new();
    }
    let head = ["", "WINDOW", "MODEL", "STATE", "ITEMS", "AT THE VENDOR"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(windows.iter().map(|window| {
        let state = show::word(window.state().as_str_name(), "STATE_");
        let state = match window.error_reason.as_str() {
            "" => state,
            reason => format!("{state}: {reason}"),
        };
        vec![
            String::new(),
            window.window_id.clone(),
            format!("{}/{}", window.vendor, window.model),
            state,
            window.items.to_string(),
            window.vendor_batch_id.clone(),
        ]
    }));
    std::iter::once(String::new()).chain(show::table(&rows, &[4])).collect()
}

/// How one ended, on a line.
pub(super) fn result(result: &BatchResult) -> String {
    let nobody = Route::default();
    let (who, what) = match &result.outcome {
        Some(Outcome::Generate(answer)) => {
            (served_by(answer.route.as_ref().unwrap_or(&nobody), answer.cost.as_ref()), text(answer))
        }
        Some(Outcome::Embed(answer)) => {
            let vectors = format!("{} vectors", answer.embeddings.len());
            (served_by(answer.route.as_ref().unwrap_or(&nobody), answer.cost.as_ref()), vectors)
        }
        Some(Outcome::Error(error)) => (how(error), format!("{}: {}", error.reason, error.message)),
        None => ("nothing is known of it".to_owned(), String::new()),
    };
    format!("{}  {who}  {what}", result.item_id).trim_end().to_owned()
}

fn served_by(route: &Route, paid: Option<&Cost>) -> String {
    format!("{}/{}  {}", route.vendor, route.model, cost(paid))
}

/// How it ended, and what it cost all the same.
fn how(error: &BatchItemError) -> String {
    let how = match error.kind() {
        Kind::Failed | Kind::Unspecified => "FAILED",
        Kind::Cancelled => "CANCELLED",
        Kind::Expired => "EXPIRED",
    };
    let paid = error.failure.as_ref().and_then(|failure| failure.total_cost.as_ref());
    match paid.filter(|cost| cost.unknown || cost.nano_eur != 0) {
        Some(paid) => format!("{how}  {}", show::cost(paid)),
        None => how.to_owned(),
    }
}

/// The beginning of an answer, on a line.
fn text(answer: &GenerateResponse) -> String {
    let texts = answer.content.iter().filter_map(|part: &Part| match &part.part {
        Some(part::Part::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    let words: Vec<&str> = texts.flat_map(str::split_whitespace).collect();
    let line = words.join(" ");
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn state(job: &BatchJob) -> String {
    show::word(job.state().as_str_name(), "STATE_")
}

fn cost(cost: Option<&Cost>) -> String {
    show::cost(&cost.cloned().unwrap_or_default())
}

fn done(counts: &Counts) -> u64 {
    counts.succeeded + counts.failed + counts.cancelled + counts.expired
}

fn items(counts: &Counts) -> String {
    let kinds = [
        (counts.queued, "queued"),
        (counts.running, "at vendors"),
        (counts.succeeded, "succeeded"),
        (counts.failed, "failed"),
        (counts.cancelled, "cancelled"),
        (counts.expired, "expired"),
    ];
    let told = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}"));
    format!("{}: {}", counts.total, told.collect::<Vec<_>>().join(", "))
}
