//! Batches: many requests handed to a vendor's batch endpoint together, for the batch lane.
//!
//! What single items come to says nothing of the vendor's health, and neither does the time they take: both are the
//! vendor's own affair here.

mod key;
mod results;
mod submit;
mod words;

pub(crate) use results::{Results, results};
pub(crate) use submit::submit;

use crate::service::Dependencies;
use signalbox_api::v1;
use signalbox_ports::{VendorApi, vendor_batch::VendorBatches};
use signalbox_types::{ErrorReason, Failure, ModelRef};
use std::sync::Arc;

/// How far a batch is.
pub(crate) async fn get(
    dependencies: &Dependencies,
    v1::GetVendorBatchRequest { target, vendor_batch_id }: v1::GetVendorBatchRequest,
) -> Result<v1::VendorBatch, Failure> {
    let (vendor, _) = vendor_of(dependencies, target)?;
    let batch = endpoint(&*vendor)?.get(key::of_batch(&vendor_batch_id)?, None).await?;
    Ok(words::batch(batch, vendor.simulated()))
}

/// Asks to stop a batch.
pub(crate) async fn cancel(
    dependencies: &Dependencies,
    v1::CancelVendorBatchRequest { target, vendor_batch_id }: v1::CancelVendorBatchRequest,
) -> Result<v1::VendorBatch, Failure> {
    let (vendor, _) = vendor_of(dependencies, target)?;
    let batch = endpoint(&*vendor)?.cancel(key::of_batch(&vendor_batch_id)?, None).await?;
    Ok(words::batch(batch, vendor.simulated()))
}

/// Deletes the files that the vendor keeps of a batch.
pub(crate) async fn delete_files(
    dependencies: &Dependencies,
    v1::DeleteVendorBatchFilesRequest { target, vendor_batch_id }: v1::DeleteVendorBatchFilesRequest,
) -> Result<u32, Failure> {
    let (vendor, _) = vendor_of(dependencies, target)?;
    endpoint(&*vendor)?.delete_files(key::of_batch(&vendor_batch_id)?, None).await
}

/// Whom a request names. The catalogue is not asked: what a vendor has in hand is fetched, though the model is gone.
fn vendor_of(
    dependencies: &Dependencies,
    target: Option<v1::Target>,
) -> Result<(Arc<dyn VendorApi>, ModelRef), Failure> {
    let target = target.ok_or_else(|| Failure::invalid("target", "is missing"))?;
    let model = ModelRef::new(target.vendor, target.model);
    let vendor = dependencies.vendors.load().get(&model.vendor).cloned().ok_or_else(|| {
        let message = format!("vendor `{}` has no key or address on this adapter", model.vendor);
        Failure::new(ErrorReason::VendorAuth, message)
    })?;
    Ok((vendor, model))
}

fn endpoint(vendor: &dyn VendorApi) -> Result<&dyn VendorBatches, Failure> {
    vendor.batches().ok_or_else(|| no_batches("this vendor has no batch endpoint; call it as usual"))
}

fn no_batches(message: impl Into<String>) -> Failure {
    Failure::new(ErrorReason::Unimplemented, message)
}
