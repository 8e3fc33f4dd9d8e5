//! The account of an item: one [`v1::UsageEvent`], whatever its end.

use crate::{
    stored::{Hold, Known, id_in_job},
    submit::worst_case,
};
use signalbox_api::{
    convert::duration_to_proto,
    v1::{
        self,
        attempt::Cause,
        prepare_batch_item_response::Request,
        usage_event::{Operation, Outcome},
    },
};
use signalbox_ports::{
    batches::Item,
    usage_facts::{route_reason, total},
};
use std::time::SystemTime;

/// Version of the meaning of `UsageEvent` that is written.
const SCHEMA_VERSION: u32 = 1;

/// The account of an item that ends now. Its last attempt is the one that served, where one did.
pub(super) fn account(
    item: &Item,
    known: &Known,
    now: SystemTime,
    outcome: Outcome,
    error_reason: &str,
) -> v1::UsageEvent {
    let attempts = known.history.attempts.clone();
    let (usage, cost) = total(&attempts);
    let began = item.job.create_time;
    let latency = now.duration_since(began).unwrap_or_default();
    let mut event = asked(&known.prepared);
    let hold = known.details.holds.iter().find(|hold| hold.scene == event.scene);
    event = v1::UsageEvent {
        schema_version: SCHEMA_VERSION,
        event_id: id_in_job(&item.job, "event", &item.item_id),
        trace_id: known.details.trace_id.clone(),
        tenant_id: item.job.tenant_id.clone(),
        key_id: known.details.key_id.clone(),
        lane: v1::Lane::Batch.into(),
        decision: known.prepared.decision.clone(),
        simulated: !attempts.is_empty() && attempts.iter().all(|attempt| attempt.simulated),
        attempts,
        usage: Some(usage),
        cost: Some(cost),
        outcome: outcome.into(),
        error_reason: error_reason.to_owned(),
        budget: hold.and_then(|hold| hold.effect.clone()),
        charges: hold.map(|hold| charges(hold, &known.prepared)).unwrap_or_default(),
        start_time: Some(began.into()),
        end_time: Some((began + latency).into()),
        latency: Some(duration_to_proto(latency)),
        ..event
    };
    if event.outcome() == Outcome::Succeeded {
        served(&mut event);
    }
    event
}

/// What the request says of itself.
fn asked(prepared: &v1::PrepareBatchItemResponse) -> v1::UsageEvent {
    match &prepared.request {
        Some(Request::Generate(request)) => v1::UsageEvent {
            operation: Operation::Generate.into(),
            request_id: request.request_id.clone(),
            scene: request.scene.clone(),
            task_type: request.task_type.clone(),
            locale: request.locale.clone(),
            reference: request.reference.clone(),
            prompt_template: request.prompt_template.clone(),
            requested_model: request.model.clone(),
            structured: request.response_format.as_ref().is_some_and(|form| form.format.is_some()),
            ..Default::default()
        },
        Some(Request::Embed(request)) => v1::UsageEvent {
            operation: Operation::Embed.into(),
            request_id: request.request_id.clone(),
            scene: request.scene.clone(),
            reference: request.reference.clone(),
            requested_model: request.model.clone(),
            ..Default::default()
        },
        None => v1::UsageEvent { operation: Operation::Generate.into(), ..Default::default() },
    }
}

/// Each item is charged its own part: where its cost is not known, not the whole job's.
fn charges(hold: &Hold, prepared: &v1::PrepareBatchItemResponse) -> Vec<v1::UsageCharge> {
    let reserved_nano_eur = worst_case(prepared);
    hold.charges.iter().map(|charge| v1::UsageCharge { reserved_nano_eur, ..charge.clone() }).collect()
}

/// Who served, and why.
fn served(event: &mut v1::UsageEvent) {
    let Some(last) = event.attempts.last() else { return };
    let Some(attempt) = &last.attempt else { return };
    event.vendor.clone_from(&attempt.vendor);
    event.model.clone_from(&attempt.model);
    event.served_model.clone_from(&last.served_model);
    let cause = Cause::try_from(attempt.cause).unwrap_or_default();
    event.route_reason = route_reason(cause, &last.fallback_reason);
}

/// The account without what vendors and the quality gate quote of prompts and answers, which no account may hold.
pub(super) fn unquoted(mut event: v1::UsageEvent) -> v1::UsageEvent {
    for attempt in event.attempts.iter_mut().filter_map(|attempt| attempt.attempt.as_mut()) {
        attempt.error_message.clear();
    }
    event
}
