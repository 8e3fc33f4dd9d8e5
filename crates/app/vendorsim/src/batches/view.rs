//! Batches as tests see them.

use super::batch::{Batch, End, Phase};
use super::item::{Item, ItemEnd};
use crate::pipeline::split_suffix;
use crate::vendor::Vendor;
use bytes::Bytes;
use serde::Serialize;
use std::collections::BTreeMap;

/// A batch that was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedBatch {
    /// The vendor it was handed to.
    pub vendor: Vendor,
    /// The vendor's id.
    pub id: String,
    /// Its name, with vendors that have such (Gemini's display name, xAI's name); empty otherwise.
    pub name: String,
    /// What the caller noted on it, with vendors that take such notes (OpenAI).
    pub metadata: BTreeMap<String, String>,
    /// How far it is.
    pub state: BatchState,
    /// It stays as it is until it is let go.
    pub held: bool,
    /// Its requests, in the order they came in.
    pub items: Vec<SubmittedItem>,
}

/// A request of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedItem {
    /// The caller's name for it; empty where it has none.
    pub id: String,
    /// The model asked.
    pub model: String,
    /// What it asks, as JSON.
    pub body: Bytes,
    /// What came of it; `None` until then.
    pub outcome: Option<ItemOutcome>,
}

/// How far a batch is. It moves on when the vendor is asked about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchState {
    /// It is in progress.
    Running,
    /// Its cancellation was asked for.
    Cancelling,
    /// Every item was answered or refused.
    Completed,
    /// It was cancelled; some items may have been answered.
    Cancelled,
    /// It took too long; some items may have been answered.
    Expired,
    /// It was refused whole.
    Refused,
}

/// What came of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemOutcome {
    /// An answer.
    Succeeded,
    /// A refusal.
    Errored,
    /// Nothing: the batch was cancelled or refused before.
    Cancelled,
    /// Nothing: the batch took too long.
    Expired,
}

impl SubmittedBatch {
    pub(crate) fn of(batch: &Batch) -> Self {
        let notes = batch.about.metadata.as_object().into_iter().flatten();
        let note = |(name, value): (&String, &serde_json::Value)| {
            (name.clone(), value.as_str().unwrap_or_default().to_owned())
        };
        Self {
            vendor: batch.vendor,
            id: batch.id.clone(),
            name: batch.about.name.clone(),
            metadata: notes.map(note).collect(),
            state: state(batch.phase),
            held: batch.is_held(),
            items: batch.items.iter().map(SubmittedItem::of).collect(),
        }
    }
}

impl SubmittedItem {
    fn of(item: &Item) -> Self {
        let outcome = item.end.as_ref().map(|end| match end {
            ItemEnd::Answered(answered) if answered.succeeded() => ItemOutcome::Succeeded,
            ItemEnd::Answered(_) => ItemOutcome::Errored,
            ItemEnd::Cancelled => ItemOutcome::Cancelled,
            ItemEnd::Expired => ItemOutcome::Expired,
        });
        let model = split_suffix(&item.model).0.to_owned();
        Self { id: item.id.clone(), model, body: item.body.clone(), outcome }
    }
}

fn state(phase: Phase) -> BatchState {
    match phase {
        Phase::Running => BatchState::Running,
        Phase::Cancelling => BatchState::Cancelling,
        Phase::Ended(End::Done) => BatchState::Completed,
        Phase::Ended(End::Cancelled) => BatchState::Cancelled,
        Phase::Ended(End::Expired) => BatchState::Expired,
        Phase::Ended(End::Refused) => BatchState::Refused,
    }
}
