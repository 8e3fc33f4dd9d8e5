//! Who is told of alerts.

use crate::BusAway;
use async_trait::async_trait;
use signalbox_api::v1::Alert;
use std::fmt;

/// A turn in an alert's life: it opened, escalated or closed.
#[derive(Debug, Clone, PartialEq)]
pub struct AlertNews {
    /// The same for the same turn of the same alert, whoever tells it and however often.
    pub id: String,
    /// The alert as it stands.
    pub alert: Alert,
}

/// The bus on which other programs hear of alerts.
#[async_trait]
pub trait AlertBus: Send + Sync + fmt::Debug {
    /// Tells everybody. Whether it is news: nobody has told it before.
    ///
    /// # Errors
    /// The bus is away; whether it was told is not known.
    async fn publish(&self, news: &AlertNews) -> Result<bool, BusAway>;
}

/// A receiver outside, who is told once.
#[async_trait]
pub trait AlertHook: Send + Sync + fmt::Debug {
    /// Tells it.
    ///
    /// # Errors
    /// It may not have heard.
    async fn post(&self, news: &AlertNews) -> Result<(), NotTold>;
}

/// A receiver that was not told, in words that hold neither its address nor a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotTold {
    /// Worth another try.
    #[error("{0}")]
    Yet(String),
    /// It refuses this, and will again.
    #[error("{0}")]
    Ever(String),
}
