//! One worker: takes the window that has been due for longest, works on it while it holds it, and takes the next.

use super::{Workplace, trouble::Trouble};
use crate::{failure::of_store, metrics};
use signalbox_batching::{Lane, WindowState, late::GRACE, pause::pause};
use signalbox_ports::batches::{BatchStoreError, Claim, Lease, Pause};
use std::{sync::Arc, time::SystemTime};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

pub(super) async fn work(place: Arc<Workplace>, stop: CancellationToken) {
    while let Some(claim) = place.next(&stop).await {
        place.hold(&claim, &stop).await;
    }
}

impl Workplace {
    /// The next window that is due; `None` once the process is to end. One worker at a time looks out for it.
    async fn next(&self, stop: &CancellationToken) -> Option<Claim> {
        let _lookout = self.lookout.lock().await;
        while !stop.is_cancelled() {
            match self.claim().await {
                Some(claim) => return Some(claim),
                None => self.idle(stop).await,
            }
        }
        None
    }

    async fn claim(&self) -> Option<Claim> {
        let (store, now) = (&self.dependencies.store, self.dependencies.clock.now());
        let claimed = store.claim(&self.dependencies.owner, now, self.dependencies.options.lease).await;
        claimed.map_err(|error| of_store(&error)).ok().flatten()
    }

    async fn idle(&self, stop: &CancellationToken) {
        let idle = self.dependencies.options.idle;
        let _stopped = stop.run_until_cancelled(self.dependencies.followers.wait_for_work(idle)).await;
    }

    /// Works on a window for as long as it is this process's, and may go on.
    async fn hold(&self, claim: &Claim, stop: &CancellationToken) {
        let too_late = async {
            stop.cancelled().await;
            sleep(self.dependencies.options.drain).await;
        };
        let outcome = tokio::select! {
            outcome = self.work_on(claim, stop) => outcome,
            () = self.keep(&claim.lease) => return,
            () = too_late => {
                tracing::warn!(window = claim.window.window_id, "draining: a window is left to another process");
                return self.put_back(claim, self.dependencies.clock.now(), false).await;
            }
        };
        match outcome {
            Ok(()) | Err(Trouble::Store(BatchStoreError::LeaseLost)) => {}
            Err(trouble) => self.later(claim, &trouble).await,
        }
    }

    async fn work_on(&self, claim: &Claim, stop: &CancellationToken) -> Result<(), Trouble> {
        match (claim.window.state, claim.window.key.target.lane) {
            (WindowState::Submitted, _) => self.look(claim).await,
            (_, Lane::Batch) => self.hand_over(claim).await,
            (_, Lane::Usual) => self.call_as_usual(claim, stop).await,
        }
    }

    /// Keeps a lease; returns once it is lost.
    async fn keep(&self, lease: &Lease) {
        let length = self.dependencies.options.lease;
        let mut kept = Instant::now();
        loop {
            sleep(length / 3).await;
            let (asked, until) = (Instant::now(), self.dependencies.clock.now() + length);
            match self.dependencies.store.keep(lease, until).await {
                Ok(()) => kept = asked,
                Err(BatchStoreError::Away(_)) if kept.elapsed() < length => metrics::store_failed(),
                Err(error) => {
                    tracing::warn!(window = lease.window_id, %error, "a window is no longer this process's");
                    return;
                }
            }
        }
    }

    /// Nothing more can be done about a window now.
    async fn later(&self, claim: &Claim, trouble: &Trouble) {
        let window = &claim.window;
        let (vendor, window_id) = (&window.key.target.vendor, &window.window_id);
        if let Trouble::Store(_) = trouble {
            metrics::store_failed();
        }
        tracing::warn!(vendor, window = window_id, %trouble, "a window of the batch lane waits");
        if let Err(error) = self.end_overdue(claim, trouble).await {
            tracing::warn!(vendor, window = window_id, %error, "overdue items have not ended yet");
        }
        let not_taken = matches!(trouble, Trouble::NotTaken(_));
        self.put_back(claim, self.next_look(claim), not_taken).await;
    }

    /// When a window is looked at again: the later, the longer it has been where it is.
    pub(super) fn next_look(&self, claim: &Claim) -> SystemTime {
        let (now, options) = (self.dependencies.clock.now(), &self.dependencies.options);
        let since = claim.window.submit_time.unwrap_or(claim.window.open_time);
        let waiting = now.duration_since(since).unwrap_or_default();
        let look = now + pause(waiting, options.poll_interval, options.max_poll_interval);
        // Its items are to end in time.
        let end = claim.complete_by.map(|time| time + GRACE).filter(|end| *end > now);
        end.map_or(look, |end| look.min(end))
    }

    /// Gives the lease back. What cannot be given back ends by itself.
    pub(super) async fn put_back(&self, claim: &Claim, due: SystemTime, not_taken: bool) {
        let window = &claim.window;
        let pause =
            Pause { due, expire_time: window.expire_time, cancel_asked: window.cancel_asked, not_taken };
        match self.dependencies.store.put_back(&claim.lease, &pause).await {
            Ok(()) | Err(BatchStoreError::LeaseLost) => {}
            Err(error) => drop(of_store(&error)),
        }
    }
}
