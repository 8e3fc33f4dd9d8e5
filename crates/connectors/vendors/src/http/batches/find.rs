//! Looks whether a parcel has been handed over already.
//!
//! Vendors that keep a batch's name are asked for it. Anthropic keeps none: there, a batch that has ended is this one if
//! its results are of the same items. One that is under way says nothing but how many items it has, and when it was
//! made; where both would fit, nobody can tell, and the caller has to ask again once it has ended. So no item is ever
//! paid for twice, nor given up to somebody else's batch; the price is that after a crash in the middle of a hand-over a
//! parcel may wait for as long as another one of the same size takes.

use super::super::client::HttpVendor;
use super::read::Results;
use crate::batch::{BatchCodec, BatchPage};
use futures_util::TryStreamExt as _;
use signalbox_ports::vendor_batch::{Parcel, VendorBatch, VendorBatchState};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::{HashMap, HashSet},
    time::{Duration, SystemTime},
};

/// How far the vendor's clock may be behind ours.
const SKEW: Duration = Duration::from_mins(5);
/// Pages of the vendor's list that are looked through.
const MOST_PAGES: usize = 100;
/// When to ask again where it cannot be told yet.
const ASK_AGAIN: Duration = Duration::from_mins(2);

/// What a page told.
enum Look {
    Found(Box<VendorBatch>),
    /// This one may be it, which cannot be told yet.
    Perhaps(String),
    /// All that follows is too old.
    Past,
    Nothing,
}

/// Whether a vendor that failed like this when it was handed a batch certainly did not take it.
pub(super) const fn is_certain(reason: ErrorReason) -> bool {
    !matches!(
        reason,
        ErrorReason::VendorTimeout
            | ErrorReason::VendorUnreachable
            | ErrorReason::VendorError
            | ErrorReason::VendorBadResponse
            | ErrorReason::StreamTruncated
            | ErrorReason::DeadlineExceeded
            | ErrorReason::Cancelled
            | ErrorReason::Unavailable
            | ErrorReason::Internal
    )
}

impl HttpVendor {
    /// The batch, where it was handed over before.
    pub(super) async fn find(
        &self,
        codec: &'static dyn BatchCodec,
        parcel: &Parcel,
        since: SystemTime,
        timeout: Option<Duration>,
    ) -> Result<Option<VendorBatch>, Failure> {
        let since = since.checked_sub(SKEW).unwrap_or(since);
        let (mut after, mut perhaps) = (None::<String>, None);
        for _ in 0..MOST_PAGES {
            let page = self.page(codec, after.as_deref(), timeout).await?;
            let next = page.next.clone();
            match self.look(codec, parcel, since, page).await? {
                Look::Found(batch) => return Ok(Some(*batch)),
                Look::Perhaps(id) => perhaps = Some(id),
                Look::Past => return self.unless(perhaps),
                Look::Nothing => {}
            }
            match next {
                Some(next) if Some(&next) != after.as_ref() => after = Some(next),
                _ => return self.unless(perhaps),
            }
        }
        let message = format!("vendor `{}` lists too many batches to find one among them", self.name);
        Err(Failure::new(ErrorReason::VendorBadResponse, message))
    }

    async fn page(
        &self,
        codec: &'static dyn BatchCodec,
        after: Option<&str>,
        timeout: Option<Duration>,
    ) -> Result<BatchPage, Failure> {
        let exchange = self.fetch(codec, codec.list(after), timeout).await?;
        let (body, origin) = self.document(codec, exchange).await?;
        codec.decode_list(&body).map_err(|failure| origin.sign(failure))
    }

    async fn look(
        &self,
        codec: &'static dyn BatchCodec,
        parcel: &Parcel,
        since: SystemTime,
        page: BatchPage,
    ) -> Result<Look, Failure> {
        let finding = codec.finding();
        let mut look = Look::Nothing;
        for (name, batch) in page.batches {
            let too_old = batch.created.is_some_and(|created| created < since);
            if finding.named {
                if name.as_deref() == Some(parcel.key.as_str()) {
                    return Ok(Look::Found(Box::new(batch)));
                }
            } else if !too_old && batch.total == parcel.items.len() as u64 {
                match self.holds(codec, &batch, parcel).await? {
                    Some(true) => return Ok(Look::Found(Box::new(batch))),
                    Some(false) => {}
                    None => look = Look::Perhaps(batch.id),
                }
            }
            if too_old && finding.newest_first {
                return Ok(if matches!(look, Look::Perhaps(_)) { look } else { Look::Past });
            }
        }
        Ok(look)
    }

    /// Whether a batch is of the parcel's items; `None` where it does not tell yet.
    async fn holds(
        &self,
        codec: &'static dyn BatchCodec,
        batch: &VendorBatch,
        parcel: &Parcel,
    ) -> Result<Option<bool>, Failure> {
        if batch.state != VendorBatchState::Ended {
            return Ok(None);
        }
        let body = self.fetch(codec, codec.get(&batch.id), None).await?;
        let (body, origin) = self.document(codec, body).await?;
        let sources = codec.results(&batch.id, &body).map_err(|failure| origin.sign(failure))?;
        let keys: HashSet<&str> = parcel.items.iter().map(|item| item.key.as_str()).collect();
        let results = Results::new(self.clone(), codec, &batch.id, sources, HashMap::new());
        let (mut results, mut seen) = (results.into_stream(), 0);
        while let Some(result) = results.try_next().await? {
            if !keys.contains(result.key.as_str()) {
                return Ok(Some(false));
            }
            seen += 1;
        }
        Ok(Some(seen == keys.len()))
    }

    /// It is not there, unless this one is it.
    fn unless(&self, perhaps: Option<String>) -> Result<Option<VendorBatch>, Failure> {
        let Some(id) = perhaps else { return Ok(None) };
        let message = format!(
            "vendor `{}` works on batch `{id}`, which may be this one; that can be told once it has ended",
            self.name
        );
        Err(Failure { retry_after: Some(ASK_AGAIN), ..Failure::new(ErrorReason::VendorBusy, message) })
    }
}
