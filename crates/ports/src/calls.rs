//! Who hears of every vendor call: metrics. What is billed goes through the usage log.

use signalbox_types::{ErrorReason, ModelRef, Money, TokenUsage};
use std::time::Duration;

/// The account of one vendor call (one attempt of a request).
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// The request it was made for.
    pub request_id: String,
    /// Who pays.
    pub tenant_id: String,
    /// Who was called.
    pub target: ModelRef,
    /// How it ended.
    pub outcome: CallOutcome,
    /// What it used, with the source of the counts.
    pub usage: TokenUsage,
    /// What it cost; `None` where the price is unknown.
    pub cost: Option<Money>,
    /// From the start of the call to its end. `None` for an item of a batch, which is no call of its own: only its
    /// tokens and its cost are counted.
    pub latency: Option<Duration>,
    /// From the start to the first byte of content.
    pub time_to_first_token: Option<Duration>,
    /// Whether the vendor is simulated.
    pub simulated: bool,
    /// Whether it is a heartbeat, which nobody asked for.
    pub probe: bool,
}

/// How a vendor call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// With an answer.
    Answered,
    /// With a failure.
    Failed(ErrorReason),
    /// The caller went away first.
    Cancelled,
}

/// Takes the account of every vendor call, whatever its end. Must not block.
pub trait CallSink: Send + Sync {
    /// Keeps one account.
    fn record(&self, record: CallRecord);
}
