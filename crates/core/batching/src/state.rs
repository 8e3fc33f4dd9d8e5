//! How far jobs, items and windows are, and what may follow.

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobState {
    /// Items wait for their windows or are at vendors.
    Running,
    /// It is being stopped.
    Cancelling,
    /// Every item has a result.
    Ended,
}

/// How an item ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// With an answer.
    Succeeded,
    /// With an error.
    Failed,
    /// It was stopped.
    Cancelled,
    /// It was not answered in time.
    Expired,
}

/// How far a window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WindowState {
    /// Items join it.
    Open,
    /// It is being handed over; a window of usual calls is being worked through. Nobody joins it any more.
    Handing,
    /// The vendor has it.
    Submitted,
    /// All its items have ended or gone on.
    Ended,
    /// The vendor refused it whole, and all its items have ended or gone on.
    Refused,
}

impl JobState {
    /// All, in their order.
    pub const ALL: [Self; 3] = [Self::Running, Self::Cancelling, Self::Ended];

    /// Whether the one may follow the other.
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Running, Self::Cancelling | Self::Ended) | (Self::Cancelling, Self::Ended)
        )
    }
}

impl Outcome {
    /// All, in their order.
    pub const ALL: [Self; 4] = [Self::Succeeded, Self::Failed, Self::Cancelled, Self::Expired];
}

impl WindowState {
    /// All, in their order.
    pub const ALL: [Self; 5] = [Self::Open, Self::Handing, Self::Submitted, Self::Ended, Self::Refused];

    /// Whether nothing follows any more.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Refused)
    }

    /// Whether the one may follow the other. A window may end from any state: its items may all have gone on.
    pub const fn may_become(self, next: Self) -> bool {
        match (self, next) {
            (Self::Open, Self::Handing) | (Self::Handing, Self::Submitted) => true,
            (before, Self::Ended | Self::Refused) => !before.is_over(),
            _ => false,
        }
    }

    /// Whether a job's items in such a window count as being at the vendor, rather than as waiting.
    pub const fn is_running(self, lane: crate::Lane) -> bool {
        match self {
            Self::Open => false,
            Self::Handing => matches!(lane, crate::Lane::Usual),
            Self::Submitted | Self::Ended | Self::Refused => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_never_goes_back_and_never_leaves_its_end() {
        for (place, state) in WindowState::ALL.into_iter().enumerate() {
            for earlier in &WindowState::ALL[..=place] {
                assert!(!state.may_become(*earlier), "{state:?} {earlier:?}");
            }
            assert!(state.is_over() || state.may_become(WindowState::Ended));
            assert!(!state.is_over() || WindowState::ALL.into_iter().all(|next| !state.may_become(next)));
        }
        assert!(!WindowState::Open.may_become(WindowState::Submitted));
    }

    #[test]
    fn a_job_never_goes_back() {
        for (place, state) in JobState::ALL.into_iter().enumerate() {
            for (other, next) in JobState::ALL.into_iter().enumerate() {
                assert_eq!(state.may_become(next), place < other, "{state:?} {next:?}");
            }
        }
    }
}
