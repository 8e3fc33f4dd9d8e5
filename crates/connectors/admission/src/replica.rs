//! One run of a process, as the budget service knows it.

use crate::{calls::Calls, desks::Desks, keys::Keys, metrics, outbox::Outbox, upkeep, watch, watch::Heard};
use signalbox_budgeting::slice::SliceRules;
use signalbox_kit::{Clock, Hop, config::Secret};
use signalbox_ports::{Admission, Authenticator, Identity, Payer, Reservation, Short, Standing, Worst};
use signalbox_types::Failure;
use std::{net::IpAddr, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// What can be chosen about a replica.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The key that the roles of a deployment share. Whoever presents it may do everything, and others need a key too.
    pub deployment_key: Option<Secret>,
    /// Callers must have a key, also when none was made yet.
    pub require_authentication: bool,
    /// How long a key that was in order is trusted while the budget service is away, so that nobody can say whether it
    /// still is. While the service answers, nothing is trusted that was not heard of within two seconds.
    pub key_grace: Duration,
    /// How large the budget service makes slices: beyond two of them, idle money goes back.
    pub slices: SliceRules,
}

impl Default for Settings {
    /// No key of the deployment; keys are trusted for about as long as leases can be spent.
    fn default() -> Self {
        Self {
            deployment_key: None,
            require_authentication: false,
            key_grace: Duration::from_secs(60),
            slices: SliceRules::default(),
        }
    }
}

/// The replica's side of budgets, shared by all shards of a process. Cheap to clone. It lives from what
/// [`Replica::run`] does in the background.
#[derive(Debug, Clone)]
pub struct Replica {
    inner: Arc<Inner>,
}

/// What all clones share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) replica_id: String,
    pub(crate) calls: Calls,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) heard: Heard,
    pub(crate) keys: Keys,
    pub(crate) desks: Desks,
    pub(crate) outbox: Outbox,
}

impl Replica {
    /// A replica that asks the budget service behind `hop`. `replica_id` is unique to this run of the process.
    pub fn new(hop: Hop, replica_id: impl Into<String>, clock: Arc<dyn Clock>, settings: Settings) -> Self {
        metrics::show();
        let keys = Keys::new(settings.deployment_key.as_ref());
        let inner = Inner {
            replica_id: replica_id.into(),
            calls: Calls::new(hop),
            clock,
            desks: Desks::new(settings.slices),
            outbox: Outbox::default(),
            settings,
            heard: Heard::default(),
            keys,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Hears of changes, keeps leases alive and gives back what is not needed, until `cancel`; then gives back all that
    /// is idle.
    pub async fn run(&self, cancel: CancellationToken) {
        let work = async { tokio::join!(watch::listen(&self.inner), upkeep::keep(&self.inner)) };
        let _stopped = cancel.run_until_cancelled(work).await;
        upkeep::give_all_back(&self.inner).await;
    }

    /// Whether the budget service answers: changes are heard of.
    pub fn is_in_touch(&self) -> bool {
        self.inner.heard.is_open()
    }

    /// Whether callers must have a key, as far as that is known.
    pub fn authentication_required(&self) -> Option<bool> {
        self.inner.required_as_known()
    }
}

#[async_trait::async_trait]
impl Authenticator for Replica {
    async fn authenticate(&self, key: Option<&str>, peer: Option<IpAddr>) -> Result<Arc<Identity>, Failure> {
        self.inner.identify(key, peer).await
    }
}

#[async_trait::async_trait]
impl Admission for Replica {
    async fn standing(&self, payer: &Payer) -> Result<Standing, Failure> {
        self.inner.standing(payer).await
    }

    async fn reserve(&self, payer: &Payer, worst: Worst) -> Result<Box<dyn Reservation>, Short> {
        self.inner.reserve(payer, worst).await
    }
}
