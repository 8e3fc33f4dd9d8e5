//! The account of a request: one [`v1::UsageEvent`], whatever the request's end.
//!
//! It is begun when a request is accepted. Before the first vendor call it is opened in the usage log, as it would have
//! to be told should the process die, and kept up to date from then on; at the request's end it is closed. Dropped before
//! that, the caller went away.

mod call;
mod end;
mod paid;
mod totals;

pub(crate) use call::{Call, Seen};

use crate::{admission::Admitted, budget::Taken, metrics, service::Dependencies};
use signalbox_api::{
    convert,
    status::from_status,
    v1::{
        self,
        attempt::Cause,
        usage_event::{Operation, Outcome},
    },
};
use signalbox_kit::telemetry::trace::Span;
use signalbox_ports::OpenAccount;
use signalbox_types::{DrillFault, ErrorReason, Failure, Lane, ModelRef, ModelSelector};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;
use tonic::Status;
use uuid::Uuid;

/// A caller whose time is over resets the call at about the same moment. So much before the deadline, and never more than a
/// tenth of the caller's time, it is its time that ended the request and not its wish.
const ABOUT: Duration = Duration::from_millis(25);
/// Version of the meaning of `UsageEvent` that is written.
const SCHEMA_VERSION: u32 = 1;

/// A request's account.
pub(crate) struct Account {
    dependencies: Dependencies,
    /// What is told of the request; attempts are in the order of their end until it is closed.
    event: Box<v1::UsageEvent>,
    state: State,
    /// When the request came, by both clocks: durations are measured by the first, which never jumps.
    started: Instant,
    began: SystemTime,
    lane: Lane,
    prompt_tokens: u64,
    /// When the caller's time is over.
    deadline: Option<Instant>,
    /// Vendor calls under way.
    calls: Vec<Call>,
    /// Reason of the last attempt that failed.
    last_failure: &'static str,
    /// What was taken of budgets and rates; gone once it is settled.
    taken: Option<Taken>,
}

/// What the usage log knows of an account.
#[derive(Debug)]
enum State {
    /// Nothing yet.
    Accepted,
    /// A draft.
    Open(OpenAccount),
    /// The end.
    Closed,
}

impl Account {
    /// Of a request that was accepted.
    pub(crate) fn of(
        dependencies: &Dependencies,
        admitted: &Admitted,
        operation: Operation,
        started: Instant,
        span: &Span,
    ) -> Self {
        let request = &admitted.request;
        let event = v1::UsageEvent {
            operation: operation.into(),
            request_id: request.request_id.clone(),
            trace_id: span.trace_id(),
            tenant_id: request.tenant_id.clone(),
            key_id: admitted.key_id.clone(),
            scene: request.scene.clone(),
            task_type: request.task_type.clone(),
            locale: request.locale.clone(),
            reference: request.reference.clone(),
            prompt_template: request.prompt_template.clone(),
            lane: convert::lane_to_proto(request.lane).into(),
            requested_model: requested(&request.model),
            ..Default::default()
        };
        let mut account = Self::begun(dependencies, event, started);
        (account.deadline, account.lane) = (admitted.deadline, request.lane);
        account
    }

    /// Of a request for vectors that was accepted.
    pub(crate) fn of_embedding(
        dependencies: &Dependencies,
        request: &v1::EmbedRequest,
        key_id: &str,
        deadline: Option<Instant>,
        started: Instant,
        span: &Span,
    ) -> Self {
        let event = v1::UsageEvent {
            operation: Operation::Embed.into(),
            request_id: request.request_id.clone(),
            trace_id: span.trace_id(),
            tenant_id: request.tenant_id.clone(),
            key_id: key_id.to_owned(),
            scene: request.scene.clone(),
            reference: request.reference.clone(),
            lane: v1::Lane::Interactive.into(),
            requested_model: request.model.clone(),
            ..Default::default()
        };
        let mut account = Self::begun(dependencies, event, started);
        account.deadline = deadline;
        account
    }

    fn begun(dependencies: &Dependencies, event: v1::UsageEvent, started: Instant) -> Self {
        let began = dependencies.clock.now() - started.elapsed();
        Self {
            dependencies: dependencies.clone(),
            event: Box::new(v1::UsageEvent {
                schema_version: SCHEMA_VERSION,
                event_id: Uuid::now_v7().to_string(),
                start_time: Some(began.into()),
                ..event
            }),
            state: State::Accepted,
            started,
            began,
            lane: Lane::Interactive,
            prompt_tokens: 0,
            deadline: None,
            calls: Vec::new(),
            last_failure: "",
            taken: None,
        }
    }

    /// The locale, where the tenant's own stands in for it.
    pub(crate) fn in_locale(&mut self, locale: &str) {
        if self.event.locale != locale {
            locale.clone_into(&mut self.event.locale);
        }
    }

    pub(crate) fn request_id(&self) -> &str {
        &self.event.request_id
    }

    /// How the candidates were chosen, and about how many tokens the prompt is.
    pub(crate) fn planned(&mut self, decision: v1::Decision, prompt_tokens: u64) {
        self.event.decision = Some(decision);
        self.prompt_tokens = prompt_tokens;
    }

    pub(crate) fn decision(&self) -> Option<&v1::Decision> {
        self.event.decision.as_ref()
    }

    /// Attempts that have ended.
    pub(crate) fn attempts(&self) -> impl DoubleEndedIterator<Item = &v1::Attempt> {
        self.event.attempts.iter().filter_map(|attempt| attempt.attempt.as_ref())
    }

    /// From the request's arrival until now.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// A vendor call is about to be made; fails where it could not be accounted for. `fault` is done to it on purpose.
    pub(crate) fn begin(
        &mut self,
        model: &ModelRef,
        cause: Cause,
        fault: Option<DrillFault>,
    ) -> Result<Seen, Failure> {
        let reason = if follows_a_failure(cause) { self.last_failure } else { "" };
        let stream = self.is_of_a_stream();
        let lateness = fault.map_or(Some(Duration::ZERO), |fault| fault.lateness(stream));
        let call = Call::new(model.clone(), cause, reason, Seen::new(self.prompt_tokens, lateness));
        let seen = call.seen.clone();
        self.calls.push(call);
        let written = self.draft();
        if written.is_err() {
            self.calls.pop();
        }
        written.map(|()| seen)
    }

    /// The request is about to be answered without a call; fails where that could not be accounted for.
    pub(crate) fn secure(&mut self) -> Result<(), Failure> {
        self.draft()
    }

    /// More has been seen of a call: what is told of it should not fall far behind.
    pub(crate) fn seen_more(&mut self, seen: &Seen) {
        // Only opening an account can fail.
        if seen.outgrew_its_draft() {
            let _written = self.draft();
        }
    }

    /// Opens the account, or writes down how it stands: as it would be told had the process died.
    fn draft(&mut self) -> Result<(), Failure> {
        let ended = self.event.attempts.len();
        for call in &self.calls {
            let mut attempt = self.ended(call);
            self.estimate(&mut attempt, call);
            fail(&mut attempt, ErrorReason::Unavailable.name(), "the router's process died");
            self.event.attempts.push(attempt);
        }
        self.total();
        self.event.set_outcome(Outcome::Failed);
        ErrorReason::Unavailable.name().clone_into(&mut self.event.error_reason);
        let log = &self.dependencies.usage;
        let written = unquoted(&mut self.event, |event| match &self.state {
            State::Accepted => log.open(event).map(|opened| self.state = State::Open(opened)),
            State::Open(account) => {
                log.revise(account, event);
                Ok(())
            }
            State::Closed => Ok(()),
        });
        self.event.attempts.truncate(ended);
        written.map_err(Failure::from)
    }

    /// The request is refused before any call: what the caller is told.
    pub(crate) fn refuse(mut self, status: Status) -> Status {
        let failure = from_status(&status);
        if failure.reason == ErrorReason::BudgetExhausted {
            metrics::thrift("refused");
            metrics::budget_refused(&self.event.tenant_id, &failure, self.dependencies.clock.now());
        }
        self.close(Outcome::Failed, failure.reason.name());
        status
    }

    /// The request has ended. Returns what was told, to be told to the caller, too.
    fn close(&mut self, outcome: Outcome, reason: &str) -> Box<v1::UsageEvent> {
        while let Some(call) = self.calls.pop() {
            let mut attempt = self.ended(&call);
            self.estimate(&mut attempt, &call);
            fail(&mut attempt, ErrorReason::Cancelled.name(), "the request ended before it");
            self.event.attempts.push(attempt);
        }
        let latency = self.elapsed();
        self.event.end_time = Some((self.began + latency).into());
        self.event.latency = Some(convert::duration_to_proto(latency));
        self.event.set_outcome(outcome);
        reason.clone_into(&mut self.event.error_reason);
        self.event.attempts.sort_by_key(start);
        self.total();
        metrics::tenants_request_ended(&self.event);
        let log = &self.dependencies.usage;
        unquoted(&mut self.event, |event| match std::mem::replace(&mut self.state, State::Closed) {
            State::Accepted => {
                if let Err(full) = log.append(event) {
                    // It cost nothing, and the log says loudly that it is full.
                    tracing::debug!(%full, "a request that was refused is not accounted for");
                    metrics::unaccounted();
                }
            }
            State::Open(account) => log.close(account, event),
            State::Closed => {}
        });
        self.settle();
        std::mem::take(&mut self.event)
    }
}

/// Whoever is dropped before the end was called off by the caller, or by the caller's time.
impl Drop for Account {
    fn drop(&mut self) {
        if matches!(self.state, State::Closed) {
            return;
        }
        let late = self.deadline.is_some_and(|deadline| {
            let about = ABOUT.min(deadline.duration_since(self.started) / 10);
            deadline <= Instant::now() + about
        });
        let (outcome, reason) = if late {
            (Outcome::Failed, ErrorReason::DeadlineExceeded)
        } else {
            (Outcome::Cancelled, ErrorReason::Cancelled)
        };
        self.close(outcome, reason.name());
    }
}

/// Writes an event without the attempts' messages: vendors and the quality gate quote prompts and answers in them, which
/// no account may hold.
fn unquoted<T>(event: &mut v1::UsageEvent, write: impl FnOnce(&v1::UsageEvent) -> T) -> T {
    let each = |attempt: &mut v1::UsageAttempt| {
        attempt.attempt.as_mut().map(|attempt| std::mem::take(&mut attempt.error_message))
    };
    let messages: Vec<_> = event.attempts.iter_mut().map(each).collect();
    let written = write(event);
    for (attempt, message) in event.attempts.iter_mut().zip(messages) {
        if let (Some(attempt), Some(message)) = (&mut attempt.attempt, message) {
            attempt.error_message = message;
        }
    }
    written
}

fn start(attempt: &v1::UsageAttempt) -> Option<(i64, i32)> {
    attempt.start_time.map(|time| (time.seconds, time.nanos))
}

fn follows_a_failure(cause: Cause) -> bool {
    matches!(cause, Cause::Retry | Cause::Fallback | Cause::Quality)
}

fn fail(attempt: &mut v1::UsageAttempt, reason: &str, message: &str) {
    if let Some(attempt) = &mut attempt.attempt {
        reason.clone_into(&mut attempt.error_reason);
        message.clone_into(&mut attempt.error_message);
    }
}

fn requested(model: &ModelSelector) -> String {
    match model {
        ModelSelector::Unspecified => String::new(),
        ModelSelector::Alias(name) => name.clone(),
        named => named.to_string(),
    }
}
