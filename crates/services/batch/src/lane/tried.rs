//! One try of an item: where, since when, and what came of it.

use crate::stored::Known;
use signalbox_api::{
    convert::duration_to_proto,
    status::{self, from_status},
    v1::{self, attempt::Cause, usage_attempt::Kind},
};
use signalbox_batching::Target;
use signalbox_ports::usage_facts::nothing;
use signalbox_types::{ErrorReason, Failure};
use std::time::{Duration, SystemTime};
use tonic::Status;

/// A try.
#[derive(Debug, Clone, Copy)]
pub(super) struct Try<'a> {
    pub(super) target: &'a Target,
    /// When the vendor was asked.
    pub(super) started: SystemTime,
    /// How long the call took; `None` for a batch, of which that says nothing.
    pub(super) took: Option<Duration>,
}

/// How a try failed, and what is known of the call.
#[derive(Debug, Clone)]
pub(super) struct Failed {
    pub(super) failure: Failure,
    pub(super) told: v1::CallFailure,
}

impl Failed {
    /// A call failed. The adapter's account of it is in the status, where it got that far.
    pub(super) fn of_call(status: &Status) -> Self {
        let failure = from_status(status);
        let told = status::detail::<v1::CallFailure>(status);
        Self { failure, told: told.unwrap_or_else(unbilled) }
    }

    /// A vendor's batch has no answer for an item. That is billed only where one came that cannot be used.
    pub(super) fn of_item(error: &v1::BatchItemError) -> Self {
        use v1::batch_item_error::Kind;
        let reason = match error.kind() {
            Kind::Cancelled => ErrorReason::Cancelled,
            Kind::Expired => ErrorReason::DeadlineExceeded,
            Kind::Failed | Kind::Unspecified => {
                ErrorReason::from_name(&error.reason).unwrap_or(ErrorReason::VendorError)
            }
        };
        let used = error.failure.as_ref().and_then(|failure| failure.attempts.last());
        let told = used.map(|used| v1::CallFailure {
            usage: used.usage,
            cost: used.cost.clone(),
            ..Default::default()
        });
        Self { failure: Failure::new(reason, error.message.clone()), told: told.unwrap_or_else(unbilled) }
    }

    /// It failed before the vendor worked on it.
    pub(super) fn unbilled(reason: ErrorReason, message: impl Into<String>) -> Self {
        Self { failure: Failure::new(reason, message.into()), told: unbilled() }
    }

    /// Nobody knows what became of it, nor what it cost.
    pub(super) fn unknown(reason: ErrorReason, message: impl Into<String>) -> Self {
        let cost = Some(v1::Cost { unknown: true, ..Default::default() });
        Self {
            failure: Failure::new(reason, message.into()),
            told: v1::CallFailure { cost, ..Default::default() },
        }
    }
}

fn unbilled() -> v1::CallFailure {
    v1::CallFailure { usage: Some(nothing()), cost: Some(v1::Cost::default()), ..Default::default() }
}

impl Try<'_> {
    /// Why it was made.
    fn cause(&self, known: &Known) -> Cause {
        let Some(before) = known.history.attempts.last().and_then(|last| last.attempt.as_ref()) else {
            return Cause::FirstChoice;
        };
        if before.error_reason == ErrorReason::OutputInvalid.name() {
            return Cause::Quality;
        }
        let same = (&before.vendor, &before.model) == (&self.target.vendor, &self.target.model);
        if same { Cause::Retry } else { Cause::Fallback }
    }

    fn blank(&self, known: &Known) -> v1::UsageAttempt {
        let last = known.history.attempts.last().and_then(|last| last.attempt.as_ref());
        let attempt = v1::Attempt {
            vendor: self.target.vendor.clone(),
            model: self.target.model.clone(),
            cause: self.cause(known).into(),
            latency: self.took.map(duration_to_proto),
            ..Default::default()
        };
        v1::UsageAttempt {
            attempt: Some(attempt),
            kind: Kind::Answer.into(),
            fallback_reason: last.map(|last| last.error_reason.clone()).unwrap_or_default(),
            start_time: Some(self.started.into()),
            ..Default::default()
        }
    }

    /// The vendor answered: the attempt by what the adapter says of it.
    pub(super) fn answered(&self, known: &Known, facts: &v1::CallFacts) -> v1::UsageAttempt {
        let mut ended = self.blank(known);
        if let Some(attempt) = &mut ended.attempt {
            attempt.usage = Some(facts.usage.unwrap_or_default());
            attempt.cost = facts.cost.clone().or_else(unknown);
            attempt.latency = facts.latency.or(attempt.latency);
            attempt.vendor_request_id.clone_from(&facts.vendor_request_id);
        }
        ended.served_model.clone_from(&facts.served_model);
        ended.simulated = facts.simulated;
        ended
    }

    /// It did not answer.
    pub(super) fn failed(&self, known: &Known, failed: Failed) -> v1::UsageAttempt {
        let Failed { failure, told } = failed;
        let mut ended = reject(self.blank(known), &failure);
        if let Some(attempt) = &mut ended.attempt {
            attempt.vendor_status = told.vendor_status;
            attempt.vendor_request_id = told.vendor_request_id;
            attempt.latency = told.latency.or(attempt.latency);
            attempt.usage = Some(told.usage.unwrap_or_default());
            attempt.cost = told.cost.or_else(unknown);
        }
        ended.simulated = told.simulated;
        ended
    }
}

/// The attempt as one that is not what was asked for.
pub(super) fn reject(mut ended: v1::UsageAttempt, failure: &Failure) -> v1::UsageAttempt {
    if let Some(attempt) = &mut ended.attempt {
        failure.reason.name().clone_into(&mut attempt.error_reason);
        attempt.error_message.clone_from(&failure.message);
    }
    ended
}

fn unknown() -> Option<v1::Cost> {
    Some(v1::Cost { unknown: true, ..Default::default() })
}
