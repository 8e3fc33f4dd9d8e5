//! One request of a batch, and what came of it.

use bytes::Bytes;
use serde_json::Value;

/// An item that says this somewhere makes its vendor refuse the batch.
const MARK: &str = "refuse-batch";

/// One request of a batch.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// The caller's name for it.
    pub(crate) id: String,
    /// The model asked, with its fault suffix if it has one.
    pub(crate) model: String,
    /// Where it would go if it were made alone.
    pub(crate) path: String,
    /// What it asks.
    pub(crate) body: Bytes,
    /// What came of it, once it has ended.
    pub(crate) end: Option<ItemEnd>,
}

impl Item {
    /// An item that nobody has looked at.
    pub(crate) fn new(
        id: impl Into<String>,
        model: impl Into<String>,
        path: impl Into<String>,
        body: &Value,
    ) -> Self {
        let body = serde_json::to_vec(body).unwrap_or_default().into();
        Self { id: id.into(), model: model.into(), path: path.into(), body, end: None }
    }
}

impl Item {
    /// What its vendor has against it, for which it refuses the whole batch: it says [`MARK`].
    pub(crate) fn objection(&self) -> Option<&'static str> {
        let marked = self.body.windows(MARK.len()).any(|piece| piece == MARK.as_bytes());
        marked.then_some("The request is not valid, as it says itself.")
    }
}

/// What came of an item.
#[derive(Debug, Clone)]
pub(crate) enum ItemEnd {
    Answered(Answered),
    Cancelled,
    Expired,
}

/// The response to an item: an answer or a refusal.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) request_id: String,
    pub(crate) body: Bytes,
}

impl Answered {
    /// Whether it is an answer.
    pub(crate) fn succeeded(&self) -> bool {
        self.status < 400
    }

    /// The body; text where it is no JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| String::from_utf8_lossy(&self.body).into_owned().into())
    }
}
