//! An answer as it arrives.
//!
//! Text is passed on as far as no rule can change it any more. Tool calls wait until the answer has ended, JSON that was
//! asked for too, so that both stay valid; and everything waits where a moderation endpoint may refuse it. Where nothing
//! is redacted or refused nothing waits.

use super::Content;
use crate::gate::Gate;
use signalbox_api::v1::{self, stream_invoke_model_response::Event};
use signalbox_quality::content::{Action, Inspection, Place, TextStream};
use signalbox_types::Failure;
use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Where in what is shown to the moderation endpoint reasoning and text stand.
const REASONING: usize = 0;
const TEXT: usize = 1;

type Judging = Pin<Box<dyn Future<Output = Result<Option<u32>, Failure>> + Send>>;

/// The content policy of a stream.
pub struct StreamContent {
    content: Box<Content>,
    /// What the answer is held to after something in it was redacted, too.
    gate: Option<Gate>,
    /// Some rule may redact or refuse.
    holds: bool,
    /// What passed stays here until the whole is judged.
    waits: bool,
    inspection: Inspection,
    text: TextStream,
    reasoning: ReasoningBlock,
    /// JSON text, until it is whole.
    json: String,
    calls: Vec<v1::ToolCallDelta>,
    /// What has passed and is to be sent.
    passed: VecDeque<Event>,
    /// Texts for the moderation endpoint: the reasoning, the text, then the arguments of each call.
    shown: Option<Vec<String>>,
    ending: Option<(Option<Judging>, v1::InvokeDone)>,
}

/// The block of reasoning that is arriving.
struct ReasoningBlock {
    /// Something of it has come.
    open: bool,
    text: TextStream,
    inspection: Inspection,
    /// Redactions before it.
    redacted_before: u32,
    vendor: String,
}

impl fmt::Debug for StreamContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamContent").field("policy", &self.content.policy.name).finish_non_exhaustive()
    }
}

impl StreamContent {
    /// Of an answer that begins.
    pub fn new(content: Box<Content>, gate: Option<Gate>) -> Self {
        let policy = content.policy.clone();
        let moderation = policy.moderation(Place::Output);
        let inspect = || policy.rules.inspect(Place::Output);
        let (inspection, reasoning) = (inspect(), inspect());
        Self {
            content,
            gate,
            holds: policy.rules.holds(Place::Output),
            waits: moderation.is_some_and(|moderation| moderation.action == Action::Block),
            text: TextStream::new(&inspection),
            inspection,
            reasoning: ReasoningBlock {
                open: false,
                text: TextStream::new(&reasoning),
                inspection: reasoning,
                redacted_before: 0,
                vendor: String::new(),
            },
            json: String::new(),
            calls: Vec::new(),
            passed: VecDeque::new(),
            shown: moderation.map(|_| vec![String::new(); TEXT + 1]),
            ending: None,
        }
    }

    /// Takes the vendor's next event; fails where the answer must not go on.
    pub fn take(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::TextDelta(delta) => self.take_text(&delta.text),
            Event::ReasoningDelta(delta) => self.take_reasoning(delta),
            Event::ToolCallDelta(delta) => self.take_call(delta),
            Event::UsageSoFar(_) | Event::WithheldTokens(_) => {}
            Event::Done(done) => return self.end(done),
        }
        if self.inspection.is_over() || self.reasoning.inspection.is_over() {
            return self.conclude();
        }
        Ok(())
    }

    /// What may be sent next; `None` where more must come first. Fails where the answer must not go on.
    pub fn poll_passed(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>, Failure>> {
        if !self.waits
            && let Some(event) = self.passed.pop_front()
        {
            return Poll::Ready(Ok(Some(event)));
        }
        let Some((judging, _)) = &mut self.ending else { return Poll::Ready(Ok(None)) };
        if let Some(judging) = judging {
            let count = ready!(judging.as_mut().poll(cx))?;
            let action = self.content.policy.moderation(Place::Output).map_or(Action::Flag, |it| it.action);
            self.content.judged(action, Place::Output, count)?;
        }
        if let Some((_, done)) = self.ending.take() {
            self.passed.push_back(Event::Done(done));
        }
        self.waits = false;
        Poll::Ready(Ok(self.passed.pop_front()))
    }

    /// What was found, for the record of the request's way.
    pub fn take_findings(&mut self) -> Vec<v1::ContentFinding> {
        self.content.take_findings()
    }

    fn take_text(&mut self, text: &str) {
        self.end_reasoning(String::new(), false);
        if self.content.structured && self.holds {
            self.json.push_str(text);
            return;
        }
        let text = self.text.push(text, &mut self.inspection);
        self.pass_text(text);
    }

    fn take_reasoning(&mut self, delta: v1::ReasoningDelta) {
        let block = &mut self.reasoning;
        block.open = true;
        if !delta.vendor.is_empty() {
            block.vendor = delta.vendor;
        }
        let text = block.text.push(&delta.text, &mut block.inspection);
        self.pass_reasoning(text, String::new(), false);
        if !delta.signature.is_empty() || delta.redacted {
            self.end_reasoning(delta.signature, delta.redacted);
        }
    }

    /// A block of reasoning has ended. Its signature vouches for the text as it was, so that it goes where that changed.
    fn end_reasoning(&mut self, signature: String, withheld: bool) {
        let block = &mut self.reasoning;
        if !std::mem::take(&mut block.open) {
            return;
        }
        let rest = block.text.finish(&mut block.inspection);
        let redacted = block.inspection.redactions();
        let changed = std::mem::replace(&mut block.redacted_before, redacted) != redacted;
        self.pass_reasoning(rest, if changed { String::new() } else { signature }, withheld);
    }

    fn pass_reasoning(&mut self, text: String, signature: String, redacted: bool) {
        if text.is_empty() && signature.is_empty() && !redacted {
            return;
        }
        self.show(REASONING, &text);
        let vendor = self.reasoning.vendor.clone();
        self.passed.push_back(Event::ReasoningDelta(v1::ReasoningDelta {
            text,
            signature,
            redacted,
            vendor,
        }));
    }

    fn take_call(&mut self, delta: v1::ToolCallDelta) {
        self.end_reasoning(String::new(), false);
        if !self.holds {
            self.passed.push_back(Event::ToolCallDelta(delta.clone()));
        }
        match self.calls.iter_mut().find(|call| call.index == delta.index) {
            None => self.calls.push(delta),
            Some(call) => {
                call.id.push_str(&delta.id);
                call.name.push_str(&delta.name);
                call.arguments.push_str(&delta.arguments);
                call.signature.push_str(&delta.signature);
            }
        }
    }

    fn end(&mut self, done: v1::InvokeDone) -> Result<(), Failure> {
        self.end_reasoning(String::new(), false);
        let json = std::mem::take(&mut self.json);
        let calls = std::mem::take(&mut self.calls);
        let redacted_json = self.inspection.json(&json);
        let redacted_calls: Vec<_> = calls.iter().map(|call| self.inspection.json(&call.arguments)).collect();
        let changed = redacted_json.is_some() || redacted_calls.iter().any(Option::is_some);
        let before = self.gate.is_some().then(|| as_parts(&json, &calls)).filter(|_| changed);
        let json = redacted_json.unwrap_or(json);
        let redacted = calls.into_iter().zip(redacted_calls).map(|(call, redacted)| match redacted {
            Some(arguments) => v1::ToolCallDelta { arguments, ..call },
            None => call,
        });
        let calls: Vec<_> = redacted.collect();
        let spoilt = before.is_some_and(|before| self.is_spoilt(before, as_parts(&json, &calls), &done));
        let text = if json.is_empty() { self.text.finish(&mut self.inspection) } else { json };
        self.pass_text(text);
        for call in calls {
            self.shown.iter_mut().for_each(|shown| shown.push(call.arguments.clone()));
            if self.holds {
                self.passed.push_back(Event::ToolCallDelta(call));
            }
        }
        self.conclude()?;
        if spoilt {
            self.passed.clear();
            return Err(self.content.spoilt(&self.inspection));
        }
        self.ending = Some((self.judging(), done));
        Ok(())
    }

    /// Whether an answer was what was asked for, and is no longer.
    fn is_spoilt(
        &self,
        mut before: Vec<v1::Part>,
        mut redacted: Vec<v1::Part>,
        done: &v1::InvokeDone,
    ) -> bool {
        let finish = done.finish_reason();
        self.gate.as_ref().is_some_and(|gate| {
            gate.check(&mut before, finish).is_ok() && gate.check(&mut redacted, finish).is_err()
        })
    }

    fn pass_text(&mut self, text: String) {
        if !text.is_empty() {
            self.show(TEXT, &text);
            self.passed.push_back(Event::TextDelta(v1::TextDelta { text }));
        }
    }

    fn show(&mut self, at: usize, text: &str) {
        if let Some(shown) = self.shown.as_mut().and_then(|shown| shown.get_mut(at)) {
            shown.push_str(text);
        }
    }

    fn judging(&mut self) -> Option<Judging> {
        let texts = self.shown.take()?;
        let (judge, policy) = (self.content.judge.clone(), self.content.policy.clone());
        Some(Box::pin(async move {
            match policy.moderation(Place::Output) {
                Some(moderation) => judge.count(moderation, &texts).await,
                None => Ok(Some(0)),
            }
        }))
    }

    /// Keeps what the rules found, and tells whether the answer may go on.
    fn conclude(&mut self) -> Result<(), Failure> {
        let (text, reasoning) = (&self.inspection, &self.reasoning.inspection);
        let reasoning = self.content.conclude(reasoning, Place::Output);
        let concluded = self.content.conclude(text, Place::Output).and(reasoning);
        if concluded.is_err() {
            self.passed.clear();
        }
        concluded
    }
}

/// What the gate looks at.
fn as_parts(text: &str, calls: &[v1::ToolCallDelta]) -> Vec<v1::Part> {
    use v1::part::Part;
    let text = (!text.is_empty()).then(|| Part::Text(text.to_owned()));
    let calls = calls.iter().map(|call| {
        Part::ToolCall(v1::ToolCall {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            ..Default::default()
        })
    });
    let parts = text.into_iter().chain(calls);
    parts.map(|part| v1::Part { part: Some(part), ..Default::default() }).collect()
}

#[cfg(test)]
mod tests;
