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
#[derive(Debug, Clone)]
pub struct Attempts {
    rules: FailoverRules,
    /// Vendor of each candidate, in the plan's order.
    vendors: Vec<Arc<str>>,
    current: usize,
    retries_here: u32,
    peer_retried: bool,
}

impl Attempts {
    /// Starts at the first of the candidates whose vendors are given in the plan's order.
    pub fn new(rules: FailoverRules, vendors: Vec<Arc<str>>) -> Self {
        Self { rules, vendors, current: 0, retries_here: 0, peer_retried: false }
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
        if failure.reason == ErrorReason::Unavailable {
            return self.after_peer_failure();
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
        if failure.reason.fail_over() { self.switch(failure.reason) } else { Next::Stop }
    }

    /// The adapter went away, not a vendor: another replica may serve the same candidate at once.
    fn after_peer_failure(&mut self) -> Next {
        if std::mem::replace(&mut self.peer_retried, true) {
            Next::Stop
        } else {
            Next::Retry { after: Duration::ZERO }
        }
    }

    /// Passes over the current candidate without a call; its index in the plan is that of the next one.
    pub fn skip(&mut self) -> Option<usize> {
        let next = self.current + 1;
        if next >= self.vendors.len() {
            return None;
        }
        self.current = next;
        self.retries_here = 0;
        Some(next)
    }

    /// The next candidate; at another vendor, where the whole vendor is at fault.
    fn switch(&mut self, reason: ErrorReason) -> Next {
        let failed = self.vendors.get(self.current).cloned();
        let elsewhere = |candidate: &usize| self.vendors.get(*candidate) != failed.as_ref();
        let mut rest = self.current + 1..self.vendors.len();
        let next = if vendor_wide(reason) { rest.find(elsewhere) } else { rest.next() };
        match next {
            Some(to) => {
                self.current = to;
                self.retries_here = 0;
                Next::Switch { to }
            }
            None => Next::Stop,
        }
    }
}

/// Whether a failure will meet every model of the vendor alike.
fn vendor_wide(reason: ErrorReason) -> bool {
    matches!(
        reason,
        ErrorReason::VendorAuth
            | ErrorReason::VendorQuotaExhausted
            | ErrorReason::VendorUnreachable
            | ErrorReason::VendorTimeout
            | ErrorReason::VendorBusy
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(100);

    fn attempts(vendors: &[&str]) -> Attempts {
        let rules = FailoverRules { quick_retry_delay: DELAY, max_same_vendor_retries: 1 };
        Attempts::new(rules, vendors.iter().map(|vendor| Arc::from(*vendor)).collect())
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
    fn a_fault_of_the_whole_vendor_skips_its_other_models() {
        let failure = failed(ErrorReason::VendorTimeout);
        assert_eq!(attempts(&["a", "a", "b"]).after(&failure, false, None, || true), Next::Switch { to: 2 });
        assert_eq!(attempts(&["a", "a"]).after(&failure, false, None, || true), Next::Stop);
        let too_long = failed(ErrorReason::ContextLengthExceeded);
        assert_eq!(attempts(&["a", "a", "b"]).after(&too_long, false, None, || true), Next::Switch { to: 1 });
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
    fn an_adapter_that_went_away_is_asked_once_more_at_once() {
        let mut attempts = attempts(&["a", "b"]);
        let failure = failed(ErrorReason::Unavailable);
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Retry { after: Duration::ZERO });
        assert_eq!(attempts.after(&failure, false, None, || true), Next::Stop);
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
