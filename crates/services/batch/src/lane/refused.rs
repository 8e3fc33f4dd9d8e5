//! A vendor refused a window whole, or has nothing for items of it.

use super::{
    PAGE, Workplace,
    tried::Failed,
    trouble::{Trouble, fault, may_mean_one_item},
};
use crate::{metrics, stored::Known};
use signalbox_api::v1;
use signalbox_batching::Fault;
use signalbox_ports::batches::{BatchStoreError, Claim, Item, WindowEnd};
use signalbox_types::ErrorReason;

impl Workplace {
    /// The vendor refused the window whole. Where it may mean one item, that one is looked for: the others are not to
    /// suffer for it.
    pub(super) async fn refused(&self, claim: &Claim, batch: &v1::VendorBatch) -> Result<(), Trouble> {
        let vendor = &claim.window.key.target.vendor;
        let known = ErrorReason::from_name(&batch.error_reason).unwrap_or(ErrorReason::VendorError);
        tracing::warn!(
            vendor,
            window = claim.window.window_id,
            reason = known.name(),
            "a vendor refused a window"
        );
        if may_mean_one_item(known) && self.split(claim, known).await? {
            return Ok(());
        }
        metrics::window_refused(vendor, known.name());
        // A vendor that is full, or in a hurry, takes it later.
        let fault = if fault(known) == Fault::Vendor { Fault::Vendor } else { Fault::Target };
        // What it had answered until then it may bill, though it does not give it.
        let failed = match batch.succeeded {
            0 => Failed::unbilled(known, &*batch.error_message),
            _ => Failed::unknown(known, &*batch.error_message),
        };
        self.end_all(claim, fault, &failed, Some(known.name().to_owned())).await
    }

    /// Hands the window over again in two halves; `false` where it stays whole.
    async fn split(&self, claim: &Claim, reason: ErrorReason) -> Result<bool, BatchStoreError> {
        let refused = Some(reason.name().to_owned());
        let end = WindowEnd { end_time: self.dependencies.clock.now(), refused };
        let is_split = self.dependencies.store.split(&claim.lease, &end).await?;
        if is_split {
            self.dependencies.followers.work();
            self.delete_files(claim).await;
        }
        Ok(is_split)
    }

    /// All items of a window that have not ended go on, or end; then the window is over.
    pub(super) async fn end_all(
        &self,
        claim: &Claim,
        fault: Fault,
        failed: &Failed,
        refused: Option<String>,
    ) -> Result<(), Trouble> {
        loop {
            // Those that were taken are gone, so each page is the first.
            let page = self.dependencies.store.items(&claim.window.window_id, None, PAGE).await?;
            if page.is_empty() {
                return Ok(self.close(claim, refused).await?);
            }
            let step = |item: &Item| {
                let (known, of) = (Known::of(item), self.batch_try(claim));
                (item.key, self.not_answered(item, known, of, failed.clone(), Some(fault)))
            };
            let steps: Vec<_> = page.iter().map(step).collect();
            self.step(&claim.lease, &steps).await?;
        }
    }
}
