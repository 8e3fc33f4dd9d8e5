//! One call, from its start to what its end says of the model.

use super::{model::Model, now};
use signalbox_ports::CallOutcome;
use signalbox_resilience::Outcome;
use signalbox_types::{ErrorReason, Failure};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A call under way. Dropped without an end, it tells nothing of the model.
#[derive(Debug)]
pub(crate) struct CallUnderWay {
    model: Arc<Model>,
}

/// How a call ended, as far as the model's health is concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallEnd {
    pub(crate) outcome: CallOutcome,
    pub(crate) whole: Duration,
    pub(crate) first_token: Option<Duration>,
    /// Tokens of the answer that its time is divided by; 0 where the pace of this call says nothing.
    pub(crate) answer_tokens: u64,
    /// The stream trickled.
    pub(crate) slow: bool,
    /// The vendor asked to wait.
    pub(crate) hold: Option<Duration>,
    /// Share of the vendor's quota that is left.
    pub(crate) quota_left: Option<f64>,
}

impl CallUnderWay {
    pub(super) fn new(model: Arc<Model>, now: Instant) -> Self {
        model.begins(now);
        Self { model }
    }

    /// The call has ended.
    pub(crate) fn end(&self, end: &CallEnd) {
        self.model.ended(end, now());
    }
}

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        self.model.left();
    }
}

impl CallEnd {
    /// What the end says of the vendor: a trickle is a failure although it was an answer.
    pub(super) fn verdict(&self) -> Outcome {
        match self.outcome {
            CallOutcome::Answered if self.slow => Outcome::Failure,
            CallOutcome::Answered => Outcome::Success,
            CallOutcome::Failed(reason) => Outcome::of(reason),
            CallOutcome::Cancelled => Outcome::Neutral,
        }
    }

    /// Whether something came: a caller that leaves in the midst of an answer was served until then.
    pub(super) fn served(&self) -> bool {
        match self.outcome {
            CallOutcome::Answered => true,
            CallOutcome::Cancelled => self.first_token.is_some(),
            CallOutcome::Failed(_) => false,
        }
    }

    /// Whether the vendor was heard, or was given its time and stayed silent.
    pub(super) fn is_news(&self) -> bool {
        self.outcome != CallOutcome::Cancelled || self.first_token.is_some()
    }
}

/// For how long a failure asks to leave the model alone.
pub(crate) fn hold(failure: &Failure) -> Option<Duration> {
    let asked = matches!(
        failure.reason,
        ErrorReason::VendorRateLimited | ErrorReason::VendorOverloaded | ErrorReason::VendorQuotaExhausted
    );
    failure.retry_after.filter(|_| asked)
}
