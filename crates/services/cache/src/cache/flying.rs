//! Leading, or waiting for who leads: in this process, and through the store among processes.

use super::{Cache, watch};
use crate::{
    cache::Found,
    flights::{FlightKey, Joined, Landed, News},
    question::Question,
    seal::hex,
    service::Dependencies,
};
use signalbox_api::v1::cache_effect::Outcome;
use signalbox_kit::lag;
use signalbox_ports::cache::Lead as InStore;
use std::{sync::Arc, time::Duration};
use tokio::{runtime::Handle, time::Instant};

/// How long giving up a lead in the store is tried.
const RELEASE_PATIENCE: Duration = Duration::from_secs(1);

/// What came of joining a flight.
pub(crate) enum Flown {
    /// The answer of another.
    Landed(Arc<Landed>),
    /// It was stored just before.
    Stored(Outcome, Box<Found>),
    /// This request leads.
    Leads(Lead),
    /// It makes its own answer. Whether another is doing so, too.
    Alone { under_way: bool },
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// The store.
    pub(crate) store: Instant,
    /// The leader; `None` where nobody waits.
    pub(crate) leader: Option<Instant>,
}

impl Cache {
    /// Joins the flight of requests that are identical to this one.
    pub(crate) async fn fly(self: &Arc<Self>, question: &Arc<Question>, patience: Patience) -> Flown {
        let key = (question.tenant.digest(), question.keys.exact);
        let owner = hex(&rand::random::<[u8; 16]>());
        let waits = patience.leader.is_some();
        let mut joined = self.flights.join(key, &owner, waits);
        loop {
            joined = match joined {
                Joined::Alone => return Flown::Alone { under_way: true },
                Joined::Leads => {
                    let lead = Lead::new(self.clone(), key, owner.clone());
                    match self.lead_in_store(key, &owner, patience.store).await {
                        Some(InStore::Anothers) => {
                            lead.forget();
                            self.flights.follow(key, &owner, waits)
                        }
                        Some(InStore::Mine) => return self.look_again(question, patience.store, lead).await,
                        // Nobody would hear which process has the answer: each router sees to its own.
                        None => {
                            self.flights.abandon(key);
                            drop(lead);
                            return Flown::Alone { under_way: false };
                        }
                    }
                }
                Joined::Waits { waiting, unwatched } => {
                    if unwatched {
                        tokio::spawn(watch::watch(self.clone(), question.clone()));
                    }
                    let until = patience.leader.unwrap_or_else(Instant::now);
                    match waiting.news(until).await {
                        None => return Flown::Alone { under_way: true },
                        Some(News::Alone) => return Flown::Alone { under_way: false },
                        Some(News::Landed(landed)) => return Flown::Landed(landed),
                        Some(News::Lead { in_store: true }) => {
                            return Flown::Leads(Lead::new(self.clone(), key, owner));
                        }
                        Some(News::Lead { in_store: false }) => Joined::Leads,
                    }
                }
            }
        }
    }

    /// The lead among all processes; `None` where the store does not say.
    async fn lead_in_store(&self, key: FlightKey, owner: &str, until: Instant) -> Option<InStore> {
        let Dependencies { store, options, .. } = &self.dependencies;
        let lead = store.lead(key.0, key.1, owner, options.flight_ttl);
        lag::until(until, lead).await.ok()?.ok()
    }

    /// The answer may have been stored between the look for it and the lead.
    async fn look_again(&self, question: &Question, until: Instant, lead: Lead) -> Flown {
        match lag::until(until, self.equal(question)).await {
            Ok(Ok((Some((outcome, found)), _))) => {
                // The lead is given up on the way out, for the next in line to see the same.
                Flown::Stored(outcome, Box::new(found))
            }
            _ => Flown::Leads(lead),
        }
    }

    /// Gives up a lead: in the store, and then here, so that who takes over here finds it free.
    pub(crate) async fn release(&self, key: FlightKey, owner: &str) {
        let release = self.dependencies.store.release_lead(key.0, key.1, owner);
        // Where the store does not hear of it, the lead ends there by itself.
        let _ = tokio::time::timeout(RELEASE_PATIENCE, release).await;
        self.flights.release(key, owner);
    }
}

/// A lead that nobody else knows of yet. Dropped, it goes to the next.
pub(crate) struct Lead {
    cache: Arc<Cache>,
    key: FlightKey,
    owner: Option<String>,
}

impl Lead {
    fn new(cache: Arc<Cache>, key: FlightKey, owner: String) -> Self {
        Self { cache, key, owner: Some(owner) }
    }

    /// Whoever was told of it has it from now on: its name in the token.
    pub(crate) fn handed_over(mut self) -> String {
        self.owner.take().unwrap_or_default()
    }

    /// It turned out to be another's.
    fn forget(mut self) {
        self.owner = None;
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let Some(owner) = self.owner.take() else { return };
        let (cache, key) = (self.cache.clone(), self.key);
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move { cache.release(key, &owner).await });
            }
            Err(_) => cache.flights.release(key, &owner),
        }
    }
}
