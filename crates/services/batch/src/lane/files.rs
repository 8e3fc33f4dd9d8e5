//! What vendors keep of batches is deleted once nobody needs it: prompts and answers lie there.

use super::{Workplace, hand::target};
use signalbox_api::{status::from_status, v1::DeleteVendorBatchFilesRequest};
use signalbox_ports::batches::Claim;
use std::time::Duration;
use tonic::Request;

/// How long that may take: it must not hold up what is to be done.
const PATIENCE: Duration = Duration::from_secs(30);

impl Workplace {
    /// Deletes the files of a batch whose results are stored. Where that fails they stay until the vendor removes them.
    pub(super) async fn delete_files(&self, claim: &Claim) {
        let vendor_batch_id = claim.window.vendor_batch_id.clone();
        if vendor_batch_id.is_empty() {
            return;
        }
        let asked = DeleteVendorBatchFilesRequest { target: Some(target(claim)), vendor_batch_id };
        let mut request = Request::new(asked);
        request.set_timeout(PATIENCE);
        if let Err(status) = self.adapter.clone().delete_vendor_batch_files(request).await {
            let (vendor, window) = (&claim.window.key.target.vendor, &claim.window.window_id);
            let reason = from_status(&status).reason.name();
            tracing::warn!(vendor, window, reason, "files of a batch stay at their vendor");
        }
    }
}
