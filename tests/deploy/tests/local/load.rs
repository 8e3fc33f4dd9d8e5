//! A steady load of calls and streams, and what became of it.

use super::{caller::Caller, system::System};
use signalbox_api::v1::GenerateRequest;
use signalbox_testkit::{
    ask::{Mode, request},
    eventually,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::task::JoinSet;

/// Calls and streams at once.
const CLIENTS: usize = 6;

/// What became of requests, by their ids.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) answered: BTreeSet<String>,
    /// With what each of them was told.
    pub(super) lost: BTreeMap<String, String>,
    /// Answers by vendor.
    by_vendor: BTreeMap<String, usize>,
}

/// A load under way.
pub(super) struct Load {
    tenant: String,
    seen: Arc<Mutex<Seen>>,
    stopped: Arc<AtomicBool>,
    clients: JoinSet<()>,
}

impl Load {
    /// From now on, as a tenant of its own.
    pub(super) async fn start(system: &System, tenant: &str) -> Self {
        let caller = Caller::of(system, &system.tenant(tenant).await);
        let (seen, stopped) = (Arc::<Mutex<Seen>>::default(), Arc::<AtomicBool>::default());
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let name = format!("{tenant}-{client}");
            clients.spawn(ask_on(caller.clone(), name, seen.clone(), stopped.clone()));
        }
        let load = Self { tenant: tenant.to_owned(), seen, stopped, clients };
        eventually("there is load", || async { load.answers() > 2 * CLIENTS }).await;
        load
    }

    pub(super) fn answers(&self) -> usize {
        self.seen.lock().unwrap().answered.len()
    }

    /// The vendor that has given most answers.
    pub(super) fn busiest(&self) -> String {
        let seen = self.seen.lock().unwrap();
        seen.by_vendor.iter().max_by_key(|(_, answers)| **answers).unwrap().0.clone()
    }

    pub(super) fn lost(&self) -> usize {
        self.seen.lock().unwrap().lost.len()
    }

    /// Waits until so much more was answered.
    pub(super) async fn goes_on(&self) {
        let before = self.answers();
        eventually("requests are answered", || async { self.answers() > before + 4 * CLIENTS }).await;
    }

    /// Asks no more, waits for the answers, and for the rows of those that were answered. Each stands there once.
    pub(super) async fn stop(mut self, system: &System) -> Seen {
        self.stopped.store(true, Ordering::Relaxed);
        while let Some(ended) = self.clients.join_next().await {
            ended.unwrap();
        }
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        let query = format!("SELECT request_id FROM usage_events WHERE tenant_id = '{}'", self.tenant);
        eventually("every answer has its row", || async {
            let rows: BTreeSet<String> = system.sql(&query).await.into_iter().collect();
            seen.answered.is_subset(&rows)
        })
        .await;
        let rows = system.sql(&query).await;
        assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len(), "no row is there twice");
        let asked = |id: &&String| seen.answered.contains(*id) || seen.lost.contains_key(*id);
        assert!(rows.iter().all(|id| asked(&id)), "every row was asked for");
        seen
    }
}

/// Asks one request after the other, a call and a stream in turn.
async fn ask_on(caller: Caller, name: String, seen: Arc<Mutex<Seen>>, stopped: Arc<AtomicBool>) {
    for (number, mode) in Mode::ALL.into_iter().cycle().enumerate() {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        let id = format!("{name}-{number}");
        // Each with words of its own, so that none is answered from the cache.
        let asked = GenerateRequest { request_id: id.clone(), ..request("fast", &format!("Number {id}?")) };
        let answer = caller.ask(mode, &asked).await;
        let mut seen = seen.lock().unwrap();
        match answer {
            Ok(answer) => {
                *seen.by_vendor.entry(answer.route.vendor).or_default() += 1;
                seen.answered.insert(id);
            }
            Err(status) => {
                let told = format!("{mode:?} {:?}: {}", status.code(), status.message());
                seen.lost.insert(id, told);
            }
        }
    }
}
