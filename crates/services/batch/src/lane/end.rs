//! How items end, and what their owner is given.

use super::account::{account, unquoted};
use crate::stored::Known;
use prost::Message as _;
use signalbox_api::v1::{
    self, batch_item_error::Kind, batch_result::Outcome as Told, usage_event::Outcome as Accounted,
};
use signalbox_batching::{JobState, Outcome};
use signalbox_ports::batches::{Item, ItemEnd, Spent};
use signalbox_types::{ErrorReason, Failure};
use std::time::SystemTime;

/// Whether nobody waits for an item any more, and how it ends then.
pub(super) fn unwanted(item: &Item, now: SystemTime) -> Option<Outcome> {
    match item.job.state {
        JobState::Cancelling => Some(Outcome::Cancelled),
        _ if now >= item.job.complete_by => Some(Outcome::Expired),
        _ => None,
    }
}

/// An answer as it came from the last attempt of an item.
#[derive(Debug)]
pub(super) enum Answer {
    /// In words.
    Words(v1::InvokeModelResponse),
    /// As vectors.
    Vectors(v1::InvokeEmbeddingResponse),
}

/// The item was answered; the attempt that served is in its history.
pub(super) fn succeeded(item: &Item, known: &Known, answer: Answer, now: SystemTime) -> ItemEnd {
    let event = account(item, known, now, Accounted::Succeeded, "");
    let told = match answer {
        Answer::Words(answer) => Told::Generate(in_words(&event, known, answer)),
        Answer::Vectors(answer) => Told::Embed(as_vectors(&event, known, answer)),
    };
    ended(item, Outcome::Succeeded, told, event)
}

fn in_words(event: &v1::UsageEvent, known: &Known, answer: v1::InvokeModelResponse) -> v1::GenerateResponse {
    let facts = answer.facts.unwrap_or_default();
    v1::GenerateResponse {
        request_id: event.request_id.clone(),
        content: answer.content,
        finish_reason: answer.finish_reason,
        vendor_finish_reason: answer.vendor_finish_reason,
        usage: Some(facts.usage.unwrap_or_default()),
        cost: Some(facts.cost.clone().unwrap_or_default()),
        route: Some(route(event, known, facts)),
    }
}

fn as_vectors(
    event: &v1::UsageEvent,
    known: &Known,
    answer: v1::InvokeEmbeddingResponse,
) -> v1::EmbedResponse {
    let facts = answer.facts.unwrap_or_default();
    v1::EmbedResponse {
        request_id: event.request_id.clone(),
        embeddings: answer.embeddings,
        usage: Some(facts.usage.unwrap_or_default()),
        cost: Some(facts.cost.clone().unwrap_or_default()),
        route: Some(route(event, known, facts)),
    }
}

fn route(event: &v1::UsageEvent, known: &Known, facts: v1::CallFacts) -> v1::Route {
    let lane = match known.prepared.lane() {
        v1::Lane::Batch => v1::Lane::Batch,
        v1::Lane::Interactive | v1::Lane::Unspecified => v1::Lane::Unspecified,
    };
    v1::Route {
        vendor: event.vendor.clone(),
        model: event.model.clone(),
        served_model: event.served_model.clone(),
        attempts: attempts(event),
        decision: event.decision.clone(),
        budget: event.budget.clone(),
        simulated: facts.simulated,
        adjustments: facts.adjustments,
        latency: event.latency,
        total_cost: event.cost.clone(),
        content_findings: known.history.findings.clone(),
        lane: lane.into(),
        ..Default::default()
    }
}

fn attempts(event: &v1::UsageEvent) -> Vec<v1::Attempt> {
    event.attempts.iter().filter_map(|attempt| attempt.attempt.clone()).collect()
}

/// The item failed, after the tries in its history.
pub(super) fn failed(item: &Item, known: &Known, failure: &Failure, now: SystemTime) -> ItemEnd {
    let event = account(item, known, now, Accounted::Failed, failure.reason.name());
    // Its vendor's time was over, if not its job's.
    let (kind, how) = match failure.reason {
        ErrorReason::DeadlineExceeded => (Kind::Expired, Outcome::Expired),
        _ => (Kind::Failed, Outcome::Failed),
    };
    let error = error(kind, failure.reason, failure.message.clone(), &event);
    ended(item, how, Told::Error(error), event)
}

/// Nobody waits for the item any more, whatever became of it.
pub(super) fn given_up(item: &Item, known: &Known, how: Outcome, now: SystemTime) -> ItemEnd {
    let (kind, reason, accounted, mut message) = match how {
        Outcome::Cancelled => {
            let message = "its job was cancelled before it was answered".to_owned();
            (Kind::Cancelled, ErrorReason::Cancelled, Accounted::Cancelled, message)
        }
        _ => {
            let message = "it was not answered within the completion window of its job".to_owned();
            (Kind::Expired, ErrorReason::DeadlineExceeded, Accounted::Failed, message)
        }
    };
    let last = known.history.attempts.last().and_then(|last| last.attempt.as_ref());
    // That it was stopped says nothing more.
    let stopped = [reason.name(), ErrorReason::Cancelled.name()];
    if let Some(last) = last.filter(|last| !stopped.contains(&last.error_reason.as_str())) {
        message.push_str(&format!("; the last try failed with {}", last.error_reason));
    }
    let event = account(item, known, now, accounted, reason.name());
    let error = error(kind, reason, message, &event);
    ended(item, how, Told::Error(error), event)
}

fn error(kind: Kind, reason: ErrorReason, message: String, event: &v1::UsageEvent) -> v1::BatchItemError {
    let failure = v1::RouteFailure {
        request_id: event.request_id.clone(),
        attempts: attempts(event),
        decision: event.decision.clone(),
        total_cost: event.cost.clone(),
    };
    v1::BatchItemError {
        kind: kind.into(),
        reason: reason.name().to_owned(),
        message,
        failure: Some(failure),
    }
}

fn ended(item: &Item, outcome: Outcome, told: Told, event: v1::UsageEvent) -> ItemEnd {
    let result =
        v1::BatchResult { item_id: item.item_id.clone(), outcome: Some(told), end_time: event.end_time };
    let cost = event.cost.as_ref().map(|cost| Spent { nano_eur: cost.nano_eur, unknown: cost.unknown });
    ItemEnd {
        outcome,
        result: result.encode_to_vec(),
        event: unquoted(event).encode_to_vec(),
        cost: cost.unwrap_or_default(),
    }
}
