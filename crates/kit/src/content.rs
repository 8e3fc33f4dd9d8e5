//! A tenant's content policy at work: on what is asked before a model is chosen, and on what is answered.

mod errors;
mod input;
mod moderation;
mod output;
mod stream;

pub use errors::ErrorTexts;
pub use input::note;
pub use output::Withheld;
pub use stream::StreamContent;

use crate::{
    catalog::{Catalog, NamedPolicy},
    config::Environment,
    telemetry::metrics,
};
use moderation::Judge;
use prometheus::IntCounterVec;
use signalbox_api::{status, v1};
use signalbox_ports::Moderator;
use signalbox_quality::content::{Action, Finding, Inspection, MOST_HELD, Place};
use signalbox_types::{ErrorReason, Failure, GenerateRequest, ResponseFormat};
use std::sync::{Arc, LazyLock};
use tonic::Status;

static FINDINGS: LazyLock<IntCounterVec> = LazyLock::new(|| {
    metrics::counter(
        "signalbox_content_findings_total",
        "What rules of content policies found, by policy, rule, what was done, and where.",
        &["policy", "rule", "action", "place"],
    )
});

/// Registers the metrics, so that they are known before they have anything to say.
pub fn register_metrics() {
    LazyLock::force(&FINDINGS);
    moderation::register_metrics();
}

/// What policies are applied with.
#[derive(Debug, Clone, Copy)]
pub struct Means<'a> {
    /// Holds the keys of moderation endpoints.
    pub environment: &'a Environment,
    /// The way to them, where there is one.
    pub moderator: Option<&'a Arc<dyn Moderator>>,
}

/// The policy that holds for one request, and what it has found so far.
#[derive(Debug)]
pub struct Content {
    policy: Arc<NamedPolicy>,
    judge: Judge,
    /// The answer is JSON, and must stay so.
    structured: bool,
    findings: Vec<v1::ContentFinding>,
    /// The endpoint did not judge an answer of this request: it is not waited for again.
    unjudged: bool,
}

impl Content {
    /// The policy for a tenant's requests, where there is one.
    pub fn of(means: Means<'_>, catalog: &Catalog, tenant_id: &str) -> Option<Box<Self>> {
        let policy = catalog.content_policy(tenant_id)?.clone();
        let judge = Judge::new(means, catalog, &policy);
        Some(Box::new(Self { policy, judge, structured: false, findings: Vec::new(), unjudged: false }))
    }

    /// The policy for the answer to a request that it has looked at before; `None` where it does not look at answers.
    pub fn of_answer(
        means: Means<'_>,
        catalog: &Catalog,
        tenant_id: &str,
        structured: bool,
    ) -> Option<Box<Self>> {
        let content = Self::of(means, catalog, tenant_id).filter(|content| content.looks_at_answers())?;
        Some(Box::new(Self { structured, ..*content }))
    }

    /// Applies the tenant's policy to a request. What must not be asked fails, and says by which rule.
    pub async fn admit(
        means: Means<'_>,
        catalog: &Catalog,
        request: &mut GenerateRequest,
    ) -> Result<Option<Box<Self>>, Status> {
        let Some(mut content) = Self::of(means, catalog, &request.tenant_id) else { return Ok(None) };
        content.structured = request.prompt.response_format != ResponseFormat::Text;
        match content.admit_prompt(&mut request.prompt).await {
            Ok(()) => Ok(Some(content)),
            Err(failure) => Err(content.refusal(&failure, &request.request_id)),
        }
    }

    /// The status of a request that is refused before a vendor was called.
    pub fn refusal(&self, failure: &Failure, request_id: &str) -> Status {
        let detail = v1::RouteFailure { request_id: request_id.to_owned(), ..Default::default() };
        let findings = self.findings.iter().map(status::any);
        status::to_status_with(failure, std::iter::once(status::any(&detail)).chain(findings).collect())
    }

    /// Whether answers are looked at.
    pub fn looks_at_answers(&self) -> bool {
        self.policy.looks_at(Place::Output)
    }

    /// Whether anything was found until now.
    pub fn has_found(&self) -> bool {
        !self.findings.is_empty()
    }

    /// What was found, for the record of the request's way.
    pub fn take_findings(&mut self) -> Vec<v1::ContentFinding> {
        std::mem::take(&mut self.findings)
    }

    /// Keeps what an inspection found, and tells whether the texts may go on.
    fn conclude(&mut self, inspection: &Inspection, place: Place) -> Result<(), Failure> {
        let found = inspection.findings();
        self.findings.extend(found.map(|finding| told(&self.policy, &finding)));
        if let Some(rule) = inspection.blocked_by() {
            return Err(self.refused(rule, place));
        }
        match inspection.undecided_by() {
            Some(rule) => Err(Failure::new(
                ErrorReason::ContentPolicy,
                format!(
                    "the content policy `{}` refuses the answer: rule `{rule}` could not be decided within \
                     {MOST_HELD} bytes of the stream",
                    self.policy.name
                ),
            )),
            None => Ok(()),
        }
    }

    /// The answer no longer is what was asked for once a rule has redacted it.
    fn spoilt(&self, inspection: &Inspection) -> Failure {
        let rule = inspection.redacted_by().map_or("", |rule| &**rule);
        let message = format!(
            "the content policy `{}` refuses the answer: without what rule `{rule}` redacts it is not what its schema \
             demands",
            self.policy.name
        );
        Failure::new(ErrorReason::ContentPolicy, message)
    }

    /// Names the rule, never the text.
    fn refused(&self, rule: &str, place: Place) -> Failure {
        let what = match place {
            Place::Input => "request",
            Place::Output => "answer",
        };
        let message = format!("the content policy `{}` refuses the {what}: rule `{rule}`", self.policy.name);
        Failure::new(ErrorReason::ContentPolicy, message)
    }
}

/// Counts a finding, and gives what the caller is told of it.
fn told(policy: &NamedPolicy, finding: &Finding) -> v1::ContentFinding {
    use v1::content_finding as wire;
    let Finding { rule, action, place, count } = finding;
    FINDINGS
        .with_label_values(&[&*policy.name, &**rule, action.name(), place.name()])
        .inc_by(u64::from(*count));
    let action = match action {
        Action::Flag => wire::Action::Flag,
        Action::Redact => wire::Action::Redact,
        Action::Block => wire::Action::Block,
    };
    let place = match place {
        Place::Input => wire::Place::Input,
        Place::Output => wire::Place::Output,
    };
    v1::ContentFinding { rule: rule.to_string(), action: action.into(), place: place.into(), count: *count }
}
