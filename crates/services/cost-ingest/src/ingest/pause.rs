//! Waiting for something that is away, without a line in the log for each try.

use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(5);

/// Pauses that double.
#[derive(Debug)]
pub(crate) struct Backoff(Duration);

impl Default for Backoff {
    fn default() -> Self {
        Self(SHORTEST)
    }
}

impl Backoff {
    /// Waits, and longer the next time.
    pub(crate) fn pause(&mut self) -> impl Future<Output = ()> + Send + 'static {
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST);
        tokio::time::sleep(pause)
    }
}

/// Says once that something is away, and once that it is there again.
#[derive(Debug)]
pub(crate) struct Reach {
    what: &'static str,
    away: bool,
}

impl Reach {
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, away: false }
    }

    pub(crate) fn is_away(&mut self, why: &str) {
        if !std::mem::replace(&mut self.away, true) {
            tracing::warn!(why, "{} cannot be reached; accounts wait", self.what);
        }
    }

    pub(crate) fn is_there(&mut self) {
        if std::mem::replace(&mut self.away, false) {
            tracing::info!("{} can be reached again", self.what);
        }
    }
}
