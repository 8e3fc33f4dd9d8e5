//! Budgets: the service, where this process has the role, and its side of them as one that admits requests.
//!
//! ```text
//! callers' keys, requests -> replica ---> budget service, here or at peers.budget -> ledger
//! spool -------------------> settler -/
//! ```

mod run;
pub(crate) mod store;

use super::{access::Access, spool, usage::Usage};
use crate::roles::Role;
use signalbox_admission::{Replica, Settings};
use signalbox_api::v1::usage_service_client::UsageServiceClient;
use signalbox_budget::{Dependencies, Feed, Options, UsageOverHop};
use signalbox_budgeting::slice::SliceRules;
use signalbox_kit::{
    Clock, Hop,
    config::{BudgetsConfig, Config, ConfigHandle},
    hop,
};
use signalbox_ledger::SqlLedger;
use signalbox_ports::{Admission, SpentRequests, Unlimited};
use signalbox_settler::Runs;
use signalbox_spool::{LEDGER, Spool, SpoolOutbox};
use std::sync::Arc;
use uuid::Uuid;

pub(crate) use run::{Running, start};

/// What a process has to do with budgets.
#[derive(Default)]
pub(crate) struct Budgets {
    /// What is answered of them, where this process has the role.
    pub(crate) service: Option<Dependencies>,
    /// This process as one that admits, where there is a service to ask.
    pub(crate) replica: Option<Replica>,
    /// The way to the service, here or elsewhere, where there is one to ask.
    pub(crate) way: Option<Hop>,
    /// What requests cost, on its way to the ledger.
    settling: Option<Settling>,
}

/// What is needed to settle.
struct Settling {
    runs: Runs,
    outbox: SpoolOutbox,
    ledger: Hop,
}

impl Budgets {
    /// What requests must ask before they spend.
    pub(crate) fn admission(&self) -> Arc<dyn Admission> {
        match &self.replica {
            Some(replica) => Arc::new(replica.clone()),
            None => Arc::new(Unlimited),
        }
    }
}

/// Whether there is a budget service to ask.
pub(crate) fn are_kept(config: &Config, roles: &[Role]) -> bool {
    roles.contains(&Role::Budget) || !config.peers.budget.is_empty()
}

/// What there is before anything runs. Must be called inside the runtime that carries the connections.
pub(crate) fn prepare(
    config: &Arc<ConfigHandle>,
    clock: &Arc<dyn Clock>,
    access: &Access,
    roles: &[Role],
    store: Option<SqlLedger>,
    spool: Option<&Arc<Spool>>,
    usage: &Usage,
) -> Result<Budgets, String> {
    let loaded = config.loaded();
    let peers = &loaded.config.peers.budget;
    warn_of_gaps(&loaded.config, access, roles);
    let service = store.map(|store| service(config, clock, access, store, usage)).transpose()?;
    let ledger = match &service {
        Some(service) => {
            let limit = loaded.config.server.max_message_bytes;
            hop::local(signalbox_budget::server(service.clone(), limit))
        }
        None if peers.is_empty() => return Ok(Budgets::default()),
        None => access.remote(peers, Role::Budget)?,
    };
    let replica_id = Uuid::now_v7().to_string();
    let settings = Settings {
        deployment_key: access.admin_key.as_ref().map(|key| key.secret().clone()),
        require_authentication: access.required,
        key_grace: loaded.config.access.key_grace.0,
        slices: slices(&loaded.config.budgets),
    };
    let replica = Replica::new(ledger.clone(), &replica_id, clock.clone(), settings);
    let settling = match spool.and_then(|spool| spool.outbox(LEDGER)) {
        Some(outbox) => {
            let runs = Runs::begin(&spool::dir(config, roles), &replica_id)
                .map_err(|error| format!("the usage spool: {error}"))?;
            Some(Settling { runs, outbox, ledger: ledger.clone() })
        }
        None => None,
    };
    Ok(Budgets { service, replica: Some(replica), way: Some(ledger), settling })
}

/// Says once what is not there, so that nobody relies on it.
fn warn_of_gaps(config: &Config, access: &Access, roles: &[Role]) {
    if !are_kept(config, roles) {
        let what = match roles.contains(&Role::Router) {
            true => "every request is admitted, whoever pays, and API keys are not known here",
            false => "API keys are not known here",
        };
        tracing::warn!(
            "{what}: serve the role budget in this process, or list peers.budget in the configuration"
        );
        return;
    }
    let alone = roles.contains(&Role::Budget) && roles.contains(&Role::Router);
    if access.admin_key.is_none() && !access.by_certificates() && !alone {
        tracing::warn!(
            "from the first API key on the roles of this deployment do not let each other in: set the same \
             SIGNALBOX_ADMIN_KEY in the environment of all of them"
        );
    }
}

fn slices(config: &BudgetsConfig) -> SliceRules {
    SliceRules { share: config.slice_share, max: config.max_slice_nano_eur() }
}

fn service(
    config: &Arc<ConfigHandle>,
    clock: &Arc<dyn Clock>,
    access: &Access,
    store: SqlLedger,
    usage: &Usage,
) -> Result<Dependencies, String> {
    let loaded = config.loaded();
    let budgets = &loaded.config.budgets;
    let options = Options {
        slices: slices(budgets),
        lease_ttl: budgets.lease_ttl.0,
        write_off_after: budgets.write_off_after.0,
        retention: budgets.retention(),
        ..Options::default()
    };
    let ledger = Arc::new(store);
    Ok(Dependencies {
        config: config.clone(),
        tenants: ledger.clone(),
        ledger,
        rates: store::rates(config, clock)?,
        spent: spent(&loaded.config, access, usage)?,
        feed: Feed::default(),
        clock: clock.clone(),
        random: rand::random,
        options,
    })
}

/// What the usage store says was spent: asked here, or at `peers.ingest`.
fn spent(config: &Config, access: &Access, usage: &Usage) -> Result<Option<Arc<dyn SpentRequests>>, String> {
    let limit = config.server.max_message_bytes;
    let hop = match &usage.service {
        Some(service) => hop::local(signalbox_cost_ingest::server(service.clone(), limit)),
        None if config.peers.ingest.is_empty() => return Ok(None),
        None => access.remote(&config.peers.ingest, Role::Ingest)?,
    };
    let client = UsageServiceClient::new(hop).max_decoding_message_size(limit);
    Ok(Some(Arc::new(UsageOverHop::new(client))))
}
