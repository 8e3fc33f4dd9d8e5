//! Hedging: when the first candidate of a streamed request is silent for long, a second one is asked beside it, and
//! whoever has content first serves. Whole answers are not hedged: when one is late, most of it is made and paid for.

use super::{Attempt, Call, Run};
use crate::{health::Passage, metrics};
use futures_util::future::{Either, select};
use signalbox_api::v1::attempt::Cause;
use signalbox_kit::catalog::Hedge;
use signalbox_resilience::HedgeBudget;
use signalbox_types::ErrorReason;
use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::timeout;
use tonic::Status;

/// How many hedges each task type has left. Each shard of a process has its own: shares of parts are shares of the whole.
#[derive(Debug, Default)]
pub(crate) struct Hedges(Mutex<HashMap<String, HedgeBudget>>);

impl Hedges {
    fn with<T>(&self, task_type: &str, act: impl FnOnce(&mut HedgeBudget) -> T) -> T {
        let mut budgets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(budget) = budgets.get_mut(task_type) {
            return act(budget);
        }
        act(budgets.entry(task_type.to_owned()).or_default())
    }
}

/// One request's hedge: what allows it, and the second attempt while it is under way.
pub(super) struct Hedging {
    hedges: Arc<Hedges>,
    rules: Hedge,
    attempt: Option<Attempt>,
}

impl Hedging {
    /// A request of this task type came in: it pays into the budget.
    pub(super) fn new(hedges: &Arc<Hedges>, rules: Hedge, task_type: &str) -> Self {
        hedges.with(task_type, |budget| budget.on_request(rules.max_share));
        Self { hedges: hedges.clone(), rules, attempt: None }
    }
}

/// The first content of the attempt that is due, or of its hedge: `open` makes a call and waits for it. Afterwards the
/// run's attempt is the one whose result this is, and no other is under way: dropping a call stops it.
pub(crate) async fn first_content<T, F: Future<Output = Result<T, Status>>>(
    run: &mut Run,
    call: Call,
    open: impl Fn(Call) -> F,
) -> Result<T, Status> {
    match run.hedge_after() {
        None => open(call).await,
        // Boxed, so that the many calls that are not hedged stay small.
        Some(after) => Box::pin(race(run, after, call, open)).await,
    }
}

async fn race<T, F: Future<Output = Result<T, Status>>>(
    run: &mut Run,
    after: Duration,
    call: Call,
    open: impl Fn(Call) -> F,
) -> Result<T, Status> {
    let mut first = pin!(open(call));
    if let Ok(opened) = timeout(after, first.as_mut()).await {
        return opened;
    }
    // Who pays for a second call may have to be asked, for which the first one does not wait.
    let hedge = match select(first.as_mut(), pin!(run.hedge())).await {
        Either::Left((opened, _)) => return opened,
        Either::Right((call, _)) => call,
    };
    let Some(call) = hedge else { return first.await };
    let second = pin!(open(call));
    match select(first, second).await {
        Either::Left((Ok(opened), _)) => {
            run.drop_hedge();
            Ok(opened)
        }
        Either::Right((Ok(opened), _)) => {
            run.hedge_won();
            Ok(opened)
        }
        Either::Left((Err(status), second)) => {
            if run.hedge_takes_over(&status) {
                second.await
            } else {
                Err(status)
            }
        }
        Either::Right((Err(status), first)) => {
            run.hedge_failed(&status);
            first.await
        }
    }
}

impl Run {
    /// How long the attempt that is due may be silent; only a first choice is hedged.
    fn hedge_after(&self) -> Option<Duration> {
        let hedging = self.hedging.as_ref().filter(|_| self.attempt.cause == Cause::FirstChoice)?;
        Some(hedging.rules.after)
    }

    /// Starts a second attempt at another vendor, if one may be called, hedges are left, both can be paid, and there is
    /// time for it: as long as the first was given.
    async fn hedge(&mut self) -> Option<Call> {
        let mut hedging = self.hedging.take()?;
        let in_time = self.time_left().is_none_or(|left| left > hedging.rules.after);
        if !in_time {
            return None;
        }
        let mut attempts = self.attempts.clone();
        let (candidate, passage) = attempts.beside(|candidate| self.enter_beside(&hedging, candidate))?;
        if !self.affords_beside(candidate).await {
            return None;
        }
        let call = self.call(candidate, Cause::Hedge).ok()?;
        self.attempts = attempts;
        hedging.attempt = Some(Attempt { candidate, cause: Cause::Hedge, passage: Some(passage) });
        self.hedging = Some(hedging);
        Some(call)
    }

    fn enter_beside(&self, hedging: &Hedging, candidate: usize) -> Option<Passage> {
        let choice = self.choice(candidate)?;
        let held = self.dependencies.holds.is_held(&choice.model);
        let passage = self.dependencies.health.enter(&choice.listed_as).filter(|_| !held)?;
        hedging.hedges.with(&self.wire.task_type, HedgeBudget::try_spend).then_some(passage)
    }

    fn take_hedge(&mut self) -> Option<Attempt> {
        self.hedging.as_mut()?.attempt.take()
    }

    /// The first attempt has won.
    fn drop_hedge(&mut self) {
        if let Some(lost) = self.take_hedge() {
            self.count_hedge(&lost, "lost");
            self.record_cancelled(lost);
        }
    }

    /// The hedge has won.
    fn hedge_won(&mut self) {
        if let Some(won) = self.take_hedge() {
            self.count_hedge(&won, "won");
            self.attempts.go_to(won.candidate);
            let lost = std::mem::replace(&mut self.attempt, won);
            self.record_cancelled(lost);
        }
    }

    /// The first attempt has failed: whether the hedge goes on as its fallback, which it does unless the request itself
    /// is at fault.
    fn hedge_takes_over(&mut self, status: &Status) -> bool {
        let mut failure = self.judge(status);
        if !failure.reason.fail_over() && failure.reason != ErrorReason::Unavailable {
            self.drop_hedge();
            return false;
        }
        let Some(hedge) = self.take_hedge() else { return false };
        self.count_hedge(&hedge, "took_over");
        self.attempts.failed(self.attempt.candidate, failure.reason);
        self.attempts.go_to(hedge.candidate);
        let failed = std::mem::replace(&mut self.attempt, hedge);
        self.record_failure(failed, &mut failure, status);
        true
    }

    /// The hedge has failed, and the first attempt goes on.
    fn hedge_failed(&mut self, status: &Status) {
        let mut failure = self.judge(status);
        if let Some(failed) = self.take_hedge() {
            self.count_hedge(&failed, "failed");
            self.attempts.failed(failed.candidate, failure.reason);
            self.record_failure(failed, &mut failure, status);
        }
    }

    fn count_hedge(&self, hedge: &Attempt, outcome: &'static str) {
        if let Some(choice) = self.choice(hedge.candidate) {
            metrics::hedge_ended(&choice.model.vendor, outcome);
        }
    }

    /// Its call was dropped with its future, which stops it.
    fn record_cancelled(&mut self, lost: Attempt) {
        if let Some(choice) = self.candidates.get(lost.candidate) {
            self.log.cancelled(&choice.model);
        }
    }
}
