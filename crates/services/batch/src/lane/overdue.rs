//! Items that end though nobody knows what became of them: their vendor, or the way to it, says nothing.

use super::{PAGE, Workplace, end, tried::Failed, trouble::Trouble};
use crate::stored::Known;
use signalbox_batching::late::GRACE;
use signalbox_ports::batches::{BatchStoreError, Claim, Item, Step};
use signalbox_types::ErrorReason;
use std::time::SystemTime;

impl Workplace {
    /// Ends what has been overdue for long of a window that its vendor has, or may have.
    pub(super) async fn end_overdue(&self, claim: &Claim, trouble: &Trouble) -> Result<(), BatchStoreError> {
        match trouble {
            Trouble::Store(_) | Trouble::NotTaken(_) => Ok(()),
            Trouble::Away(failure) => self.give_up_overdue(claim, failure.reason, &failure.message).await,
        }
    }

    /// The same, given why nothing is known of it.
    pub(super) async fn give_up_overdue(
        &self,
        claim: &Claim,
        reason: ErrorReason,
        message: &str,
    ) -> Result<(), BatchStoreError> {
        let now = self.dependencies.clock.now();
        if claim.complete_by.is_none_or(|complete_by| now < complete_by + GRACE) {
            return Ok(());
        }
        let mut after = None;
        loop {
            let page = self.dependencies.store.items(&claim.window.window_id, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.key);
            let overdue = page.iter().filter(|item| now >= item.job.complete_by + GRACE);
            let step = |item| self.give_up(claim, item, Failed::unknown(reason, message), now);
            let steps: Vec<_> = overdue.map(|item: &Item| (item.key, step(item))).collect();
            self.step(&claim.lease, &steps).await?;
        }
    }

    /// What it cost is not known, and told so.
    fn give_up(&self, claim: &Claim, item: &Item, failed: Failed, now: SystemTime) -> Step {
        match end::unwanted(item, now) {
            Some(how) => {
                let mut known = Known::of(item);
                let mut failed = failed;
                self.look_at_words(item, &mut known, &mut failed.failure);
                let attempt = self.batch_try(claim).failed(&known, failed);
                known.history.attempts.push(attempt);
                Step::End(end::given_up(item, &known, how, now))
            }
            None => self.not_answered(item, Known::of(item), self.batch_try(claim), failed, None),
        }
    }
}
