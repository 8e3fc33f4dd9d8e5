//! A vendor is asked how far a batch is, and its results are collected.

use super::{AT_ONCE, PAGE, Workplace, end::Answer, hand::target, tried::Failed, trouble::Trouble};
use crate::stored::{Known, read};
use futures_util::TryStreamExt as _;
use signalbox_api::{status::from_status, v1};
use signalbox_batching::{Fault, ItemKey, Missing};
use signalbox_ports::batches::{Claim, Item, Pause, Step};
use signalbox_types::{ErrorReason, Failure};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::time::timeout;
use tonic::Request;
use v1::{stream_vendor_batch_results_response::Outcome, vendor_batch::State};

/// How long a question may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the next piece of results may take.
const SILENCE: Duration = Duration::from_secs(5 * 60);
/// How long after a batch should have ended it is given up.
const GIVE_UP: Duration = Duration::from_secs(24 * 60 * 60);
/// When that is, where the vendor does not say: after it was handed over.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of results that are gathered before they are stored.
const GATHERED: usize = 4 << 20;

impl Workplace {
    /// Asks how far a window is that the vendor has, and does what follows.
    pub(super) async fn look(&self, claim: &Claim) -> Result<(), Trouble> {
        let (batch, stopped) = match self.ask(claim).await {
            Ok(told) => told,
            Err(failure) => return self.no_word(claim, failure).await,
        };
        self.missing().remove(&claim.window.window_id);
        match batch.state() {
            State::Ended => self.collect(claim, &batch, stopped).await,
            State::Refused => self.refused(claim, &batch).await,
            State::Running | State::Cancelling | State::Unspecified if self.is_lost(claim) => {
                self.lost(claim, ErrorReason::VendorTimeout, "the vendor's batch did not end").await
            }
            State::Running | State::Cancelling | State::Unspecified => {
                self.wait(claim, &batch, stopped).await
            }
        }
    }

    /// How far it is, and whether the vendor was asked to stop it: so it is where nobody waits for it any more.
    async fn ask(&self, claim: &Claim) -> Result<(v1::VendorBatch, bool), Failure> {
        let mut adapter = self.adapter.clone();
        let (target, vendor_batch_id) = (Some(target(claim)), claim.window.vendor_batch_id.clone());
        if claim.unwanted && !claim.window.cancel_asked {
            let (target, vendor_batch_id) = (target.clone(), vendor_batch_id.clone());
            let asked = timed(v1::CancelVendorBatchRequest { target, vendor_batch_id });
            // A vendor that does not stop it may still say how far it is.
            match adapter.cancel_vendor_batch(asked).await {
                Ok(answer) => return Ok((answer.into_inner().batch.unwrap_or_default(), true)),
                Err(status) => {
                    let (window, reason) = (&claim.window.window_id, from_status(&status).reason.name());
                    tracing::warn!(
                        window,
                        reason,
                        "a vendor's batch could not be stopped; it is asked again"
                    );
                }
            }
        }
        let asked = timed(v1::GetVendorBatchRequest { target, vendor_batch_id });
        let answer = adapter.get_vendor_batch(asked).await.map_err(|status| from_status(&status))?;
        Ok((answer.into_inner().batch.unwrap_or_default(), claim.window.cancel_asked))
    }

    fn missing(&self) -> MutexGuard<'_, HashMap<String, Missing>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a batch is gone that the vendor says again it does not know.
    fn is_gone(&self, claim: &Claim) -> bool {
        let (now, mut missing) = (self.dependencies.clock.now(), self.missing());
        let before = missing.get(&claim.window.window_id).copied();
        let again = Missing::again(before, now);
        missing.insert(claim.window.window_id.clone(), again);
        again.is_gone(now)
    }

    async fn wait(&self, claim: &Claim, batch: &v1::VendorBatch, stopped: bool) -> Result<(), Trouble> {
        let unended = "the vendor's batch has not ended";
        self.give_up_overdue(claim, ErrorReason::VendorTimeout, unended).await?;
        let expire_time = batch.expire_time.and_then(|time| SystemTime::try_from(time).ok());
        let pause = Pause {
            due: self.next_look(claim),
            expire_time: expire_time.or(claim.window.expire_time),
            cancel_asked: stopped,
            not_taken: false,
        };
        Ok(self.dependencies.store.put_back(&claim.lease, &pause).await?)
    }

    /// The vendor does not say how far it is.
    async fn no_word(&self, claim: &Claim, failure: Failure) -> Result<(), Trouble> {
        let gone = matches!(failure.reason, ErrorReason::NotFound | ErrorReason::VendorModelNotFound);
        if (gone && self.is_gone(claim)) || self.is_lost(claim) {
            self.missing().remove(&claim.window.window_id);
            return self.lost(claim, failure.reason, &failure.message).await;
        }
        Err(Trouble::Away(failure))
    }

    /// Whether a batch should have ended long ago.
    fn is_lost(&self, claim: &Claim) -> bool {
        let window = &claim.window;
        let now = self.dependencies.clock.now();
        let end = window.expire_time.or_else(|| window.submit_time.map(|time| time + LONGEST));
        end.is_some_and(|end| now >= end + GIVE_UP)
    }

    /// Nobody will ever hear of the batch: its items go on, if they may; what they cost there is not known.
    async fn lost(&self, claim: &Claim, reason: ErrorReason, message: &str) -> Result<(), Trouble> {
        loop {
            let page = self.dependencies.store.items(&claim.window.window_id, None, PAGE).await?;
            if page.is_empty() {
                return Ok(self.close(claim, None).await?);
            }
            let step = |item: &Item| {
                let failed = Failed::unknown(reason, message);
                let known = Known::of(item);
                let step = self.not_answered(item, known, self.batch_try(claim), failed, Some(Fault::Lost));
                (item.key, step)
            };
            let steps: Vec<_> = page.iter().map(step).collect();
            self.step(&claim.lease, &steps).await?;
        }
    }

    /// Stores what came of each item. What was stored before, by whoever began this, stays as it is.
    async fn collect(&self, claim: &Claim, batch: &v1::VendorBatch, stopped: bool) -> Result<(), Trouble> {
        let left = self.dependencies.store.items(&claim.window.window_id, None, 1).await?;
        if left.is_empty() {
            // Whoever stored the last of them may have deleted the results since.
            return Ok(self.close(claim, None).await?);
        }
        let asked = v1::StreamVendorBatchResultsRequest {
            target: Some(target(claim)),
            vendor_batch_id: claim.window.vendor_batch_id.clone(),
            json_tools: self.json_tools(claim).await?,
        };
        let away = |status: tonic::Status| Trouble::Away(from_status(&status));
        let results = self.adapter.clone().stream_vendor_batch_results(asked).await.map_err(away)?;
        let mut results = results.into_inner();
        let (mut gathered, mut answers) = (Gathered::default(), 0);
        loop {
            let next = timeout(SILENCE, results.try_next()).await.map_err(|_| silent())?;
            let Some(result) = next.map_err(away)? else { break };
            answers += u64::from(!matches!(result.outcome, None | Some(Outcome::Error(_))));
            if gathered.add(result) {
                self.store_results(claim, std::mem::take(&mut gathered)).await?;
            }
        }
        self.store_results(claim, gathered).await?;
        self.end_all(claim, Fault::Vendor, &without_result(batch, answers, stopped), None).await
    }

    async fn json_tools(&self, claim: &Claim) -> Result<HashMap<String, String>, Trouble> {
        let notes = self.dependencies.store.notes(&claim.window.window_id).await?;
        let tool = |(key, note): (ItemKey, Vec<u8>)| {
            let note: v1::VendorBatchItemNote = read(&note).ok()?;
            (!note.json_tool.is_empty()).then(|| (key.to_string(), note.json_tool))
        };
        Ok(notes.into_iter().filter_map(tool).collect())
    }

    async fn store_results(&self, claim: &Claim, mut gathered: Gathered) -> Result<(), Trouble> {
        let keys: Vec<ItemKey> = gathered.results.keys().copied().collect();
        let items = self.dependencies.store.find(&claim.window.window_id, &keys).await?;
        let mut steps = Vec::with_capacity(items.len());
        for item in &items {
            if let Some(outcome) = gathered.results.remove(&item.key) {
                steps.push((item.key, self.result(claim, item, outcome).await));
            }
        }
        Ok(self.step(&claim.lease, &steps).await?)
    }

    async fn result(&self, claim: &Claim, item: &Item, outcome: Outcome) -> Step {
        let (known, of) = (Known::of(item), self.batch_try(claim));
        let adjusted = |facts: &mut Option<v1::CallFacts>| {
            let note: v1::VendorBatchItemNote = read(&item.note).unwrap_or_default();
            let facts = facts.get_or_insert_default();
            facts.adjustments.extend(note.adjustments);
            self.add_prompt(&known, of, &mut facts.usage, &mut facts.cost);
        };
        match outcome {
            Outcome::Generate(mut answer) => {
                adjusted(&mut answer.facts);
                self.answered(item, known, of, Answer::Words(answer)).await
            }
            Outcome::Embed(mut answer) => {
                adjusted(&mut answer.facts);
                self.answered(item, known, of, Answer::Vectors(answer)).await
            }
            Outcome::Error(error) => {
                let mut failed = Failed::of_item(&error);
                self.add_prompt(&known, of, &mut failed.told.usage, &mut failed.told.cost);
                self.not_answered(item, known, of, failed, None)
            }
        }
    }
}

/// Results that are stored together.
#[derive(Default)]
struct Gathered {
    results: BTreeMap<ItemKey, Outcome>,
    bytes: usize,
}

impl Gathered {
    /// Takes one more; whether that is enough.
    fn add(&mut self, result: v1::StreamVendorBatchResultsResponse) -> bool {
        self.bytes += prost::Message::encoded_len(&result);
        match (result.item_key.parse(), result.outcome) {
            (Ok(key), Some(outcome)) => drop(self.results.insert(key, outcome)),
            _ => tracing::warn!("a vendor's batch has a result of no item"),
        }
        self.results.len() >= AT_ONCE || self.bytes >= GATHERED
    }
}

/// What an item came to of which an ended batch says nothing: it was not worked on where all answers of which the vendor
/// tells are here. Some vendors give nothing of a batch that was stopped, and bill what they had answered by then.
fn without_result(batch: &v1::VendorBatch, answers: u64, stopped: bool) -> Failed {
    let (reason, message) = match stopped {
        true => (ErrorReason::Cancelled, "it was stopped, and the vendor gives no result for it"),
        false => (ErrorReason::VendorBadResponse, "the vendor's batch ended without a result for it"),
    };
    let all_here = batch.total > 0 && batch.succeeded <= answers;
    if all_here { Failed::unbilled(reason, message) } else { Failed::unknown(reason, message) }
}

fn silent() -> Trouble {
    Trouble::Away(Failure::new(ErrorReason::VendorTimeout, "the results stopped coming"))
}

fn timed<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(PATIENCE);
    request
}
