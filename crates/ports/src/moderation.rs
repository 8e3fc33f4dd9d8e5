//! An endpoint that judges content.

use async_trait::async_trait;
use std::{collections::BTreeMap, fmt, time::Duration};

/// A moderation endpoint, and how it is to be asked.
#[derive(Clone, Copy)]
pub struct ModerationEndpoint<'a> {
    /// Its address, without `/v1/moderations`.
    pub url: &'a str,
    /// Its key, where it needs one.
    pub key: Option<&'a str>,
    /// The model that judges.
    pub model: &'a str,
    /// Time for the whole call.
    pub timeout: Duration,
}

/// Everything but the key.
impl fmt::Debug for ModerationEndpoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModerationEndpoint")
            .field("url", &self.url)
            .field("model", &self.model)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What an endpoint says of one text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement {
    /// Whether it finds anything by its own measure.
    pub flagged: bool,
    /// How sure it is of each category, 0 to 1.
    pub scores: BTreeMap<String, f64>,
}

/// An endpoint that did not judge, and why, in words that hold neither its key nor a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotJudged(pub String);

/// The way to moderation endpoints.
#[async_trait]
pub trait Moderator: Send + Sync + fmt::Debug {
    /// One judgement for each text, in their order.
    async fn judge(
        &self,
        endpoint: ModerationEndpoint<'_>,
        texts: &[String],
    ) -> Result<Vec<Judgement>, NotJudged>;
}
