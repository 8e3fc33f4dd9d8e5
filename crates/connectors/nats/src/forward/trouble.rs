//! Why entries cannot be sent on just now.

use crate::StreamError;
use async_nats::jetstream::context::PublishError;
use std::io;

#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("NATS is not connected")]
    Away,
    #[error("the stream acknowledges nothing")]
    Silence,
    #[error(transparent)]
    Stream(#[from] StreamError),
    #[error("the stream does not take them: {0}")]
    Publish(#[from] PublishError),
    #[error("the spool cannot be read or written: {0}")]
    Spool(#[from] io::Error),
}

impl Trouble {
    /// For metrics, and to tell whether it is still the same.
    pub(super) fn reason(&self) -> &'static str {
        match self {
            Self::Away => "away",
            Self::Silence => "silence",
            Self::Stream(_) => "stream",
            Self::Publish(_) => "publish",
            Self::Spool(_) => "spool",
        }
    }
}
