//! The stream on which the budget service tells what has changed.

use crate::{calls::Refused, replica::Inner, upkeep};
use signalbox_api::v1::{self, watch_admission_response::Change};
use signalbox_kit::hop;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};
use tonic::Streaming;

/// A stream that is silent for so long is dead: the service says something every second, and a key that was revoked
/// must be refused within two.
const DEAD_AFTER: Duration = Duration::from_millis(1_800);
/// Waits between tries to open it: the first, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// How long a caller without a key waits for the first word on whether it needs one.
const FIRST_WORD: Duration = Duration::from_secs(2);

/// What is known of the stream.
#[derive(Debug, Default)]
pub(crate) struct Heard(watch::Sender<State>);

#[derive(Debug, Clone, Copy, Default)]
struct State {
    open: bool,
    /// The service does not know this process.
    refused: bool,
    required: Option<bool>,
    replicas: u32,
}

impl Heard {
    /// Whether changes are heard of.
    pub(crate) fn is_open(&self) -> bool {
        self.0.borrow().open
    }

    /// Whether the service refuses to talk to this process.
    pub(crate) fn is_refused(&self) -> bool {
        self.0.borrow().refused
    }

    /// Replicas that share a rate while nobody hands it out.
    pub(crate) fn replicas(&self) -> u32 {
        self.0.borrow().replicas.max(1)
    }

    fn set(&self, change: impl FnOnce(&mut State)) {
        self.0.send_modify(change);
    }
}

impl Inner {
    /// Whether callers must have a key, if that is known.
    pub(crate) fn required_as_known(&self) -> Option<bool> {
        if self.settings.require_authentication || self.keys.has_deployment_key() {
            return Some(true);
        }
        self.heard.0.borrow().required
    }

    /// As above, after waiting for the service's first word.
    pub(crate) async fn is_authentication_required(&self) -> Option<bool> {
        if let Some(required) = self.required_as_known() {
            return Some(required);
        }
        let mut heard = self.heard.0.subscribe();
        let state = timeout(FIRST_WORD, heard.wait_for(|state| state.required.is_some())).await.ok()?.ok()?;
        state.required
    }

    fn heard_of(self: &Arc<Self>, change: Change) {
        match change {
            Change::Tenant(tenant) => self.desks.tenant_changed(tenant),
            Change::ApiKey(key) => self.keys.changed(&key.key_id),
            Change::Budget(budget) => self.desks.budget_changed(&budget),
            Change::Recall(recall) => upkeep::recalled(self, &recall),
            Change::Heartbeat(heartbeat) => self.heard.set(|state| {
                state.required = Some(heartbeat.authentication_required);
                state.replicas = heartbeat.live_replicas;
            }),
        }
    }

    /// What was cached may have changed meanwhile.
    fn unheard(&self) {
        self.heard.set(|state| state.open = false);
        self.calls.set_in_touch(false);
        self.keys.unheard(Instant::now());
        self.desks.unheard();
    }
}

/// Keeps the stream open, for ever.
pub(crate) async fn listen(inner: &Arc<Inner>) {
    let (first, longest) = WAITS;
    let mut wait = first;
    loop {
        let request = v1::WatchAdmissionRequest { replica_id: inner.replica_id.clone() };
        let opened = inner.calls.watch(request).await;
        let refused = matches!(&opened, Err(Refused::No(_)));
        inner.heard.set(|state| state.refused = refused);
        match opened {
            Ok(stream) => {
                inner.heard.set(|state| state.open = true);
                inner.calls.set_in_touch(true);
                inner.desks.in_touch();
                wait = first;
                follow(inner, stream).await;
                inner.unheard();
            }
            Err(Refused::No(problem)) => {
                tracing::error!(%problem, "the budget service refuses this process; do they share one key?");
            }
            Err(Refused::Away(_)) => {}
        }
        sleep(wait).await;
        wait = (2 * wait).min(longest);
    }
}

/// Takes in what the stream says, until it breaks.
async fn follow(inner: &Arc<Inner>, mut stream: Streaming<v1::WatchAdmissionResponse>) {
    loop {
        match timeout(DEAD_AFTER, stream.message()).await {
            Ok(Ok(Some(message))) => message.change.into_iter().for_each(|change| inner.heard_of(change)),
            Ok(Ok(None)) => return tracing::debug!("the budget service closed the stream of changes"),
            Ok(Err(status)) => {
                return tracing::debug!(problem = hop::cause(&status), "the stream of changes broke");
            }
            Err(_) => return tracing::debug!("the stream of changes fell silent"),
        }
    }
}
