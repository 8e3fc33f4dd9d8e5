//! A window is handed over to its vendor's batch endpoint.

use super::{
    PAGE, Workplace, end,
    tried::{Failed, Try},
    trouble::{Trouble, fault, surely_not_taken},
};
use crate::stored::Known;
use prost::Message as _;
use signalbox_api::{status::from_status, v1};
use signalbox_batching::{Fault, ItemKey};
use signalbox_ports::batches::{Claim, Handed, Item, Step, Window};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::HashMap,
    time::{Duration, SystemTime},
};
use tonic::Request;
use v1::{prepare_batch_item_response, vendor_batch::State, vendor_batch_item};

/// How long handing over may take: some vendors take it as a file.
const PATIENCE: Duration = Duration::from_secs(30 * 60);

impl Workplace {
    /// Hands a window over, or finds that it was.
    pub(super) async fn hand_over(&self, claim: &Claim) -> Result<(), Trouble> {
        let mut messages = self.messages(claim).await?;
        let Some(first) = messages.first_mut() else {
            return Ok(self.close(claim, None).await?);
        };
        first.target = Some(target(claim));
        first.batch_key.clone_from(&claim.window.window_id);
        first.maybe_since_time = claim.maybe_since.map(Into::into);
        let mut request = Request::new(futures_util::stream::iter(messages));
        request.set_timeout(PATIENCE);
        match self.adapter.clone().submit_vendor_batch(request).await {
            Ok(answer) => self.handed_over(claim, answer.into_inner()).await,
            Err(status) => self.not_handed_over(claim, from_status(&status)).await,
        }
    }

    /// What is to be handed over. What nobody waits for any more ends here, unless the vendor may have it already.
    async fn messages(&self, claim: &Claim) -> Result<Vec<v1::SubmitVendorBatchRequest>, Trouble> {
        let now = self.dependencies.clock.now();
        let (mut messages, mut after) = (Vec::new(), None);
        loop {
            let page = self.dependencies.store.items(&claim.window.window_id, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(messages) };
            after = Some(last.key);
            let (mut items, mut steps) = (Vec::with_capacity(page.len()), Vec::new());
            for item in &page {
                match self.asked(claim, item, now) {
                    Ok(asked) => items.push(asked),
                    Err(step) => steps.push((item.key, step)),
                }
            }
            self.step(&claim.lease, &steps).await?;
            if !items.is_empty() {
                messages.push(v1::SubmitVendorBatchRequest { items, ..Default::default() });
            }
        }
    }

    /// An item as its vendor is asked, or how it ends instead.
    fn asked(&self, claim: &Claim, item: &Item, now: SystemTime) -> Result<v1::VendorBatchItem, Step> {
        let known = Known::of(item);
        if let Some(how) = end::unwanted(item, now).filter(|_| claim.maybe_since.is_none()) {
            return Err(Step::End(end::given_up(item, &known, how, now)));
        }
        asked(item, &known).ok_or_else(|| {
            let failed = Known::nothing_to_ask();
            self.not_answered(item, known, self.batch_try(claim), failed, Some(Fault::Request))
        })
    }

    /// A try by the vendor's batch endpoint.
    pub(super) fn batch_try<'c>(&self, claim: &'c Claim) -> Try<'c> {
        let window = &claim.window;
        let started =
            window.submit_time.or(window.hand_time).unwrap_or_else(|| self.dependencies.clock.now());
        Try { target: &window.key.target, started, took: None }
    }

    async fn handed_over(&self, claim: &Claim, answer: v1::SubmitVendorBatchResponse) -> Result<(), Trouble> {
        let mut rejected = HashMap::new();
        let mut notes = Vec::new();
        for note in answer.notes {
            let Ok(key) = note.item_key.parse::<ItemKey>() else { continue };
            match note.rejection {
                Some(error) => drop(rejected.insert(key, error)),
                None => notes.push((key, note.encode_to_vec())),
            }
        }
        // What the vendor may have is not sent on: its batch will tell.
        if claim.maybe_since.is_none() {
            self.send_on(claim, &rejected).await?;
        }
        let Some(batch) = answer.batch else {
            if claim.maybe_since.is_some() {
                return Err(Trouble::Away(unasked()));
            }
            // Every item was rejected.
            let missing = "the vendor's adapter neither took the item nor said why";
            let failed = Failed::unbilled(ErrorReason::VendorBadResponse, missing);
            return self.end_all(claim, Fault::Vendor, &failed, None).await;
        };
        if batch.state() == State::Refused {
            if !batch.vendor_batch_id.is_empty() {
                let vendor_batch_id = batch.vendor_batch_id.clone();
                let window = Window { vendor_batch_id, ..claim.window.clone() };
                let claim = Claim { window, ..claim.clone() };
                return self.refused(&claim, &batch).await;
            }
            let reason = ErrorReason::from_name(&batch.error_reason).unwrap_or(ErrorReason::VendorError);
            return self.not_taken(claim, Failure::new(reason, batch.error_message)).await;
        }
        let now = self.dependencies.clock.now();
        let time =
            |time: Option<prost_types::Timestamp>| time.and_then(|time| SystemTime::try_from(time).ok());
        let handed = Handed {
            vendor_batch_id: batch.vendor_batch_id,
            submit_time: time(batch.create_time).unwrap_or(now),
            expire_time: time(batch.expire_time),
            due: now + self.dependencies.options.poll_interval,
            notes,
        };
        Ok(self.dependencies.store.handed(&claim.lease, &handed).await?)
    }

    /// Items that were rejected one by one.
    async fn send_on(
        &self,
        claim: &Claim,
        rejected: &HashMap<ItemKey, v1::BatchItemError>,
    ) -> Result<(), Trouble> {
        let mut keys: Vec<ItemKey> = rejected.keys().copied().collect();
        keys.sort_unstable();
        for keys in keys.chunks(super::AT_ONCE) {
            let items = self.dependencies.store.find(&claim.window.window_id, keys).await?;
            let step = |item: &Item| {
                let failed = Failed::of_item(rejected.get(&item.key)?);
                // Nothing of it reached the vendor: no other answer is to be expected there.
                let fault = match fault(failed.failure.reason) {
                    Fault::Request => Fault::Request,
                    _ => Fault::Target,
                };
                let step =
                    self.not_answered(item, Known::of(item), self.batch_try(claim), failed, Some(fault));
                Some((item.key, step))
            };
            let steps: Vec<_> = items.iter().filter_map(step).collect();
            self.step(&claim.lease, &steps).await?;
        }
        Ok(())
    }

    /// The vendor, or the way to it, failed. Where the vendor may have the window from before, this may have been said of
    /// the search for it: nothing goes elsewhere before that has succeeded.
    async fn not_handed_over(&self, claim: &Claim, failure: Failure) -> Result<(), Trouble> {
        let reason = failure.reason;
        let certain = surely_not_taken(reason) || fault(reason) != Fault::Vendor;
        if claim.maybe_since.is_some() || !certain {
            return Err(Trouble::Away(failure));
        }
        self.not_taken(claim, failure).await
    }

    /// The vendor certainly has nothing of it: it need not be waited for where there is another.
    async fn not_taken(&self, claim: &Claim, failure: Failure) -> Result<(), Trouble> {
        if fault(failure.reason) != Fault::Vendor {
            let batch = v1::VendorBatch {
                error_reason: failure.reason.name().to_owned(),
                error_message: failure.message,
                ..Default::default()
            };
            return self.refused(claim, &batch).await;
        }
        self.send_elsewhere(claim, &failure).await?;
        Err(Trouble::NotTaken(failure))
    }

    /// Items that others may serve go to them.
    async fn send_elsewhere(&self, claim: &Claim, failure: &Failure) -> Result<(), Trouble> {
        let mut after = None;
        loop {
            let page = self.dependencies.store.items(&claim.window.window_id, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.key);
            let others = page.iter().filter(|item| item.trail.targets().len() > 1);
            let step = |item: &Item| {
                let failed = Failed::unbilled(failure.reason, failure.message.clone());
                (item.key, self.not_answered(item, Known::of(item), self.batch_try(claim), failed, None))
            };
            let steps: Vec<_> = others.map(step).collect();
            self.step(&claim.lease, &steps).await?;
        }
    }
}

/// No item could be said in the vendor's words any more, so that the vendor was not asked for the window.
fn unasked() -> Failure {
    let message = "no item of a window that the vendor may have can be asked for any more";
    Failure::new(ErrorReason::Internal, message)
}

/// Whom a window is for.
pub(super) fn target(claim: &Claim) -> v1::Target {
    let target = &claim.window.key.target;
    v1::Target { vendor: target.vendor.clone(), model: target.model.clone() }
}

/// An item as its vendor is asked; `None` where what is kept of it cannot be read.
fn asked(item: &Item, known: &Known) -> Option<v1::VendorBatchItem> {
    let request = match known.request_for(item.trail.target())? {
        prepare_batch_item_response::Request::Generate(request) => {
            vendor_batch_item::Request::Generate(request)
        }
        prepare_batch_item_response::Request::Embed(request) => vendor_batch_item::Request::Embed(request),
    };
    Some(v1::VendorBatchItem { item_key: item.key.to_string(), request: Some(request) })
}
