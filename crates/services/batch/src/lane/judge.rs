//! What becomes of an item after a try: it ends, or it goes on to whoever is next.

use super::{
    Workplace,
    end::{self, Answer},
    tried::{Failed, Try, reject},
    trouble::fault,
};
use crate::stored::{History, Known};
use prost::Message as _;
use signalbox_api::{convert::generate_request_from_proto, v1};
use signalbox_batching::Fault;
use signalbox_kit::{
    content::{Content, ErrorTexts, Withheld},
    gate::Gate,
};
use signalbox_ports::batches::{Item, Step};
use signalbox_types::{ErrorReason, Failure, ResponseFormat};
use v1::prepare_batch_item_response::Request;

impl Workplace {
    /// A vendor answered.
    pub(super) async fn answered(&self, item: &Item, mut known: Known, of: Try<'_>, answer: Answer) -> Step {
        let facts = match &answer {
            Answer::Words(answer) => answer.facts.clone(),
            Answer::Vectors(answer) => answer.facts.clone(),
        };
        let attempt = of.answered(&known, &facts.unwrap_or_default());
        let mut answer = answer;
        let released = match &mut answer {
            Answer::Words(answer) => self.release(item, &mut known, answer).await,
            Answer::Vectors(_) => Ok(()),
        };
        let now = self.dependencies.clock.now();
        match released {
            Ok(()) => {
                known.history.attempts.push(attempt);
                Step::End(end::succeeded(item, &known, answer, now))
            }
            Err(Withheld::Refused(failure)) => {
                known.history.attempts.push(reject(attempt, &failure));
                self.go_on(item, known, Fault::Request, failure)
            }
            Err(Withheld::Invalid(mut failure)) => {
                let cut = self.is_cut_by_its_own_limit(&known, of, &answer);
                if let Some(limit) = cut {
                    let end = format!("; every model would end at max_output_tokens of {limit}");
                    failure.message.push_str(&end);
                }
                known.history.attempts.push(reject(attempt, &failure));
                let again = cut.is_none() && known.prepared.max_invalid_retries > 0;
                self.go_on(item, known, if again { Fault::Answer } else { Fault::Request }, failure)
            }
        }
    }

    /// Lets an answer out that the tenant's content policy allows, and that is what was asked for.
    async fn release(
        &self,
        item: &Item,
        known: &mut Known,
        answer: &mut v1::InvokeModelResponse,
    ) -> Result<(), Withheld> {
        let Some(Request::Generate(request)) = &known.prepared.request else { return Ok(()) };
        keep_reasoning_where_asked(request, &mut answer.content);
        let asked = generate_request_from_proto(request.clone()).map_err(Withheld::Refused)?;
        let gate = Gate::of(&asked.prompt);
        let finish = answer.finish_reason();
        let structured = asked.prompt.response_format != ResponseFormat::Text;
        let catalog = self.dependencies.config.catalog();
        let content = Content::of_answer(self.means(), &catalog, &item.job.tenant_id, structured);
        let Some(mut content) = content else {
            let checked = gate.map_or(Ok(()), |gate| gate.check(&mut answer.content, finish));
            return checked.map_err(Withheld::Invalid);
        };
        let released = content.release(&mut answer.content, gate.as_ref(), finish).await;
        known.found(content.take_findings());
        released
    }

    /// The limit at which an answer ended, where the request sets it: every model would end there, so that another try
    /// costs twice for the same.
    fn is_cut_by_its_own_limit(&self, known: &Known, of: Try<'_>, answer: &Answer) -> Option<i32> {
        let (Answer::Words(answer), Some(Request::Generate(request))) = (answer, &known.prepared.request)
        else {
            return None;
        };
        let cut = answer.finish_reason() == v1::FinishReason::Length;
        let limit = request.max_output_tokens.filter(|_| cut)?;
        let catalog = self.dependencies.config.catalog();
        let name = format!("{}/{}", of.target.vendor, of.target.model);
        let model = name.parse().ok().and_then(|name| catalog.model(&name));
        let most = model.map_or(0, |model| i64::from(model.facts.max_output_tokens));
        (most == 0 || i64::from(limit) <= most).then_some(limit)
    }

    /// A vendor did not answer. `instead` is said of the fault where the failure's own reason does not say it.
    pub(super) fn not_answered(
        &self,
        item: &Item,
        mut known: Known,
        of: Try<'_>,
        mut failed: Failed,
        instead: Option<Fault>,
    ) -> Step {
        self.look_at_words(item, &mut known, &mut failed.failure);
        let failure = failed.failure.clone();
        let attempt = of.failed(&known, failed);
        known.history.attempts.push(attempt);
        let fault = instead.unwrap_or_else(|| fault(failure.reason));
        self.go_on(item, known, fault, failure)
    }

    /// Some vendors repeat the prompt or an answer in what they say of failures.
    pub(super) fn look_at_words(&self, item: &Item, known: &mut Known, failure: &mut Failure) {
        if let Some(texts) = ErrorTexts::of(&self.dependencies.config.catalog(), &item.job.tenant_id) {
            known.found(texts.look(failure));
        }
    }

    /// Where the item goes after a fault, or how it ends.
    fn go_on(&self, item: &Item, known: Known, fault: Fault, failure: Failure) -> Step {
        let now = self.dependencies.clock.now();
        // What ended by the request's own fault has its answer, whoever waits for it.
        if fault != Fault::Request {
            if let Some(how) = end::unwanted(item, now) {
                return Step::End(end::given_up(item, &known, how, now));
            }
            if known.may_be_tried_again()
                && let Some(trail) = item.trail.after(fault, now, item.job.complete_by)
            {
                return Step::Go { trail, history: known.history.encode_to_vec() };
            }
        }
        Step::End(end::failed(item, &known, &failure, now))
    }
}

/// A vendor's batch does not tell whether reasoning was asked for. With tools in play its vendor may want it back.
fn keep_reasoning_where_asked(asked: &v1::GenerateRequest, content: &mut Vec<v1::Part>) {
    if !asked.include_reasoning && asked.tools.is_empty() {
        content.retain(|part| !matches!(part.part, Some(v1::part::Part::Reasoning(_))));
    }
}

impl Known {
    /// A content policy found something. What a rule finds in several tries is told as one.
    pub(super) fn found(&mut self, findings: Vec<v1::ContentFinding>) {
        let History { findings: before, .. } = &mut self.history;
        for found in findings {
            let same = |it: &&mut v1::ContentFinding| {
                (&it.rule, it.action, it.place) == (&found.rule, found.action, found.place)
            };
            match before.iter_mut().find(same) {
                Some(before) => before.count = before.count.saturating_add(found.count),
                None => before.push(found),
            }
        }
    }

    /// Whether its owner allows more than one try.
    fn may_be_tried_again(&self) -> bool {
        match &self.prepared.request {
            Some(Request::Generate(request)) => request.fallback_mode() != v1::FallbackMode::Disabled,
            _ => true,
        }
    }

    /// The failure of an item that cannot be asked for, since what was kept of it is gone.
    pub(super) fn nothing_to_ask() -> Failed {
        Failed::unbilled(ErrorReason::Internal, "what was kept of the request cannot be read")
    }
}
