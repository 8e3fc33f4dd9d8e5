//! Whether a replica answers: doubted when a call to it comes to nothing, probed until it answers again.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::Notify, task::JoinHandle, time};
use tonic::transport::Channel;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// How long a replica may take to say that it is well.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often one that is away is asked.
const PROBE_EVERY: Duration = Duration::from_millis(500);

/// Whether a replica is thought to answer. Whoever drops it ends the probing.
#[derive(Debug)]
pub(super) struct Reach {
    state: Arc<State>,
    prober: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    address: SocketAddr,
    away: AtomicBool,
    doubted: Notify,
}

/// The replicas that some shard of this process has found away, so that the log tells it once.
static AWAY: Mutex<BTreeSet<SocketAddr>> = Mutex::new(BTreeSet::new());

fn all_away() -> MutexGuard<'static, BTreeSet<SocketAddr>> {
    AWAY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn away(&self, why: &str) {
        if !self.away.swap(true, Ordering::Relaxed) && all_away().insert(self.address) {
            tracing::warn!(peer = %self.address, why, "a peer does not answer; it is left alone until it does");
        }
    }

    fn back(&self) {
        if self.away.swap(false, Ordering::Relaxed) && all_away().remove(&self.address) {
            tracing::info!(peer = %self.address, "a peer answers again");
        }
    }
}

impl Reach {
    /// Of the replica behind a channel. Must be called inside a runtime.
    pub(super) fn of(address: SocketAddr, channel: Channel) -> Self {
        let state = Arc::new(State { address, away: AtomicBool::new(false), doubted: Notify::new() });
        let prober = tokio::spawn(probe(channel, state.clone()));
        Self { state, prober }
    }

    pub(super) fn is_away(&self) -> bool {
        self.state.away.load(Ordering::Relaxed)
    }

    /// It cannot be reached: it is away until it answers a probe.
    pub(super) fn lost(&self, why: &str) {
        self.state.away(why);
        self.doubt();
    }

    /// It has kept a caller waiting, which may have been its work: it is away if it does not answer a probe either.
    pub(super) fn doubt(&self) {
        self.state.doubted.notify_one();
    }
}

impl Drop for Reach {
    fn drop(&mut self) {
        self.prober.abort();
    }
}

async fn probe(channel: Channel, state: Arc<State>) {
    let mut health = HealthClient::new(channel);
    loop {
        state.doubted.notified().await;
        while !is_well(&mut health).await {
            state.away("it does not say that it is well");
            time::sleep(PROBE_EVERY).await;
        }
        state.back();
    }
}

async fn is_well(health: &mut HealthClient<Channel>) -> bool {
    let question = HealthCheckRequest { service: String::new() };
    match time::timeout(PATIENCE, health.check(question)).await {
        Ok(Ok(answer)) => answer.get_ref().status() == ServingStatus::Serving,
        Ok(Err(_)) | Err(_) => false,
    }
}
