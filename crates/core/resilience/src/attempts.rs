//! Retry, switch or stop: the one decision after every failed attempt.

use signalbox_types::{ErrorReason, Failure};
use std::{sync::Arc, time::Duration};

/// How far failover may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailoverRules {
    /// Wait before a quick retry at the same vendor.
    pub quick_retry_delay: Duration,
    /// Quick retries at the same vendor.
    pub max_same_vendor_retries: u32,
}

/// What to do after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The same candidate again, after a wait.
    Retry {
        /// The wait.
        after: Duration,
    },
    /// This candidate (an index into the plan).
    Switch {
        /// Its index.
        to: usize,
    },
    /// No further attempt can succeed or is allowed.
    Stop,
}

/// The attempts of one request over the candidates of its plan.
///
/// When a vendor fails, its other models come after those of other vendors, which fail less likely for the same cause.
#[derive(Debug, Clone)]
pub struct Attempts {
    rules: FailoverRules,
    /// In the plan's order.
    candidates: Vec<Candidate>,
    current: usize,
    retries_here: u32,
}

#[derive(Debug, Clone)]
struct Candidate {
    vendor: Arc<str>,
    turn: Turn,
}

/// Whether a candidate may still come up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Due,
    /// Its vendor has failed: after those that are due.
    Late,
    /// It had its turn, or its vendor will refuse it too.
    Over,
}

impl Attempts {
    /// Starts at the first of the candidates whose vendors are given in the plan's order.
    pub fn new(rules: FailoverRules, vendors: impl IntoIterator<Item = Arc<str>>) -> Self {
        let mut candidates: Vec<Candidate> =
            vendors.into_iter().map(|vendor| Candidate { vendor, turn: Turn::Due }).collect();
        if let Some(first) = candidates.first_mut() {
            first.turn = Turn::Over;
        }
        Self { rules, candidates, current: 0, retries_here: 0 }
    }

    /// Decides what follows a failure. `committed`: content has reached the client, so that nothing may follow.
    /// `time_left`: until the request's deadline. `may_retry` takes a retry from its budget; asked only when one is due.
    pub fn after(
        &mut self,
        failure: &Failure,
        committed: bool,
        time_left: Option<Duration>,
        may_retry: impl FnOnce() -> bool,
    ) -> Next {
        if committed || time_left.is_some_and(|left| left.is_zero()) {
            return Next::Stop;
        }
        let delay = self.rules.quick_retry_delay;
        let retry = failure.reason.retry_same_vendor()
            // A vendor that says when to come back is not called before.
            && failure.retry_after.is_none_or(|after| after <= delay)
            && self.retries_here < self.rules.max_same_vendor_retries
            && time_left.is_none_or(|left| left > delay)
            && may_retry();
        if retry {
            self.retries_here += 1;
            return Next::Retry { after: delay };
        }
        if !failure.reason.fail_over() {
            return Next::Stop;
        }
        self.failed(self.current, failure.reason);
        self.skip().map_or(Next::Stop, |to| Next::Switch { to })
    }

    /// Passes over the current candidate; gives the next one's index in the plan.
    pub fn skip(&mut self) -> Option<usize> {
        let at = |turn| self.candidates.iter().position(|candidate| candidate.turn == turn);
        let next = at(Turn::Due).or_else(|| at(Turn::Late))?;
        self.go_to(next);
        Some(next)
    }

    /// Takes the first candidate of another vendor that `enter` lets in, for a call beside the current one.
    pub fn beside<T>(&mut self, mut enter: impl FnMut(usize) -> Option<T>) -> Option<(usize, T)> {
        let here = self.candidates.get(self.current)?.vendor.clone();
        let elsewhere = self.candidates.iter_mut().enumerate();
        let mut elsewhere = elsewhere.filter(|(_, other)| other.turn == Turn::Due && other.vendor != here);
        elsewhere.find_map(|(index, other)| {
            let entered = enter(index)?;
            other.turn = Turn::Over;
            Some((index, entered))
        })
    }

    /// Makes a candidate the current one.
    pub fn go_to(&mut self, index: usize) {
        if let Some(candidate) = self.candidates.get_mut(index) {
            candidate.turn = Turn::Over;
            self.current = index;
            self.retries_here = 0;
        }
    }

    /// A candidate failed: what that means for the others of its vendor.
    pub fn failed(&mut self, index: usize, reason: ErrorReason) {
        let Some(failed) = self.candidates.get(index) else { return };
        let vendor = failed.vendor.clone();
        for other in self.candidates.iter_mut().filter(|other| other.vendor == vendor) {
            other.turn = match other.turn {
                Turn::Due | Turn::Late if refuses_all(reason) => Turn::Over,
                Turn::Due if casts_doubt(reason) => Turn::Late,
                turn => turn,
            };
        }
    }
}

/// Whether every model of the vendor will be refused for the same cause: the key, the account, our own queue.
fn refuses_all(reason: ErrorReason) -> bool {
    matches!(reason, ErrorReason::VendorAuth | ErrorReason::VendorQuotaExhausted | ErrorReason::VendorBusy)
}

/// Whether the vendor's other models may fail for the same cause.
fn casts_doubt(reason: ErrorReason) -> bool {
    matches!(
        reason,
        ErrorReason::VendorUnreachable
            | ErrorReason::VendorTimeout
            | ErrorReason::VendorError
            | ErrorReason::VendorOverloaded
            | ErrorReason::VendorBadResponse
            | ErrorReason::StreamTruncated
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(100);

    fn attempts(vendors: &[&str]) -> Attempts {
        let rules = FailoverRules { quick_retry_delay: DELAY, max_same_vendor_retries: 1 };
        Attempts::new(rules, vendors.iter().map(|vendor| Arc::from(*vendor)))
    }

    fn failed(reason: ErrorReason) -> Failure {
        Failure::new(reason, "")
    }

    #[test]
    fn a_server_error_is_retried_once_and_then_moved() {
        let mut attempts = attempts(&["a", "b"]);
        let failure = failed(ErrorReason::VendorError);
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Retry { after: DELAY });
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Switch { to: 1 });
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Retry { after: DELAY });
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Stop);
    }

    #[test]
    fn a_rate_limit_and_a_timeout_are_moved_without_a_retry() {
        for reason in
            [ErrorReason::VendorRateLimited, ErrorReason::VendorTimeout, ErrorReason::VendorQuotaExhausted]
        {
            assert_eq!(
                attempts(&["a", "b"]).after(&failed(reason), false, None, || true),
                Next::Switch { to: 1 },
                "{reason:?}"
            );
        }
    }

    #[test]
    fn a_fault_of_the_request_is_neither_retried_nor_moved() {
        for reason in
            [ErrorReason::InvalidRequest, ErrorReason::ContentPolicy, ErrorReason::UnsupportedParameter]
        {
            assert_eq!(
                attempts(&["a", "b"]).after(&failed(reason), false, None, || true),
                Next::Stop,
                "{reason:?}"
            );
        }
    }

    #[test]
    fn nothing_follows_content_that_has_reached_the_client() {
        for reason in ErrorReason::ALL {
            assert_eq!(
                attempts(&["a", "b"]).after(&failed(reason), true, None, || true),
                Next::Stop,
                "{reason:?}"
            );
        }
    }

    #[test]
    fn when_a_vendor_fails_its_other_models_come_last() {
        for reason in [ErrorReason::VendorTimeout, ErrorReason::VendorUnreachable, ErrorReason::VendorError] {
            let mut attempts = attempts(&["a", "a", "b", "a"]);
            let failure = failed(reason);
            let mut order = Vec::new();
            while let Next::Switch { to } = attempts.after(&failure, false, None, || false) {
                order.push(to);
            }
            assert_eq!(order, [2, 1, 3], "{reason:?}");
        }
    }

    #[test]
    fn a_key_that_is_refused_ends_the_turn_of_all_models_of_the_vendor() {
        for reason in [ErrorReason::VendorAuth, ErrorReason::VendorQuotaExhausted, ErrorReason::VendorBusy] {
            let failure = failed(reason);
            let mut mixed = attempts(&["a", "a", "b", "a"]);
            assert_eq!(mixed.after(&failure, false, None, || true), Next::Switch { to: 2 }, "{reason:?}");
            assert_eq!(mixed.after(&failure, false, None, || true), Next::Stop, "{reason:?}");
        }
    }

    #[test]
    fn a_fault_of_one_model_leaves_the_others_of_its_vendor_their_turn() {
        for reason in [ErrorReason::ContextLengthExceeded, ErrorReason::VendorRateLimited] {
            let mut attempts = attempts(&["a", "a", "b"]);
            assert_eq!(attempts.after(&failed(reason), false, None, || true), Next::Switch { to: 1 });
        }
    }

    #[test]
    fn a_call_beside_the_current_one_goes_to_another_vendor_and_has_had_its_turn() {
        let mut attempts = attempts(&["a", "a", "b", "c"]);
        assert_eq!(attempts.beside(|index| (index != 2).then_some(index)), Some((3, 3)));
        assert_eq!(attempts.beside(|_| None::<()>), None);
        assert_eq!(attempts.skip(), Some(1));
        assert_eq!(attempts.skip(), Some(2));
        assert_eq!(attempts.skip(), None);
    }

    #[test]
    fn a_call_beside_that_wins_is_retried_as_any_other() {
        let mut attempts = attempts(&["a", "b", "c"]);
        let failure = failed(ErrorReason::VendorError);
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Retry { after: DELAY });
        let (index, ()) = attempts.beside(|_| Some(())).unwrap();
        attempts.failed(0, ErrorReason::VendorError);
        attempts.go_to(index);
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Retry { after: DELAY });
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Switch { to: 2 });
    }

    #[test]
    fn a_vendor_that_says_when_to_come_back_is_not_called_before() {
        let failure =
            Failure { retry_after: Some(Duration::from_secs(5)), ..failed(ErrorReason::VendorOverloaded) };
        assert_eq!(attempts(&["a", "b"]).after(&failure, false, None, || true), Next::Switch { to: 1 });
    }

    #[test]
    fn no_retry_begins_that_the_deadline_would_cut() {
        let failure = failed(ErrorReason::VendorError);
        assert_eq!(
            attempts(&["a", "b"]).after(&failure, false, Some(DELAY), || true),
            Next::Switch { to: 1 }
        );
        assert_eq!(attempts(&["a", "b"]).after(&failure, false, Some(Duration::ZERO), || true), Next::Stop);
    }

    #[test]
    fn a_used_up_budget_of_retries_moves_the_request_instead() {
        let failure = failed(ErrorReason::VendorError);
        assert_eq!(attempts(&["a", "b"]).after(&failure, false, None, || false), Next::Switch { to: 1 });
        assert_eq!(attempts(&["a"]).after(&failure, false, None, || false), Next::Stop);
    }

    #[test]
    fn a_candidate_that_lets_no_call_through_is_passed_over() {
        let mut attempts = attempts(&["a", "a", "b"]);
        assert_eq!(attempts.skip(), Some(1));
        assert_eq!(attempts.skip(), Some(2));
        assert_eq!(attempts.skip(), None);
    }
}
