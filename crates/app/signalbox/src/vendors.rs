//! The connections to the vendors: made from the configuration, made again when it changes.

mod accounts;

use crate::roles::Role;
use accounts::Accounts;
use prometheus::IntGaugeVec;
use signalbox_admin::VendorFacts;
use signalbox_kit::{
    Clock,
    catalog::{Timeouts, VendorSettings},
    config::{ConfigErrors, ConfigHandle},
    telemetry::metrics,
};
use signalbox_ports::VendorApi;
use signalbox_provider_adapter::LimitedVendor;
use signalbox_types::VendorKind;
use signalbox_vendors::{Bulkhead, HttpVendor, VendorConfig, codec_for};
use signalbox_vendorsim::Simulator;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

/// The connections of one shard. Each shard has its own, so that a request stays on its thread.
#[derive(Clone, Default)]
pub(crate) struct ShardVendors(Arc<signalbox_provider_adapter::Vendors>);

impl ShardVendors {
    pub(crate) fn handle(&self) -> Arc<signalbox_provider_adapter::Vendors> {
        self.0.clone()
    }
}

/// Limits of concurrency, one per vendor for the whole process.
#[derive(Default)]
pub(crate) struct Bulkheads(Mutex<BTreeMap<Arc<str>, Limit>>);

struct Limit {
    max_concurrency: usize,
    max_queue: usize,
    bulkhead: Arc<Bulkhead>,
}

impl Bulkheads {
    /// The vendor's limit; a new one when its configuration has changed.
    fn of(&self, settings: &VendorSettings) -> Arc<Bulkhead> {
        let (max_concurrency, max_queue) = (settings.max_concurrency, settings.max_queue);
        let mut limits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match limits.get(&settings.name) {
            Some(limit) if (limit.max_concurrency, limit.max_queue) == (max_concurrency, max_queue) => {
                limit.bulkhead.clone()
            }
            _ => {
                let bulkhead = Arc::new(Bulkhead::new(max_concurrency, max_queue));
                let limit = Limit { max_concurrency, max_queue, bulkhead: bulkhead.clone() };
                limits.insert(settings.name.clone(), limit);
                bulkhead
            }
        }
    }

    /// Brings the metrics of calls under way and waiting, and of the limit, up to date.
    pub(crate) fn publish(&self) {
        let count = |value: usize| i64::try_from(value).unwrap_or(i64::MAX);
        for (vendor, limit) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            IN_FLIGHT.with_label_values(&[vendor]).set(count(limit.bulkhead.in_flight()));
            WAITING.with_label_values(&[vendor]).set(count(limit.bulkhead.waiting()));
            LIMIT.with_label_values(&[vendor]).set(count(limit.bulkhead.limit()));
        }
    }
}

static IN_FLIGHT: LazyLock<IntGaugeVec> =
    LazyLock::new(|| metrics::gauge("signalbox_vendor_in_flight", "Vendor calls under way.", &["vendor"]));
static WAITING: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_vendor_waiting",
        "Vendor calls waiting for a place in the vendor's bulkhead.",
        &["vendor"],
    )
});

static LIMIT: LazyLock<IntGaugeVec> = LazyLock::new(|| {
    metrics::gauge(
        "signalbox_vendor_concurrency_limit",
        "Vendor calls that may be under way at once now: max_concurrency, less what overload took away.",
        &["vendor"],
    )
});

pub(crate) fn register_metrics() {
    for gauge in [&IN_FLIGHT, &WAITING, &LIMIT] {
        LazyLock::force(gauge);
    }
}

/// The vendors as configured now. A process that calls them needs one to call, or leave to make answers up.
pub(crate) fn settings(config: &ConfigHandle, roles: &[Role]) -> Result<Vec<VendorSettings>, ConfigErrors> {
    let (loaded, env) = (config.loaded(), config.environment());
    if roles.contains(&Role::Adapter) { loaded.vendors_to_call(env) } else { Ok(loaded.catalog.vendors(env)) }
}

/// All connections of a process to the vendors that it calls itself.
pub(crate) struct Connections {
    shards: Vec<ShardVendors>,
    bulkheads: Arc<Bulkheads>,
    accounts: Accounts,
    /// Started when a vendor is simulated for the first time.
    simulator: Option<Simulator>,
}

impl Connections {
    /// No connection yet, for so many shards.
    pub(crate) fn none(shards: usize, config: &Arc<ConfigHandle>, clock: &Arc<dyn Clock>) -> Self {
        let shards = (0..shards).map(|_| ShardVendors::default()).collect();
        let accounts = Accounts::new(config.clone(), clock.clone());
        Self { shards, bulkheads: Arc::default(), accounts, simulator: None }
    }

    pub(crate) fn shards(&self) -> &[ShardVendors] {
        &self.shards
    }

    pub(crate) fn bulkheads(&self) -> Arc<Bulkheads> {
        self.bulkheads.clone()
    }

    /// Connects every shard to the vendors as configured. On an error nothing changes.
    pub(crate) async fn connect(&mut self, settings: &[VendorSettings]) -> Result<(), String> {
        if self.simulator.is_none() && settings.iter().any(|vendor| vendor.simulated) {
            let simulator = Simulator::builder().keep_requests(0).bind("127.0.0.1:0").await;
            let simulator =
                simulator.map_err(|error| format!("cannot start the simulated vendors: {error}"))?;
            self.simulator = Some(simulator);
        }
        let connected = self.shards.iter().map(|_| self.connection_of_each(settings));
        let connected = connected.collect::<Result<Vec<_>, String>>()?;
        for (shard, vendors) in self.shards.iter().zip(connected) {
            shard.0.store(Arc::new(vendors));
        }
        Ok(())
    }

    fn connection_of_each(
        &self,
        settings: &[VendorSettings],
    ) -> Result<HashMap<Arc<str>, Arc<dyn VendorApi>>, String> {
        let connect = |vendor: &VendorSettings| {
            let config = vendor_config(vendor, self.simulator.as_ref());
            let api =
                HttpVendor::new(config, self.bulkheads.of(vendor)).map_err(|error| error.to_string())?;
            let api: Arc<dyn VendorApi> = Arc::new(api);
            let api = match self.accounts.of(vendor)? {
                Some(account) => Arc::new(LimitedVendor::new(api, account)),
                None => api,
            };
            Ok((vendor.name.clone(), api))
        };
        settings.iter().map(connect).collect()
    }
}

fn vendor_config(settings: &VendorSettings, simulator: Option<&Simulator>) -> VendorConfig {
    let simulated = simulator.filter(|_| settings.simulated);
    let base_url = match simulated {
        Some(simulator) => Some(simulator.base_url(simulator_name(settings.kind))),
        None => settings.base_url.clone(),
    };
    let api_key = match simulated {
        Some(_) => Some("simulated".to_owned()),
        None => settings.key.as_ref().map(|key| key.expose().to_owned()),
    };
    let Timeouts { connect, first_byte, idle, total } = settings.timeouts;
    VendorConfig {
        name: settings.name.to_string(),
        kind: settings.kind,
        base_url,
        api_key,
        timeouts: signalbox_vendors::Timeouts { connect, first_byte, idle, total },
        max_concurrency: settings.max_concurrency,
        max_queue: settings.max_queue,
        simulated: settings.simulated,
    }
}

fn simulator_name(kind: VendorKind) -> &'static str {
    match kind {
        VendorKind::OpenaiCompatible => "compatible",
        kind => kind.name(),
    }
}

/// What operators may know of the vendors.
pub(crate) fn facts(settings: &[VendorSettings]) -> Vec<VendorFacts> {
    let fact = |vendor: &VendorSettings| {
        let default = codec_for(vendor.kind).default_base_url().unwrap_or_default();
        VendorFacts {
            name: vendor.name.to_string(),
            kind: vendor.kind,
            base_url: vendor.base_url.clone().unwrap_or_else(|| default.to_owned()),
            has_key: vendor.key.is_some(),
            simulated: vendor.simulated,
            max_concurrency: vendor.max_concurrency,
        }
    };
    settings.iter().map(fact).collect()
}
