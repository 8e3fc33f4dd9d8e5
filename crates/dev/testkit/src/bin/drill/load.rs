//! Requests at a steady rate, and what their clients saw.

use signalbox_api::v1::router_service_client::RouterServiceClient;
use signalbox_testkit::{
    Keyed,
    ask::{Mode, ask, request},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::oneshot;
use tokio::{
    task::{JoinHandle, JoinSet},
    time::{Instant, MissedTickBehavior, interval},
};

/// What clients saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// When each answer came, how long it took, and who gave it.
    pub(crate) served: Vec<(Instant, Duration, String)>,
    /// What failed requests said.
    pub(crate) failed: Vec<String>,
}

/// A load under way.
pub(crate) struct Load {
    seen: Arc<Mutex<Seen>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Load {
    /// So many requests for a model a second from now on, whether or not earlier ones have been answered.
    pub(crate) fn start(client: RouterServiceClient<Keyed>, model: &'static str, rate: u32) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(send((client, model), rate, seen.clone(), stopped));
        Self { seen, stop, task }
    }

    /// The vendor that has given most answers.
    pub(crate) fn busiest(&self) -> Option<String> {
        let mut by_vendor = BTreeMap::<_, usize>::new();
        for (_, _, by) in &lock(&self.seen).served {
            *by_vendor.entry(by.clone()).or_default() += 1;
        }
        by_vendor.into_iter().max_by_key(|(_, answers)| *answers).map(|(vendor, _)| vendor)
    }

    /// The share of the answers of the last moments that came from a vendor.
    pub(crate) fn share_of(&self, vendor: &str, moments: Duration) -> f64 {
        let seen = lock(&self.seen);
        let lately = || seen.served.iter().rev().take_while(|(at, _, _)| at.elapsed() < moments);
        let by_vendor = lately().filter(|(_, _, by)| by == vendor).count();
        by_vendor as f64 / lately().count().max(1) as f64
    }

    /// Sends no more, waits for the answers, and tells what clients saw.
    pub(crate) async fn stop(self) -> Seen {
        let _ended_already = self.stop.send(());
        let _failed = self.task.await;
        std::mem::take(&mut *lock(&self.seen))
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn send(
    (client, model): (RouterServiceClient<Keyed>, &'static str),
    rate: u32,
    seen: Arc<Mutex<Seen>>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut due = interval(Duration::from_secs(1) / rate);
    due.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut under_way = JoinSet::new();
    for mode in Mode::ALL.into_iter().cycle() {
        tokio::select! {
            _ = due.tick() => {}
            _ = &mut stopped => break,
        }
        let (mut client, seen) = (client.clone(), seen.clone());
        under_way.spawn(async move {
            let began = Instant::now();
            let answer = ask(&mut client, mode, request(model, "What is the news?")).await;
            let mut seen = lock(&seen);
            match answer {
                Ok(answer) => seen.served.push((Instant::now(), began.elapsed(), answer.route.vendor)),
                Err(status) => seen.failed.push(format!("{}: {}", status.code(), status.message())),
            }
        });
        while under_way.try_join_next().is_some() {}
    }
    under_way.join_all().await;
}
