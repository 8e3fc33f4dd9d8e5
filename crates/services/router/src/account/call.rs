//! A vendor call under way, as an account sees it.

use signalbox_api::{
    convert,
    v1::{attempt::Cause, stream_invoke_model_response::Event},
};
use signalbox_pricing::SoFar;
use signalbox_types::{ErrorReason, ModelRef, TokenUsage, UsageSource};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// A draft is written anew once an answer has so many tokens, and whenever it has doubled since: at the process's death
/// no more than half of a long one goes untold.
const WORTH_A_DRAFT: u64 = 256;

/// A vendor call under way.
#[derive(Debug)]
pub(crate) struct Call {
    pub(super) model: ModelRef,
    pub(super) cause: Cause,
    /// Why the attempt before it failed, where that led to it.
    pub(super) fallback_reason: &'static str,
    pub(super) started: Instant,
    pub(super) seen: Seen,
}

impl Call {
    pub(super) fn new(model: ModelRef, cause: Cause, fallback_reason: &'static str, seen: Seen) -> Self {
        Self { model, cause, fallback_reason, started: Instant::now(), seen }
    }
}

/// What was seen of a call. Shared by the account and whoever reads the call's events.
#[derive(Debug, Clone)]
pub(crate) struct Seen(Arc<Mutex<Sight>>);

#[derive(Debug)]
struct Sight {
    so_far: SoFar,
    /// When the vendor is called; `None` where a drill keeps the call from it.
    reaches_vendor: Option<Instant>,
    first_content: Option<Instant>,
    /// Tokens of the answer from which on a draft is behind.
    draft_at: u64,
}

impl Seen {
    /// Nothing yet of a call that reaches the vendor after so long, if at all.
    pub(super) fn new(prompt_tokens: u64, lateness: Option<Duration>) -> Self {
        Self(Arc::new(Mutex::new(Sight {
            so_far: SoFar::new(prompt_tokens),
            reaches_vendor: lateness.and_then(|lateness| Instant::now().checked_add(lateness)),
            first_content: None,
            draft_at: WORTH_A_DRAFT,
        })))
    }

    fn sight(&self) -> MutexGuard<'_, Sight> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event has come. Counted as the adapter counts it.
    pub(crate) fn event(&self, event: &Event) {
        let text = match event {
            Event::TextDelta(delta) => &delta.text,
            Event::ToolCallDelta(delta) => &delta.arguments,
            Event::ReasoningDelta(delta) => &delta.text,
            Event::WithheldTokens(tokens) => return self.sight().so_far.arrived(*tokens),
            Event::UsageSoFar(usage) => {
                return self.sight().so_far.reported(convert::usage_from_proto(usage));
            }
            Event::Done(_) => return,
        };
        let mut sight = self.sight();
        sight.so_far.text(text);
        sight.first_content.get_or_insert_with(Instant::now);
    }

    /// What the call has used until now.
    pub(super) fn used(&self) -> TokenUsage {
        let sight = self.sight();
        if sight.reaches_vendor.is_some_and(|reaches| reaches <= Instant::now()) {
            return sight.so_far.used();
        }
        TokenUsage { source: UsageSource::Vendor, ..TokenUsage::default() }
    }

    /// When its first content came.
    pub(super) fn first_content(&self) -> Option<Instant> {
        self.sight().first_content
    }

    /// Whether anything of an answer has come.
    pub(super) fn has_begun(&self) -> bool {
        let sight = self.sight();
        sight.so_far.answer_tokens() > 0 || sight.so_far.is_reported() || sight.first_content.is_some()
    }

    /// Whether the answer is so long by now that a draft written before tells too little.
    pub(super) fn outgrew_its_draft(&self) -> bool {
        let mut sight = self.sight();
        let outgrew = sight.so_far.answer_tokens() >= sight.draft_at;
        if outgrew {
            sight.draft_at = sight.so_far.answer_tokens().saturating_mul(2);
        }
        outgrew
    }
}

/// Whether a failed attempt may have cost something although its adapter gave no account of it: it was cut off on the
/// way, and not refused.
pub(super) fn may_have_cost(reason: ErrorReason, lost_under_way: bool) -> bool {
    match reason {
        ErrorReason::Unavailable => lost_under_way,
        reason => matches!(
            reason,
            ErrorReason::VendorTimeout
                | ErrorReason::DeadlineExceeded
                | ErrorReason::StreamTruncated
                | ErrorReason::Cancelled
                | ErrorReason::Internal
        ),
    }
}
