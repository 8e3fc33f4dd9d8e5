//! Why entries cannot be sent on just now.

use crate::StreamError;
use async_nats::jetstream::context::PublishError;
use std::{io, time::Duration};
use tokio::time::Instant;

/// Shorter ones are not worth a word.
const WORTH_TELLING: Duration = Duration::from_secs(2);

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

/// Trouble that goes on, of one kind or several in turns.
#[derive(Debug)]
pub(super) struct Lasting {
    since: Instant,
    told: Vec<&'static str>,
}

impl Lasting {
    pub(super) fn from_now() -> Self {
        Self { since: Instant::now(), told: Vec::new() }
    }

    /// Whether it should be told now. It is then taken as told.
    pub(super) fn is_news(&mut self, trouble: &Trouble) -> bool {
        let news = self.since.elapsed() >= WORTH_TELLING && !self.told.contains(&trouble.reason());
        if news {
            self.told.push(trouble.reason());
        }
        news
    }

    pub(super) fn is_told(&self) -> bool {
        !self.told.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn trouble_is_told_once_of_each_kind_when_it_lasts() {
        let mut lasting = Lasting::from_now();
        assert!(!lasting.is_news(&Trouble::Away), "it may be over in a moment");
        advance(WORTH_TELLING).await;
        assert!(lasting.is_news(&Trouble::Away) && lasting.is_told());
        assert!(lasting.is_news(&Trouble::Silence));
        assert!(!lasting.is_news(&Trouble::Away) && !lasting.is_news(&Trouble::Silence));
    }
}
