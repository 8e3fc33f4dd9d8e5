//! What follows an answer that is not what was asked for, or that the content policy refuses.

use super::Run;
use crate::metrics;
use signalbox_api::v1;
use signalbox_types::Failure;
use tonic::Status;
use v1::attempt::Cause;

impl Run {
    /// An answer failed the gate: another model gets a chance where that can help, then the caller is told.
    pub(crate) async fn after_invalid(
        mut self,
        failure: Failure,
        finish: v1::FinishReason,
        facts: v1::CallFacts,
    ) -> Result<Self, Status> {
        let cut = self.is_cut_by_its_own_limit(finish);
        let failure = self.reject(failure, finish, facts);
        if cut || self.invalid_retries == 0 {
            return Err(self.give_up(&failure));
        }
        self.invalid_retries -= 1;
        self.go_on(failure, Cause::Quality).await
    }

    /// A committed answer failed the gate at its end: what to tell the caller.
    pub(crate) fn invalid(
        mut self,
        failure: Failure,
        finish: v1::FinishReason,
        facts: v1::CallFacts,
    ) -> Status {
        let failure = self.reject(failure, finish, facts);
        self.give_up(&failure)
    }

    /// Records an answer that failed the gate; the failure with what the caller can do about it.
    fn reject(&mut self, mut failure: Failure, finish: v1::FinishReason, facts: v1::CallFacts) -> Failure {
        self.tell_health(&facts);
        if self.is_cut_by_its_own_limit(finish) {
            let limit = self.wire.max_output_tokens.unwrap_or_default();
            failure.message += &format!("; every model would end at max_output_tokens of {limit}");
        } else {
            self.record_verdict(false);
        }
        if let Some(choice) = self.candidates.get(self.attempt.candidate) {
            self.log.rejected(&choice.model, &failure, Some(facts));
            metrics::attempt_failed(&choice.model.vendor, failure.reason.name());
        }
        failure
    }

    /// Whether an answer ended at a limit that the request or its task type sets: every model would end there, so that
    /// another try costs twice for the same, and the model is not to blame. A limit of the model's own is another matter.
    fn is_cut_by_its_own_limit(&self, finish: v1::FinishReason) -> bool {
        let Some(limit) = self.wire.max_output_tokens.filter(|_| finish == v1::FinishReason::Length) else {
            return false;
        };
        let catalog = self.dependencies.config.catalog();
        let model = self.choice(self.attempt.candidate).and_then(|choice| catalog.model(&choice.model));
        let most = model.map_or(0, |model| i64::from(model.facts.max_output_tokens));
        most == 0 || i64::from(limit) <= most
    }

    /// The content policy refuses the answer: what to tell the caller. The model did as it was asked. Without facts the
    /// answer was stopped before its end, and what it cost is an estimate.
    pub(crate) fn refused(mut self, failure: &Failure, facts: Option<v1::CallFacts>) -> Status {
        if let Some(facts) = &facts {
            self.tell_health(facts);
        }
        if let Some(choice) = self.candidates.get(self.attempt.candidate) {
            self.log.rejected(&choice.model, failure, facts);
        }
        self.give_up(failure)
    }

    /// Remembers of the model whether its answer had the form that was asked for.
    pub(super) fn record_verdict(&self, passed: bool) {
        if let Some(choice) = self.choice(self.attempt.candidate) {
            self.dependencies.health.judged(&choice.listed_as, &self.wire.task_type, passed);
        }
    }
}
