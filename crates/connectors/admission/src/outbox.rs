//! What goes back to the budget service: sent until it is taken, once in effect.

use crate::{calls::Refused, rates::Unused, replica::Inner};
use signalbox_api::v1::{LeaseReturn, ReturnLeasesRequest};
use signalbox_budgeting::wallet::Return;
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;
use uuid::Uuid;

/// Most that one call returns.
const MOST: usize = 500;

/// Calls to be made, each with its id.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<VecDeque<ReturnLeasesRequest>>,
    pub(crate) filled: Notify,
}

impl Outbox {
    /// Puts in what is no longer held here.
    pub(crate) fn put(&self, replica_id: &str, money: Vec<Return>, rates: Vec<Unused>) {
        let money = money.into_iter().map(|back| LeaseReturn {
            lease_id: back.lease_id.to_string(),
            amount_nano_eur: back.amount.nano_eur(),
            ..Default::default()
        });
        let rates = rates.into_iter().map(|unused| LeaseReturn {
            lease_id: unused.lease_id,
            unused_requests: unused.requests,
            unused_tokens: unused.tokens,
            end: unused.end,
            ..Default::default()
        });
        let returns: Vec<LeaseReturn> = money.chain(rates).collect();
        if returns.is_empty() {
            return;
        }
        let calls = returns.chunks(MOST).map(|returns| ReturnLeasesRequest {
            replica_id: replica_id.to_owned(),
            return_id: Uuid::now_v7().to_string(),
            returns: returns.to_vec(),
        });
        self.lock().extend(calls);
        self.filled.notify_one();
    }

    fn first(&self) -> Option<ReturnLeasesRequest> {
        self.lock().front().cloned()
    }

    fn taken(&self) {
        self.lock().pop_front();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ReturnLeasesRequest>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Sends what waits, as far as the service takes it. Only ever one at a time does this.
    pub(crate) async fn send_back(&self) {
        while let Some(call) = self.outbox.first() {
            match self.calls.give_back(call).await {
                Ok(()) => self.outbox.taken(),
                Err(Refused::No(problem)) => {
                    tracing::warn!(%problem, "the budget service does not take back what was left of leases");
                    self.outbox.taken();
                }
                Err(Refused::Away(_)) => return,
            }
        }
    }
}
