//! One vendor, as the adapter sees it.

use crate::vendor_batch::VendorBatches;
use async_trait::async_trait;
use futures_util::Stream;
use signalbox_types::{
    Adjustment, EmbedRequest, EmbeddingAnswer, Failure, ModelAnswer, ModelFacts, Prompt, StreamEvent,
    TokenUsage,
};
use std::{pin::Pin, time::Duration};

/// The model to call, with what is known of it.
#[derive(Debug, Clone, Copy)]
pub struct VendorTarget<'a> {
    /// The vendor's own model id.
    pub model: &'a str,
    /// What it can do and how it wants to be spoken to.
    pub facts: &'a ModelFacts,
    /// Time for the whole call; the vendor entry's own limits apply too.
    pub timeout: Option<Duration>,
}

/// What a vendor gave, and how the call went.
#[derive(Debug)]
pub struct VendorReply<T> {
    /// The answer.
    pub value: T,
    /// What the translation had to change.
    pub adjustments: Vec<Adjustment>,
    /// The vendor's id of the request; empty where it gives none.
    pub request_id: String,
    /// Share of the vendor's quota that is left, 0 to 1, of the scarcest kind; `None` where it does not tell.
    pub quota_left: Option<f64>,
}

/// A connection to one vendor entry of the catalogue, with its own pool, timeouts and concurrency limit.
///
/// Dropping a future or a stream stops the vendor call.
#[async_trait]
pub trait VendorApi: Send + Sync + std::fmt::Debug {
    /// The whole answer at once.
    async fn generate(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<ModelAnswer>, Failure>;

    /// The answer as it arrives. `Ok` once the vendor has answered with a success status.
    async fn stream(
        &self,
        target: VendorTarget<'_>,
        prompt: &Prompt,
    ) -> Result<VendorReply<BoxAnswerStream>, Failure>;

    /// Vectors for texts.
    async fn embed(
        &self,
        target: VendorTarget<'_>,
        request: &EmbedRequest,
    ) -> Result<VendorReply<EmbeddingAnswer>, Failure>;

    /// Prompt tokens by the vendor's own count; `None` where it has no such endpoint.
    async fn count_tokens(&self, target: VendorTarget<'_>, prompt: &Prompt) -> Result<Option<u64>, Failure>;

    /// What it would mean if the vendor answered with this HTTP status and no word. Nobody is called: it is for drills.
    fn failure_of(&self, status: u16) -> Failure;

    /// Whether this is a simulated vendor.
    fn simulated(&self) -> bool;

    /// The vendor's batch endpoint; `None` where it has none.
    fn batches(&self) -> Option<&dyn VendorBatches> {
        None
    }
}

/// The events of one answer. Ends after `Done`, or after one `Err`.
pub trait AnswerStream: Stream<Item = Result<StreamEvent, Failure>> + Send {
    /// What the vendor has reported so far; `None` while it has said nothing. Read when a stream is cut short.
    fn vendor_usage(&self) -> Option<TokenUsage>;
}

/// An [`AnswerStream`] of some vendor.
pub type BoxAnswerStream = Pin<Box<dyn AnswerStream>>;

impl<T> std::fmt::Debug for dyn AnswerStream<Item = T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnswerStream")
    }
}
