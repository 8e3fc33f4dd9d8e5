//! The account of a call that the cache made.

use signalbox_api::{
    convert::duration_to_proto,
    status::{self, from_status},
    v1::{self, CallFacts, CallFailure, attempt::Cause, usage_attempt::Kind},
};
use signalbox_types::ModelRef;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;
use tonic::Status;

/// How long a call that ran out of time may take to say what it used all the same.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// A call that was begun.
#[derive(Debug)]
pub(super) struct Begun<'a> {
    pub(super) model: &'a ModelRef,
    pub(super) kind: Kind,
    pub(super) at: SystemTime,
    pub(super) started: Instant,
}

impl Begun<'_> {
    /// It answered.
    pub(super) fn answered(&self, facts: CallFacts) -> Box<v1::UsageAttempt> {
        let mut attempt = self.ended();
        attempt.usage = Some(facts.usage.unwrap_or_default());
        attempt.cost = facts.cost.or_else(|| Some(v1::Cost { unknown: true, ..Default::default() }));
        attempt.latency = facts.latency.or(attempt.latency);
        attempt.vendor_request_id = facts.vendor_request_id;
        self.account(attempt, facts.served_model, facts.simulated)
    }

    /// It failed. What it used is in the status where the call got that far; `None` where nothing was called.
    pub(super) fn failed(&self, status: &Status) -> Option<Box<v1::UsageAttempt>> {
        let told = status::detail::<CallFailure>(status)?;
        let failure = from_status(status);
        let mut attempt = self.ended();
        failure.reason.name().clone_into(&mut attempt.error_reason);
        attempt.error_message = failure.message;
        attempt.vendor_status = told.vendor_status;
        attempt.usage = Some(told.usage.unwrap_or_default());
        attempt.cost = told.cost;
        attempt.latency = told.latency.or(attempt.latency);
        attempt.vendor_request_id = told.vendor_request_id;
        Some(self.account(attempt, String::new(), told.simulated))
    }

    fn ended(&self) -> v1::Attempt {
        v1::Attempt {
            vendor: self.model.vendor.to_string(),
            model: self.model.model.to_string(),
            cause: Cause::FirstChoice.into(),
            latency: Some(duration_to_proto(self.started.elapsed())),
            ..Default::default()
        }
    }

    fn account(&self, attempt: v1::Attempt, served_model: String, simulated: bool) -> Box<v1::UsageAttempt> {
        Box::new(v1::UsageAttempt {
            attempt: Some(attempt),
            kind: self.kind.into(),
            served_model,
            start_time: Some(self.at.into()),
            simulated,
            ..Default::default()
        })
    }
}
