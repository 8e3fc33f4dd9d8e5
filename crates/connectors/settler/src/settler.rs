//! The loop that reads accounts and settles them.

use crate::{
    Runs, metrics,
    trouble::{Trouble, Troubles},
};
use prost::Message;
use signalbox_api::v1::{
    EndReplicaRequest, Lane, SettleRequest, Settlement, UsageCharge, UsageEvent,
    budget_service_client::BudgetServiceClient, settle_response::Refusal,
};
use signalbox_kit::{Clock, Hop};
use signalbox_ports::{Charged, Entry, Outbox};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Request;

/// Most accounts that are settled by one call.
const BATCH: usize = 100;
/// How long accounts are gathered where there are fewer.
const GATHER: Duration = Duration::from_secs(1);
/// How long one call may take.
const CALL: Duration = Duration::from_secs(10);

/// How to settle.
#[derive(Debug, Clone)]
pub struct SettlerOptions {
    /// How long the last settlements may take once the process is told to end.
    pub last_attempt: Duration,
    /// Wall time, for the age of what waits.
    pub clock: Arc<dyn Clock>,
}

/// Settles what is in the local log. What it cannot settle is still there at the next start.
pub struct Settler {
    runs: Runs,
    outbox: Arc<dyn Outbox>,
    ledger: BudgetServiceClient<Hop>,
    options: SettlerOptions,
    /// Accounts that are not settled.
    waiting: u64,
    /// When the oldest of them ended.
    oldest: Option<SystemTime>,
    troubles: Troubles,
}

impl fmt::Debug for Settler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settler").field("runs", &self.runs).finish_non_exhaustive()
    }
}

impl Settler {
    /// Over the log in whose directory the runs are kept.
    pub fn new(
        runs: Runs,
        outbox: Arc<dyn Outbox>,
        ledger: BudgetServiceClient<Hop>,
        options: SettlerOptions,
    ) -> Self {
        Self { runs, outbox, ledger, options, waiting: 0, oldest: None, troubles: Troubles::default() }
    }

    /// Settles until `stop` is cancelled, which is done when no request is under way any more and nothing is held; then
    /// settles what is left, for as long as it may, and ends the run.
    pub async fn run(mut self, stop: CancellationToken) {
        let last_attempt = self.options.last_attempt;
        let given_up = async {
            stop.cancelled().await;
            sleep(last_attempt).await;
        };
        tokio::select! {
            () = self.until_ended(&stop) => {}
            () = given_up => {
                tracing::warn!("settlements of budgets are left in the usage spool; they are made at the next start");
            }
        }
    }

    async fn until_ended(&mut self, stop: &CancellationToken) {
        loop {
            let stopping = stop.is_cancelled();
            let pause = match self.go_on(stopping).await {
                Ok(Step::More) => continue,
                Ok(Step::Ended) => return,
                Ok(Step::CaughtUp) => {
                    self.troubles.over();
                    GATHER
                }
                Err(trouble) => {
                    metrics::failed();
                    self.show();
                    self.troubles.happened(&trouble)
                }
            };
            if stopping {
                sleep(pause).await;
            } else {
                let _stopped = timeout(pause, stop.cancelled()).await;
            }
        }
    }

    async fn go_on(&mut self, stopping: bool) -> Result<Step, Trouble> {
        if self.settle_next().await? {
            return Ok(Step::More);
        }
        // All that any earlier run has left behind is settled.
        while let Some(id) = self.runs.earlier().first().cloned() {
            self.end(&id).await?;
            self.runs.ended(&id)?;
        }
        if !stopping {
            return Ok(Step::CaughtUp);
        }
        let own = self.runs.own().to_owned();
        self.end(&own).await?;
        self.runs.end()?;
        Ok(Step::Ended)
    }

    /// Settles the oldest accounts. Whether there may be more.
    async fn settle_next(&mut self) -> Result<bool, Trouble> {
        let entries = self.outbox.read(None, BATCH)?;
        let Some(newest) = entries.last().map(|entry| entry.position) else {
            self.settled_all();
            return Ok(false);
        };
        // Whatever is no account is told by the bus's own reader.
        let events: Vec<_> = entries.iter().filter_map(read).collect();
        self.oldest = events.iter().find_map(|event| event.end_time?.try_into().ok()).or(self.oldest);
        self.waiting = self.outbox.last().0.saturating_sub(newest.0) + entries.len() as u64;
        self.show();
        self.settle(events.into_iter().filter_map(settlement).collect()).await?;
        self.outbox.confirm(newest)?;
        let more = entries.len() == BATCH;
        if !more {
            self.settled_all();
        }
        Ok(more)
    }

    fn settled_all(&mut self) {
        (self.waiting, self.oldest) = (0, None);
        self.show();
    }

    fn show(&self) {
        let age = self.oldest.and_then(|ended| self.options.clock.now().duration_since(ended).ok());
        metrics::unsettled(self.waiting, age.unwrap_or_default());
    }

    /// Has settlements booked. Where the ledger cannot read them, each on its own, so that one holds up no other.
    async fn settle(&mut self, settlements: Vec<Settlement>) -> Result<(), Trouble> {
        if settlements.is_empty() {
            return Ok(());
        }
        let together = self.call(settlements.clone()).await;
        if !matches!(together, Err(Trouble::Refused(_))) {
            return together;
        }
        for settlement in settlements {
            let settlement_id = settlement.settlement_id.clone();
            if let Err(trouble) = self.call(vec![settlement]).await {
                let Trouble::Refused(failure) = trouble else { return Err(trouble) };
                refused(&Refusal { settlement_id, reason: failure.message });
                metrics::settled(0, 1);
            }
        }
        Ok(())
    }

    async fn call(&mut self, settlements: Vec<Settlement>) -> Result<(), Trouble> {
        let count = settlements.len();
        let request = timed(SettleRequest { settlements });
        let refusals = self.ledger.settle(request).await?.into_inner().refusals;
        refusals.iter().for_each(refused);
        metrics::settled(count.saturating_sub(refusals.len()), refusals.len());
        Ok(())
    }

    /// What a run holds and did not spend is free.
    async fn end(&mut self, replica_id: &str) -> Result<(), Trouble> {
        let request = timed(EndReplicaRequest { replica_id: replica_id.to_owned() });
        match self.ledger.end_replica(request).await.map_err(Trouble::from) {
            Ok(ended) => {
                let released_nano_eur = ended.into_inner().released_nano_eur;
                tracing::info!(replica_id, released_nano_eur, "all that a run has spent is settled");
                Ok(())
            }
            Err(Trouble::Refused(failure)) => {
                tracing::error!(replica_id, "the ledger of budgets cannot end a run: {}", failure.message);
                Ok(())
            }
            Err(trouble) => Err(trouble),
        }
    }
}

/// What a round has come to.
enum Step {
    /// More accounts wait.
    More,
    /// None does.
    CaughtUp,
    /// The run has ended.
    Ended,
}

fn read(entry: &Entry) -> Option<UsageEvent> {
    UsageEvent::decode(entry.payload.as_slice()).ok()
}

/// What an account charges, where a budget pays for it.
fn settlement(event: UsageEvent) -> Option<Settlement> {
    if event.charges.is_empty() {
        return None;
    }
    let Charged { nano_eur, estimated } = Charged::of(&event);
    let more_follow = is_part_of_a_job(&event);
    Some(Settlement {
        settlement_id: event.event_id,
        charges: event.charges,
        request_id: event.request_id,
        tenant_id: event.tenant_id,
        amount_nano_eur: nano_eur,
        estimated,
        more_follow,
    })
}

/// Whether others share its reservation, and may still spend of it: the batch lane closes it once its job has ended.
fn is_part_of_a_job(event: &UsageEvent) -> bool {
    let is_reserved = |charge: &UsageCharge| !charge.reservation_id.is_empty();
    event.lane() == Lane::Batch && event.charges.iter().any(is_reserved)
}

/// Loud, and once: it is not sent again.
fn refused(refusal: &Refusal) {
    let Refusal { settlement_id, reason } = refusal;
    tracing::error!(
        settlement_id,
        reason,
        "the ledger of budgets refuses a settlement: it does not have what was spent"
    );
}

fn timed<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(CALL);
    request
}
