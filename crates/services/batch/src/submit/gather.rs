//! A job's messages, taken in until the caller says that these are all, or until they are too many.

use super::digest::Digest;
use crate::Options;
use futures_util::{Stream, TryStreamExt as _};
use prost::Message as _;
use signalbox_api::{status::from_status, v1};
use signalbox_types::{ErrorReason, Failure};
use tonic::Status;

/// A job as it was handed in.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) settings: v1::BatchJob,
    pub(super) items: Vec<v1::BatchItem>,
    /// Of both.
    pub(super) digest: Vec<u8>,
}

/// The settings and the items. `accept` looks at the settings before more is taken in.
pub(super) async fn gather(
    mut requests: impl Stream<Item = Result<v1::SubmitBatchJobRequest, Status>> + Unpin,
    options: &Options,
    accept: impl FnOnce(&mut v1::BatchJob) -> Result<(), Failure>,
) -> Result<Gathered, Failure> {
    let mut next = async || requests.try_next().await.map_err(|status| from_status(&status));
    let first = next().await?.unwrap_or_default();
    let Some(mut settings) = first.job else {
        return Err(Failure::invalid("job", "is required in the first message"));
    };
    accept(&mut settings)?;
    let mut taking = Taking { items: Vec::new(), bytes: 0, digest: Digest::of(&settings), options };
    taking.add(first.items)?;
    while let Some(more) = next().await? {
        if more.job.is_some() {
            return Err(Failure::invalid("job", "may be in the first message only"));
        }
        taking.add(more.items)?;
    }
    if taking.items.is_empty() {
        return Err(Failure::invalid("items", "has none: at least one is required before you half-close"));
    }
    Ok(Gathered { settings, items: taking.items, digest: taking.digest.bytes() })
}

struct Taking<'a> {
    items: Vec<v1::BatchItem>,
    bytes: u64,
    digest: Digest,
    options: &'a Options,
}

impl Taking<'_> {
    fn add(&mut self, mut items: Vec<v1::BatchItem>) -> Result<(), Failure> {
        let (most, most_bytes) = (self.options.max_job_items, self.options.max_job_bytes);
        self.bytes += items.iter().map(|item| item.encoded_len() as u64).sum::<u64>();
        items.iter_mut().for_each(|item| self.digest.add(item));
        self.items.extend(items);
        if self.items.len() > most {
            let key = "batch.max_job_items";
            return Err(too_large(format!("has more than {most} items ({key} of this deployment)")));
        }
        if self.bytes > most_bytes {
            let key = "batch.max_job_bytes";
            return Err(too_large(format!("has more than {most_bytes} bytes ({key} of this deployment)")));
        }
        Ok(())
    }
}

fn too_large(problem: String) -> Failure {
    let failure = Failure::invalid("items", format!("{problem}; hand it in as several jobs"));
    Failure { reason: ErrorReason::RequestTooLarge, ..failure }
}
