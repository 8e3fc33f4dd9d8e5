//! An answer that was given before, on its way to another caller.

use super::replay::Replay;
use crate::{account::Account, budget::Purse, metrics::RequestTimer, service::Dependencies};
use signalbox_api::{status::to_status, v1};
use signalbox_kit::{
    content::{Content, Withheld},
    telemetry::trace::Span,
};
use signalbox_ports::{RatesLeft, Worst};
use signalbox_types::ErrorReason;
use tonic::Status;

/// An answer from the cache, accounted for.
#[derive(Debug)]
pub(crate) struct Hit {
    pub(crate) rates: RatesLeft,
    answer: v1::CachedAnswer,
    event: Box<v1::UsageEvent>,
    findings: Vec<v1::ContentFinding>,
}

impl Hit {
    /// Counts the request, lets the tenant's content policy look at the answer, and accounts for it: it costs nothing.
    pub(crate) async fn admit(
        dependencies: &Dependencies,
        purse: Option<&Purse>,
        content: Option<Box<Content>>,
        mut answer: v1::CachedAnswer,
        mut account: Account,
    ) -> Result<Self, Status> {
        if let Some(purse) = purse {
            // Rates count it. What else may be short does not matter to what costs nothing.
            match purse.take(dependencies, Worst::default(), false).await {
                Ok(taken) => account.paid_by(taken),
                Err(short) if short.failure.reason == ErrorReason::RateLimited => {
                    return Err(account.refuse(to_status(&short.failure)));
                }
                Err(_) => {}
            }
        }
        let mut findings = Vec::new();
        if let Some(mut content) = content {
            if content.looks_at_answers() {
                let finish = answer.finish_reason();
                let released = content.release(&mut answer.content, None, finish).await;
                if let Err(Withheld::Refused(failure) | Withheld::Invalid(failure)) = released {
                    let status = content.refusal(&failure, account.request_id());
                    return Err(account.refuse(status));
                }
            }
            findings = content.take_findings();
        }
        if let Err(failure) = account.secure() {
            return Err(account.refuse(to_status(&failure)));
        }
        let rates = account.rates();
        let event = account.cached(&answer);
        Ok(Self { rates, answer, event, findings })
    }

    /// The answer as a whole.
    pub(crate) fn whole(self) -> v1::GenerateResponse {
        let (content, done) = self.parts();
        let v1::StreamDone { request_id, finish_reason, vendor_finish_reason, usage, cost, route } = done;
        v1::GenerateResponse { request_id, content, finish_reason, vendor_finish_reason, usage, cost, route }
    }

    /// The answer as a stream.
    pub(crate) fn replay(self, timer: RequestTimer, span: Span) -> Replay {
        let (content, done) = self.parts();
        Replay::new(content, done, timer, span)
    }

    /// What the request's span tells.
    pub(crate) fn trace(&self, span: &Span) {
        if span.is_recording() {
            span.set("signalbox.route.vendor", self.answer.vendor.clone());
            span.set("signalbox.route.model", self.answer.model.clone());
            span.set("signalbox.route.cache", self.event.route_reason.clone());
        }
    }

    fn parts(self) -> (Vec<v1::Part>, v1::StreamDone) {
        let Self { answer, event, findings, .. } = self;
        let event = *event;
        let route = v1::Route {
            vendor: event.vendor,
            model: event.model,
            served_model: event.served_model,
            cache: event.cache,
            budget: event.budget,
            simulated: answer.simulated,
            latency: event.latency,
            time_to_first_token: event.time_to_first_token,
            total_cost: event.cost.clone(),
            content_findings: findings,
            ..Default::default()
        };
        let done = v1::StreamDone {
            request_id: event.request_id,
            finish_reason: answer.finish_reason,
            vendor_finish_reason: answer.vendor_finish_reason,
            usage: event.usage,
            cost: event.cost,
            route: Some(route),
        };
        (answer.content, done)
    }
}
