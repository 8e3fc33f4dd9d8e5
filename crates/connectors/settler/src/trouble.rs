//! What stands in the way of settlements, how long to wait then, and when to speak of it.

use signalbox_api::status::from_status;
use signalbox_types::{ErrorReason, Failure};
use std::{fmt, io, time::Duration};
use tonic::Status;

const SHORTEST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(8);
/// Failures in a row before it is news: a service that starts anew is no trouble.
const NEWS: u32 = 4;

/// Why something was not settled.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The ledger cannot be reached, or failed: the same may be booked later.
    Away(Failure),
    /// What was sent cannot be read there.
    Refused(Failure),
    /// The disk.
    Disk(io::Error),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(failure) | Self::Refused(failure) => {
                write!(f, "{}: {}", failure.reason.name(), failure.message)
            }
            Self::Disk(error) => write!(f, "the usage spool: {error}"),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl From<Status> for Trouble {
    fn from(status: Status) -> Self {
        let failure = from_status(&status);
        match failure.reason {
            ErrorReason::InvalidRequest | ErrorReason::RequestTooLarge => Self::Refused(failure),
            _ => Self::Away(failure),
        }
    }
}

/// Failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    count: u32,
}

impl Troubles {
    /// One more: how long to wait.
    pub(crate) fn happened(&mut self, trouble: &Trouble) -> Duration {
        let pause = (SHORTEST * 2u32.saturating_pow(self.count)).min(LONGEST);
        self.count = self.count.saturating_add(1);
        if self.count == NEWS {
            tracing::warn!(%trouble, "what requests cost does not reach the ledger of budgets; it waits in the usage spool");
        } else {
            tracing::debug!(%trouble, "what requests cost waits in the usage spool");
        }
        pause
    }

    /// It is over.
    pub(crate) fn over(&mut self) {
        if std::mem::take(&mut self.count) >= NEWS {
            tracing::info!("what requests cost reaches the ledger of budgets again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_few_seconds_and_begin_anew_once_it_is_over() {
        let mut troubles = Troubles::default();
        let trouble = Trouble::Away(Failure::new(ErrorReason::Unavailable, "away"));
        let pauses: Vec<_> = (0..40).map(|_| troubles.happened(&trouble)).collect();
        assert_eq!((pauses[0], pauses[1], pauses[39]), (SHORTEST, SHORTEST * 2, LONGEST));
        troubles.over();
        assert_eq!(troubles.happened(&trouble), SHORTEST);
    }
}
