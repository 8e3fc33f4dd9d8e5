//! A vendor's batch endpoint, as the adapter sees it.

use crate::VendorTarget;
use async_trait::async_trait;
use futures_util::stream::BoxStream;
use signalbox_types::{Adjustment, EmbedRequest, EmbeddingAnswer, Failure, ModelAnswer, Prompt};
use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};

/// Most that one batch may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Items; of embeddings, texts.
    pub items: usize,
    /// Bytes of all items, in the vendor's words.
    pub bytes: usize,
}

/// What an item asks for.
#[derive(Debug, Clone, Copy)]
pub enum BatchAsk<'a> {
    /// An answer.
    Generate(&'a Prompt),
    /// Vectors.
    Embed(&'a EmbedRequest),
}

/// An item in the vendor's words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncodedItem {
    /// Its key, unique in the batch.
    pub key: String,
    /// Where its request would go if it were made alone: all of a batch go to the same place.
    pub path: String,
    /// How much it counts against [`BatchLimits::items`].
    pub weight: usize,
    /// As it stands in the batch.
    pub bytes: Vec<u8>,
    /// What the translation had to change.
    pub adjustments: Vec<Adjustment>,
    /// Give this back when asking for the results.
    pub json_tool: Option<String>,
}

/// Items that are to be handed over together.
#[derive(Debug, Clone, Default)]
pub struct Parcel {
    /// The name of the batch, by which it is found again.
    pub key: String,
    /// It may have been handed over already, not before this time.
    pub maybe_since: Option<SystemTime>,
    /// At least one.
    pub items: Vec<EncodedItem>,
}

/// How far a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VendorBatchState {
    /// The vendor works on it, or will.
    #[default]
    Running,
    /// It is being stopped.
    Cancelling,
    /// It has ended, whole or in part: results can be read.
    Ended,
    /// The vendor refused it whole: there are no results.
    Refused,
}

/// A batch at its vendor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VendorBatch {
    /// The vendor's id.
    pub id: String,
    /// How far it is.
    pub state: VendorBatchState,
    /// Its items; 0 where the vendor does not tell yet.
    pub total: u64,
    /// Of these, answered. Some vendors tell nothing before the end.
    pub succeeded: u64,
    /// Of these, ended without an answer.
    pub failed: u64,
    /// When the vendor took it.
    pub created: Option<SystemTime>,
    /// When the vendor gives up on it; `None` where it does not say.
    pub expires: Option<SystemTime>,
    /// When it ended; `None` before, and where the vendor does not say.
    pub ended: Option<SystemTime>,
    /// Why the vendor refused it whole.
    pub refusal: Option<Failure>,
}

/// What came of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemOutcome {
    /// An answer.
    Answer(ModelAnswer),
    /// Vectors.
    Vectors(EmbeddingAnswer),
    /// It failed.
    Failed(Failure),
    /// It was stopped before it was answered.
    Cancelled,
    /// It was not answered in the vendor's time.
    Expired,
}

/// What came of the item with a key. Only answers and vectors are billed.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemResult {
    /// [`EncodedItem::key`].
    pub key: String,
    /// What came of it.
    pub outcome: ItemOutcome,
    /// The vendor's id of the request; empty where it gives none.
    pub request_id: String,
}

/// Results as they are read. Ends after one `Err`, which speaks of the whole batch.
pub type ItemResults = BoxStream<'static, Result<ItemResult, Failure>>;

/// The batch endpoint of one vendor entry. Every method makes few calls and none again: who asks may ask again.
///
/// `timeout` is for the whole of a call; the vendor entry's own limits apply too.
#[async_trait]
pub trait VendorBatches: Send + Sync {
    /// Most that one batch may hold.
    fn limits(&self) -> BatchLimits;

    /// Says an item in the vendor's words: those of an interactive call. No vendor is called. `UNIMPLEMENTED` where
    /// batches of such items are not taken.
    fn encode(&self, target: VendorTarget<'_>, key: &str, ask: BatchAsk<'_>) -> Result<EncodedItem, Failure>;

    /// Hands a parcel over. Where it may have been handed over before, it is looked for first, and found is not handed
    /// over again; where that cannot be told yet, the failure is `VENDOR_BUSY` with the time to ask again.
    async fn submit(&self, target: VendorTarget<'_>, parcel: Parcel) -> Result<VendorBatch, Failure>;

    /// How far a batch is.
    async fn get(&self, id: &str, timeout: Option<Duration>) -> Result<VendorBatch, Failure>;

    /// Asks to stop a batch. One that has ended stays as it is.
    async fn cancel(&self, id: &str, timeout: Option<Duration>) -> Result<VendorBatch, Failure>;

    /// What came of the items of a batch that has ended, in any order. Items of which the vendor says nothing that can be
    /// read do not come. `json_tools` are the [`EncodedItem::json_tool`]s
    /// by key.
    async fn results(&self, id: &str, json_tools: HashMap<String, String>) -> Result<ItemResults, Failure>;

    /// Deletes the files that the vendor keeps of a batch that has ended, its results among them. How many were deleted:
    /// none where the vendor keeps no such files, or they are gone.
    async fn delete_files(&self, id: &str, timeout: Option<Duration>) -> Result<u32, Failure>;
}
