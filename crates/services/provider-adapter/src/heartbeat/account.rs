//! The account of a heartbeat. Nobody asked for it, but it costs.

use crate::{call::Call, service::Dependencies};
use signalbox_api::{convert, v1};
use signalbox_ports::{CallOutcome, OpenAccount, Reservation, UsageLog};
use signalbox_pricing::{Day, SoFar};
use signalbox_types::{ErrorReason, Failure, FinishReason, Money, TokenUsage};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use uuid::Uuid;
use v1::usage_event::{Operation, Outcome};

/// Version of the meaning of `UsageEvent` that is written.
const SCHEMA_VERSION: u32 = 1;

/// A heartbeat's account, to be closed at its end.
#[derive(Debug)]
pub(crate) struct ProbeAccount {
    log: Arc<dyn UsageLog>,
    open: OpenAccount,
    event: v1::UsageEvent,
    attempt: v1::UsageAttempt,
    began: SystemTime,
    /// What was taken of budgets for it; gone once it is settled.
    paid: Option<Box<dyn Reservation>>,
}

/// How a heartbeat ended.
pub(crate) struct ProbeEnd {
    pub(crate) outcome: CallOutcome,
    pub(crate) usage: TokenUsage,
    pub(crate) cost: v1::Cost,
    pub(crate) latency: Duration,
    pub(crate) first_token: Option<Duration>,
}

impl ProbeAccount {
    /// Opens the account of a heartbeat that is about to be made, with what was taken of budgets for it; fails where it
    /// could not be accounted for.
    pub(crate) fn open(
        dependencies: &Dependencies,
        call: &Call,
        paid: Option<Box<dyn Reservation>>,
    ) -> Result<Self, Failure> {
        let began = dependencies.clock.now();
        let mut account = Self {
            log: dependencies.usage.clone(),
            open: OpenAccount(0),
            event: event(call, began),
            attempt: attempt(call, began),
            began,
            paid,
        };
        if let Some(paid) = &account.paid {
            account.event.charges = paid.charges().to_vec();
            account.event.budget = Some(paid.effect());
        }
        account.say(Outcome::Failed, ErrorReason::Unavailable.name(), &worst(dependencies, call, began));
        match account.log.open(&account.event) {
            Ok(opened) => account.open = opened,
            Err(full) => {
                account.settle(Some(Money::ZERO), 0);
                return Err(Failure::new(ErrorReason::Unavailable, format!("no heartbeat: {full}")));
            }
        }
        Ok(account)
    }

    /// The vendor has told who answered.
    pub(crate) fn answered(&mut self, served_model: &str, vendor_request_id: &str) {
        served_model.clone_into(&mut self.attempt.served_model);
        if let Some(attempt) = &mut self.attempt.attempt {
            vendor_request_id.clone_into(&mut attempt.vendor_request_id);
            self.event.vendor.clone_from(&attempt.vendor);
            self.event.model.clone_from(&attempt.model);
        }
        served_model.clone_into(&mut self.event.served_model);
        "heartbeat".clone_into(&mut self.event.route_reason);
    }

    /// The vendor has told why its answer ended.
    pub(crate) fn finished(&mut self, reason: FinishReason) {
        self.event.finish_reason = convert::finish_reason_to_proto(reason).into();
    }

    /// The heartbeat has ended.
    pub(crate) fn close(mut self, end: &ProbeEnd) {
        let (outcome, reason) = match end.outcome {
            CallOutcome::Answered => (Outcome::Succeeded, ""),
            CallOutcome::Failed(reason) => (Outcome::Failed, reason.name()),
            CallOutcome::Cancelled => (Outcome::Cancelled, ErrorReason::Cancelled.name()),
        };
        let latency = Some(convert::duration_to_proto(end.latency));
        self.event.end_time = Some((self.began + end.latency).into());
        self.event.latency = latency;
        self.event.time_to_first_token = end.first_token.map(convert::duration_to_proto);
        self.attempt.time_to_first_token = self.event.time_to_first_token;
        if let Some(attempt) = &mut self.attempt.attempt {
            attempt.latency = latency;
        }
        self.say(outcome, reason, end);
        let cost = (!end.cost.unknown).then(|| Money::from_nano_eur(end.cost.nano_eur));
        self.settle(cost, end.usage.prompt_tokens().saturating_add(end.usage.answer_tokens()));
        self.log.close(self.open, &self.event);
    }

    fn settle(&mut self, cost: Option<Money>, tokens: u64) {
        if let Some(paid) = self.paid.take() {
            paid.settle(cost, tokens);
        }
    }

    fn say(&mut self, outcome: Outcome, reason: &str, end: &ProbeEnd) {
        let usage = convert::usage_to_proto(&end.usage);
        if let Some(attempt) = &mut self.attempt.attempt {
            (attempt.usage, attempt.cost) = (Some(usage), Some(end.cost.clone()));
            reason.clone_into(&mut attempt.error_reason);
        }
        self.event.set_outcome(outcome);
        reason.clone_into(&mut self.event.error_reason);
        (self.event.usage, self.event.cost) = (Some(usage), Some(end.cost.clone()));
        self.event.attempts = vec![self.attempt.clone()];
    }
}

/// What is told should the process die before the end: the vendor has read the prompt.
fn worst(dependencies: &Dependencies, call: &Call, now: SystemTime) -> ProbeEnd {
    let usage = SoFar::new(call.prompt_tokens).used();
    let catalog = dependencies.config.catalog();
    let prices = catalog.prices();
    let cost = prices.cost(&call.model, &usage, call.request.lane, Day::of(now));
    ProbeEnd {
        outcome: CallOutcome::Cancelled,
        usage,
        cost: convert::cost_to_proto(cost, prices.price_version()),
        latency: Duration::ZERO,
        first_token: None,
    }
}

fn event(call: &Call, began: SystemTime) -> v1::UsageEvent {
    v1::UsageEvent {
        schema_version: SCHEMA_VERSION,
        event_id: Uuid::now_v7().to_string(),
        request_id: call.request.request_id.clone(),
        tenant_id: call.request.tenant_id.clone(),
        lane: v1::Lane::Interactive.into(),
        operation: Operation::Probe.into(),
        requested_model: call.model.to_string(),
        start_time: Some(began.into()),
        simulated: call.vendor.simulated(),
        ..Default::default()
    }
}

fn attempt(call: &Call, began: SystemTime) -> v1::UsageAttempt {
    let attempt = v1::Attempt {
        vendor: call.model.vendor.to_string(),
        model: call.model.model.to_string(),
        cause: v1::attempt::Cause::FirstChoice.into(),
        ..Default::default()
    };
    v1::UsageAttempt {
        attempt: Some(attempt),
        kind: v1::usage_attempt::Kind::Answer.into(),
        start_time: Some(began.into()),
        simulated: call.vendor.simulated(),
        ..Default::default()
    }
}
