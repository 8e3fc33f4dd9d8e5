//! How vendor calls and requests end in an account.

use super::{Account, Call, call::may_have_cost, fail};
use crate::metrics;
use signalbox_api::{
    convert,
    status::{self, from_status},
    v1::{self, usage_attempt::Kind, usage_event::Outcome},
};
use signalbox_kit::hop;
use signalbox_ports::usage_facts::{add_attempt, fell_back_from, nothing, route_reason};
use signalbox_pricing::Day;
use signalbox_types::{ErrorReason, Failure, ModelRef, TokenUsage};
use tonic::Status;

impl Account {
    /// A call failed. The adapter's account of it is in the status, where it got that far. An adapter that stays away is
    /// told once, however often it was asked, with all that this may have cost.
    pub(crate) fn failed(&mut self, model: &ModelRef, failure: &Failure, status: &Status) {
        let Some(call) = self.take_call(model) else { return };
        let reason = failure.reason;
        self.last_failure = reason.name();
        let lost = hop::was_under_way(status);
        let mut ended = self.ended(&call);
        fail(&mut ended, reason.name(), &failure.message);
        match status::detail::<v1::CallFailure>(status) {
            Some(told) => take_over(&mut ended, told),
            // By what the status itself says: a failure may be told as the end of the caller's time.
            None if may_have_cost(from_status(status).reason, lost) || call.seen.has_begun() => {
                self.estimate(&mut ended, &call);
            }
            None => self.price(&mut ended, &call, nothing()),
        }
        match self.event.attempts.last_mut() {
            Some(last) if is_same_loss(last, &ended) => add_attempt(last, &ended),
            _ => self.event.attempts.push(ended),
        }
    }

    /// A call was given up for another that ran beside it. Its adapter accounts for what it used, but can tell nobody any
    /// more.
    pub(crate) fn lost(&mut self, model: &ModelRef) {
        let Some(call) = self.take_call(model) else { return };
        let mut ended = self.ended(&call);
        fail(&mut ended, ErrorReason::Cancelled.name(), "another attempt had content first");
        self.estimate(&mut ended, &call);
        self.event.attempts.push(ended);
    }

    /// An answer came, and was not what was asked for. Without facts it was stopped before its end.
    pub(crate) fn rejected(&mut self, model: &ModelRef, failure: &Failure, facts: Option<v1::CallFacts>) {
        let Some(call) = self.take_call(model) else { return };
        self.last_failure = failure.reason.name();
        let mut ended = self.ended(&call);
        fail(&mut ended, failure.reason.name(), &failure.message);
        match facts {
            Some(facts) => take_in(&mut ended, facts),
            None => self.estimate(&mut ended, &call),
        }
        self.event.attempts.push(ended);
    }

    /// A call served the request.
    pub(crate) fn served(&mut self, model: &ModelRef, facts: v1::CallFacts, finish_reason: i32) {
        let Some(call) = self.take_call(model) else { return };
        let before = facts.latency.and_then(convert::duration_from_proto).unwrap_or_default();
        let first = facts.time_to_first_token.and_then(convert::duration_from_proto);
        let first = first.map(|first| self.elapsed().saturating_sub(before) + first);
        let mut ended = self.ended(&call);
        take_in(&mut ended, facts);
        self.event.vendor = model.vendor.to_string();
        self.event.model = model.model.to_string();
        self.event.served_model.clone_from(&ended.served_model);
        self.event.route_reason = route_reason(call.cause, call.fallback_reason);
        self.event.finish_reason = finish_reason;
        self.event.time_to_first_token = first.map(convert::duration_to_proto);
        self.event.attempts.push(ended);
    }

    /// The request was answered: all that is known of it.
    pub(crate) fn succeed(mut self) -> Box<v1::UsageEvent> {
        let event = self.close(Outcome::Succeeded, "");
        if let Some(first) = fell_back_from(&event) {
            metrics::fell_back(&first.vendor, &first.error_reason);
        }
        event
    }

    /// How it met the cache, and the model calls that this took.
    pub(crate) fn met_cache(&mut self, effect: v1::CacheEffect, attempts: Vec<v1::UsageAttempt>) {
        self.event.cache = Some(effect);
        self.event.attempts.extend(attempts);
    }

    /// The request was answered from the cache: all that is known of it. It costs nothing but what the cache asked of models.
    pub(crate) fn cached(mut self, answer: &v1::CachedAnswer) -> Box<v1::UsageEvent> {
        let elapsed = self.elapsed();
        let is_of_a_stream = self.is_of_a_stream();
        let v1::UsageEvent { cache, attempts, charges, route_reason, simulated, .. } = &mut *self.event;
        let effect = cache.get_or_insert_default();
        effect.saved.clone_from(&answer.cost);
        effect.saved_usage = answer.usage;
        let latency = answer.latency.and_then(convert::duration_from_proto).unwrap_or_default();
        effect.saved_latency = Some(convert::duration_to_proto(latency.saturating_sub(elapsed)));
        hit_reason(effect.outcome()).clone_into(route_reason);
        if attempts.is_empty() {
            charges.clear();
            *simulated = answer.simulated;
        }
        self.event.vendor.clone_from(&answer.vendor);
        self.event.model.clone_from(&answer.model);
        self.event.served_model.clone_from(&answer.served_model);
        self.event.finish_reason = answer.finish_reason;
        self.event.time_to_first_token = is_of_a_stream.then(|| convert::duration_to_proto(elapsed));
        self.succeed()
    }

    /// The request failed: all that is known of it.
    pub(crate) fn give_up(mut self, reason: ErrorReason) -> Box<v1::UsageEvent> {
        self.close(Outcome::Failed, reason.name())
    }

    fn take_call(&mut self, model: &ModelRef) -> Option<Call> {
        let at = self.calls.iter().position(|call| call.model == *model)?;
        Some(self.calls.remove(at))
    }

    /// A call that ends now, of which nothing is told yet but what is known here.
    pub(super) fn ended(&self, call: &Call) -> v1::UsageAttempt {
        let attempt = v1::Attempt {
            vendor: call.model.vendor.to_string(),
            model: call.model.model.to_string(),
            cause: call.cause.into(),
            latency: Some(convert::duration_to_proto(call.started.elapsed())),
            ..Default::default()
        };
        let started = self.began + call.started.saturating_duration_since(self.started);
        let first = call.seen.first_content().map(|first| first.saturating_duration_since(call.started));
        v1::UsageAttempt {
            attempt: Some(attempt),
            kind: Kind::Answer.into(),
            fallback_reason: call.fallback_reason.to_owned(),
            served_model: String::new(),
            start_time: Some(started.into()),
            time_to_first_token: first.map(convert::duration_to_proto),
            simulated: self.dependencies.vendors.simulated(&call.model.vendor),
        }
    }

    /// What a call has used as far as is known here, and what that costs.
    pub(super) fn estimate(&self, ended: &mut v1::UsageAttempt, call: &Call) {
        self.price(ended, call, convert::usage_to_proto(&call.seen.used()));
    }

    fn price(&self, ended: &mut v1::UsageAttempt, call: &Call, used: v1::TokenUsage) {
        let Some(attempt) = &mut ended.attempt else { return };
        attempt.usage = Some(used);
        attempt.cost = Some(self.cost(&call.model, &convert::usage_from_proto(&used)));
    }

    fn cost(&self, model: &ModelRef, usage: &TokenUsage) -> v1::Cost {
        let catalog = self.dependencies.config.catalog();
        let prices = catalog.prices();
        let day = Day::of(self.began + self.elapsed());
        convert::cost_to_proto(prices.cost(model, usage, self.lane, day), prices.price_version())
    }
}

/// Whether an adapter stays away.
fn is_same_loss(last: &v1::UsageAttempt, ended: &v1::UsageAttempt) -> bool {
    let (Some(last), Some(ended)) = (&last.attempt, &ended.attempt) else { return false };
    let unavailable = ErrorReason::Unavailable.name();
    (&*last.error_reason, &*ended.error_reason) == (unavailable, unavailable)
        && (&last.vendor, &last.model) == (&ended.vendor, &ended.model)
}

/// What the adapter says of a call that answered.
fn take_in(ended: &mut v1::UsageAttempt, facts: v1::CallFacts) {
    if let Some(attempt) = &mut ended.attempt {
        attempt.usage = Some(facts.usage.unwrap_or_default());
        attempt.cost = facts.cost.or_else(unknown);
        attempt.latency = facts.latency.or(attempt.latency);
        attempt.vendor_request_id = facts.vendor_request_id;
    }
    ended.served_model = facts.served_model;
    ended.time_to_first_token = facts.time_to_first_token.or(ended.time_to_first_token);
    ended.simulated = facts.simulated;
}

/// What the adapter says of a call that failed.
fn take_over(ended: &mut v1::UsageAttempt, told: v1::CallFailure) {
    if let Some(attempt) = &mut ended.attempt {
        attempt.vendor_status = told.vendor_status;
        attempt.vendor_request_id = told.vendor_request_id;
        attempt.latency = told.latency.or(attempt.latency);
        attempt.usage = Some(told.usage.unwrap_or_default());
        attempt.cost = told.cost.or_else(unknown);
    }
    ended.simulated = told.simulated;
}

fn unknown() -> Option<v1::Cost> {
    Some(v1::Cost { unknown: true, ..Default::default() })
}

/// Why an answer of the cache was given, in words.
fn hit_reason(outcome: v1::cache_effect::Outcome) -> &'static str {
    use v1::cache_effect::Outcome;
    match outcome {
        Outcome::NormalizedHit => "normalized hit",
        Outcome::SemanticHit => "semantic hit",
        Outcome::Coalesced => "answer of an identical request",
        Outcome::ExactHit | Outcome::Unspecified | Outcome::Miss | Outcome::Bypass => "exact hit",
    }
}
