//! A window for a vendor that has no batch endpoint: its items are asked as usual, a few at a time.

use super::{
    PAGE, Workplace,
    end::{self, Answer},
    hand::target,
    tried::{Failed, Try},
    trouble::Trouble,
};
use crate::stored::Known;
use futures_util::{StreamExt as _, stream};
use signalbox_api::v1;
use signalbox_batching::{Fault, ItemKey};
use signalbox_ports::batches::{Claim, Item, Step};
use signalbox_types::ErrorReason;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use v1::prepare_batch_item_response::Request;

/// Calls for one item at one vendor at most, before it goes on.
const CALLS: u32 = 3;
/// The pause after the first of them that failed; each next one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// A vendor that wants to be left alone for longer is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl Workplace {
    /// Asks for all items of a window. What is left when the process is to end, or has lost its adapter, is left to the
    /// next one who takes the window.
    pub(super) async fn call_as_usual(&self, claim: &Claim, stop: &CancellationToken) -> Result<(), Trouble> {
        let (mut after, mut left) = (None, false);
        loop {
            let page = self.dependencies.store.items(&claim.window.window_id, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key);
            let calls: Vec<_> = page.iter().map(|item| self.one(claim, item, stop)).collect();
            let mut calls = stream::iter(calls).buffer_unordered(self.dependencies.options.concurrency);
            while let Some(step) = calls.next().await {
                match step {
                    Some(step) => self.step(&claim.lease, &[step]).await?,
                    None => left = true,
                }
            }
        }
        match left {
            false => Ok(self.close(claim, None).await?),
            true if stop.is_cancelled() => {
                self.put_back(claim, self.dependencies.clock.now(), false).await;
                Ok(())
            }
            true => {
                self.put_back(claim, self.next_look(claim), false).await;
                Ok(())
            }
        }
    }

    /// What comes of one item; `None` where that is left to others.
    async fn one(&self, claim: &Claim, item: &Item, stop: &CancellationToken) -> Option<(ItemKey, Step)> {
        let permit = self.calls_to(&claim.window.key.target.vendor);
        let _permit = permit.acquire_owned().await.ok()?;
        if stop.is_cancelled() {
            return None;
        }
        let (known, now) = (Known::of(item), self.dependencies.clock.now());
        let step = match end::unwanted(item, now) {
            Some(how) => Step::End(end::given_up(item, &known, how, now)),
            None => self.ask_for(claim, item, known, stop).await?,
        };
        Some((item.key, step))
    }

    /// Calls the vendor for an item, again where that may help; `None` where the adapter is away.
    async fn ask_for(
        &self,
        claim: &Claim,
        item: &Item,
        mut known: Known,
        stop: &CancellationToken,
    ) -> Option<Step> {
        for calls in 1.. {
            let (started, began) = (self.dependencies.clock.now(), Instant::now());
            let answered = self.call(claim, item, &known).await;
            let of = Try { target: item.trail.target(), started, took: Some(began.elapsed()) };
            let mut failed = match answered {
                Some(Ok(answer)) => return Some(self.answered(item, known, of, answer).await),
                Some(Err(status)) => Failed::of_call(&status),
                None => {
                    let failed = Known::nothing_to_ask();
                    return Some(self.not_answered(item, known, of, failed, Some(Fault::Request)));
                }
            };
            if failed.failure.reason == ErrorReason::Unavailable {
                return None;
            }
            let Some(pause) = pause(&failed, calls).filter(|_| !stop.is_cancelled()) else {
                return Some(self.not_answered(item, known, of, failed, None));
            };
            self.look_at_words(item, &mut known, &mut failed.failure);
            let attempt = of.failed(&known, failed);
            known.history.attempts.push(attempt);
            let _stopped = stop.run_until_cancelled(sleep(pause)).await;
        }
        None
    }

    async fn call(&self, claim: &Claim, item: &Item, known: &Known) -> Option<Result<Answer, Status>> {
        let (mut adapter, target) = (self.adapter.clone(), Some(target(claim)));
        Some(match known.request_for(item.trail.target())? {
            Request::Generate(request) => {
                let asked = v1::InvokeModelRequest { target, request: Some(request), ..Default::default() };
                adapter.invoke_model(asked).await.map(|answer| Answer::Words(answer.into_inner()))
            }
            Request::Embed(request) => {
                let asked = v1::InvokeEmbeddingRequest { target, request: Some(request), timeout: None };
                adapter.invoke_embedding(asked).await.map(|answer| Answer::Vectors(answer.into_inner()))
            }
        })
    }
}

/// How long to wait before the same vendor is called again; `None` where the item goes on.
fn pause(failed: &Failed, calls: u32) -> Option<Duration> {
    let failure = &failed.failure;
    let waits = failure.reason.retry_same_vendor() || failure.reason == ErrorReason::VendorRateLimited;
    let own = PAUSE * 2_u32.saturating_pow(calls.saturating_sub(1));
    let pause = failure.retry_after.map_or(own, |wanted| wanted.max(own));
    (waits && calls < CALLS && pause <= LONGEST_PAUSE).then_some(pause)
}
