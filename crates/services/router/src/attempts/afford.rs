//! Every call that costs is paid for before it is made. The first one is, by the plan; what follows may need more.

use super::{Attempt, Run};
use crate::plan::Choice;
use signalbox_ports::{RatesLeft, Short};
use signalbox_types::{Failure, Money};
use v1::attempt::Cause;

use signalbox_api::v1;

impl Run {
    /// Goes to the next candidate whose breaker lets a call through and that can be paid; fails where there is none.
    pub(super) async fn enter_paid(&mut self) -> Result<(), Failure> {
        self.enter();
        while let Err(short) = self.log.afford(self.ceiling(self.attempt.candidate)).await {
            let Some(next) = self.attempts.skip() else { return Err(self.unpaid(short)) };
            // What is dropped with it says nothing of the model.
            self.attempt = Attempt { candidate: next, cause: Cause::Fallback, passage: None };
            self.enter();
        }
        Ok(())
    }

    /// Whether a call beside the one under way can be paid, should both cost what they can at most.
    pub(super) async fn affords_beside(&mut self, candidate: usize) -> bool {
        let both = self.ceiling(self.attempt.candidate) + self.ceiling(candidate);
        self.log.afford(both).await.is_ok()
    }

    /// What rates have left, for the answer's metadata.
    pub(crate) fn rates(&self) -> RatesLeft {
        self.log.rates()
    }

    fn ceiling(&self, candidate: usize) -> Money {
        self.choice(candidate).map(Choice::ceiling).unwrap_or_default()
    }

    /// What is told where a further call cannot be paid: what went wrong with the one before.
    fn unpaid(&mut self, short: Short) -> Failure {
        let Some(failure) = self.failure.take() else { return short.failure };
        let message = format!("{}; the budget pays for no further attempt", failure.message);
        Failure { message, ..*failure }
    }
}
