//! Accounts of ended items are told: to the ledger of budgets, then to the usage log.
//!
//! The log's own reader settles them, too. Told here first, all of a job's items are in the ledger before its
//! reservation is closed, and nothing is free for others that the job has spent.

use super::Workplace;
use crate::{
    failure::of_store,
    stored::{Details, read},
    submit::closing,
};
use signalbox_api::{
    status::from_status,
    v1::{SettleRequest, Settlement, UsageEvent, settle_response::Refusal},
};
use signalbox_ports::{
    Charged,
    batches::{Job, Untold},
};
use signalbox_types::{ErrorReason, Failure};
use std::{sync::Arc, time::Duration};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tonic::Request;

/// Accounts that are told at once.
const AT_ONCE: usize = 100;
/// How long the ledger may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Tells until `stop` is cancelled, and then what is left.
pub(super) async fn run(place: Arc<Workplace>, stop: CancellationToken) {
    let idle = place.dependencies.options.idle;
    let mut pause = idle;
    loop {
        let stopping = stop.is_cancelled();
        match place.tell_all().await {
            Ok(()) if stopping => return,
            Ok(()) => pause = idle,
            Err(failure) => {
                tracing::warn!(
                    reason = failure.reason.name(),
                    "accounts of batch items wait: {}",
                    failure.message
                );
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
        if stopping {
            sleep(pause).await;
        } else {
            let _stopped = stop.run_until_cancelled(sleep(pause)).await;
        }
    }
}

impl Workplace {
    async fn tell_all(&self) -> Result<(), Failure> {
        let store = &self.dependencies.store;
        loop {
            let untold = store.untold(AT_ONCE).await.map_err(|error| of_store(&error))?;
            if untold.is_empty() {
                break;
            }
            self.tell(&untold).await?;
            let numbers: Vec<i64> = untold.iter().map(|account| account.number).collect();
            store.told(&numbers).await.map_err(|error| of_store(&error))?;
        }
        loop {
            let jobs = store.unsettled(AT_ONCE).await.map_err(|error| of_store(&error))?;
            if jobs.is_empty() {
                break;
            }
            for job in jobs {
                self.settle(closings(&job)).await?;
                store.settled(job.number).await.map_err(|error| of_store(&error))?;
            }
        }
        self.free_pledges().await
    }

    async fn tell(&self, untold: &[Untold]) -> Result<(), Failure> {
        let events: Vec<UsageEvent> = untold.iter().filter_map(event).collect();
        self.settle(events.iter().filter_map(settlement).collect()).await?;
        for event in &events {
            self.dependencies.usage.append(event)?;
        }
        Ok(())
    }

    /// Tells the ledger.
    pub(super) async fn settle(&self, settlements: Vec<Settlement>) -> Result<(), Failure> {
        let Some(mut budget) = self.budget.clone().filter(|_| !settlements.is_empty()) else { return Ok(()) };
        let mut request = Request::new(SettleRequest { settlements });
        request.set_timeout(PATIENCE);
        match budget.settle(request).await.map_err(|status| from_status(&status)) {
            Ok(answer) => answer.into_inner().refusals.iter().for_each(refused),
            // What cannot be read there must not hold up the rest. The usage log's own reader sorts it out, one by one.
            Err(failure) if is_unreadable(&failure) => {
                tracing::error!("the ledger of budgets cannot read settlements: {}", failure.message);
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

fn is_unreadable(failure: &Failure) -> bool {
    matches!(failure.reason, ErrorReason::InvalidRequest | ErrorReason::RequestTooLarge)
}

/// What cannot be read would be in the way of all others for ever.
fn event(account: &Untold) -> Option<UsageEvent> {
    let event = read(&account.event);
    event.map_err(|failure| tracing::error!("the account of a batch item is lost: {}", failure.message)).ok()
}

/// What an account charges, where a budget pays for it. More follow: the end of the job closes the reservation.
fn settlement(event: &UsageEvent) -> Option<Settlement> {
    let Charged { nano_eur, estimated } = Charged::of(event);
    (!event.charges.is_empty()).then(|| Settlement {
        settlement_id: event.event_id.clone(),
        charges: event.charges.clone(),
        request_id: event.request_id.clone(),
        tenant_id: event.tenant_id.clone(),
        amount_nano_eur: nano_eur,
        estimated,
        more_follow: true,
    })
}

/// What closes the reservations of a job that has ended.
fn closings(job: &Job) -> Vec<Settlement> {
    let details: Details = read(&job.details).unwrap_or_default();
    details.holds.iter().filter_map(|hold| closing(hold, &job.tenant_id, &job.job_id)).collect()
}

/// Loud, and once: it is not sent again.
fn refused(refusal: &Refusal) {
    let Refusal { settlement_id, reason } = refusal;
    tracing::error!(settlement_id, reason, "the ledger of budgets refuses the settlement of a batch item");
}
