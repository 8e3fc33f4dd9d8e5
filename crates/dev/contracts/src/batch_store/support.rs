//! A store, and short words for what is asked of it.

use super::Fresh;
use crate::calendar;
use signalbox_ports::batches::{
    BatchStore, Claim, Handed, Item, ItemEnd, ItemKey, Job, JobWindow, Kind, Lane, NewItem, NewJob, Outcome,
    Results, Room, Rules, Spent, Step, Submitted, Target, Trail, WaitingQuery, WindowEnd,
};
use std::{
    any::Any,
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// How long leases are.
pub(super) const LEASE: Duration = Duration::from_secs(30);
/// As many bytes as a window may hold.
pub(super) const ALL: u64 = 1 << 40;

/// A store with its tables.
pub(super) struct World {
    pub(super) store: Arc<dyn BatchStore>,
    pub(super) another: Box<dyn Fn() -> Arc<dyn BatchStore> + Send + Sync>,
    _keep: Box<dyn Any + Send>,
}

impl World {
    pub(super) async fn new(fresh: &impl AsyncFn() -> Fresh) -> Self {
        let Fresh { store, another, keep } = fresh().await;
        store.migrate().await.unwrap();
        (another)().migrate().await.unwrap();
        Self { store, another, _keep: keep }
    }

    pub(super) async fn submit(&self, tenant: &str, job: &str, items: &[NewItem]) -> Job {
        self.submit_until(tenant, job, items, later(24 * 3600)).await
    }

    pub(super) async fn submit_until(
        &self,
        tenant: &str,
        job: &str,
        items: &[NewItem],
        complete_by: SystemTime,
    ) -> Job {
        let new = NewJob { complete_by, ..new_job(tenant, job) };
        match self.store.submit(&new, items, &rules()).await.unwrap() {
            Submitted::New(job) => job,
            Submitted::Exists(job) => panic!("{job:?}"),
        }
    }

    pub(super) async fn job(&self, tenant: &str, job: &str) -> (Job, Vec<JobWindow>) {
        self.store.job(tenant, job).await.unwrap().unwrap()
    }

    pub(super) async fn claim(&self, now: SystemTime) -> Option<Claim> {
        self.store.claim("p1", now, LEASE).await.unwrap()
    }

    /// Takes a window that must be there, with its items.
    pub(super) async fn take(&self, now: SystemTime) -> (Claim, Vec<Item>) {
        let claim = self.claim(now).await.expect("no window is due");
        let items = self.store.items(&claim.window.window_id, None, ALL).await.unwrap();
        (claim, items)
    }

    /// Takes a window and hands it to the vendor.
    pub(super) async fn hand(&self, now: SystemTime) -> (Claim, Vec<Item>) {
        let (claim, items) = self.take(now).await;
        self.store.handed(&claim.lease, &handed("vb", now)).await.unwrap();
        (claim, items)
    }

    pub(super) async fn step(&self, claim: &Claim, steps: &[(ItemKey, Step)], now: SystemTime) -> u64 {
        self.store.step(&claim.lease, steps, now, &rules()).await.unwrap()
    }

    /// Ends all these items well.
    pub(super) async fn succeed(&self, claim: &Claim, items: &[Item], now: SystemTime) {
        let steps: Vec<_> =
            items.iter().map(|item| (item.key, Step::End(end(item, Outcome::Succeeded)))).collect();
        assert_eq!(self.step(claim, &steps, now).await, items.len() as u64);
    }

    pub(super) async fn close(&self, claim: &Claim, now: SystemTime) {
        let end = WindowEnd { end_time: now, refused: None };
        self.store.close(&claim.lease, &end).await.unwrap();
    }

    pub(super) async fn waiting(&self, now: SystemTime) -> Vec<Item> {
        self.store.waiting(&WaitingQuery { job: None, now, most: 1000 }).await.unwrap()
    }

    pub(super) async fn results(&self, tenant: &str, job: &str, after: u64) -> Results {
        self.store.results(tenant, job, after, 100_000).await.unwrap().unwrap()
    }
}

pub(super) fn now() -> SystemTime {
    calendar::at(2026, 11, 30, 12, 0)
}

/// So many seconds after now.
pub(super) fn later(seconds: u64) -> SystemTime {
    now() + Duration::from_secs(seconds)
}

/// Windows wait for a minute and hold three items, of the vendor `wide` many.
pub(super) fn rules() -> Rules {
    Rules {
        window_wait: Duration::from_secs(60),
        batch: Room { items: 3, bytes: 100 },
        vendors: BTreeMap::from([("wide".to_owned(), Room { items: 50_000, bytes: ALL })]),
        usual: Room { items: 2, bytes: 100 },
        results_kept: Duration::from_hours(1),
    }
}

pub(super) fn new_job(tenant: &str, job: &str) -> NewJob {
    NewJob {
        tenant_id: tenant.to_owned(),
        job_id: job.to_owned(),
        details: format!("details of {tenant}'s {job}\0\u{1}").into_bytes(),
        reserved: 1_000_000,
        pledge_id: String::new(),
        create_time: now(),
        complete_by: later(24 * 3600),
    }
}

pub(super) fn target(vendor: &str, lane: Lane) -> Target {
    Target { vendor: vendor.to_owned(), model: format!("{vendor}-model"), lane }
}

/// An item for the batch endpoints of vendors, in this order.
pub(super) fn item(id: &str, vendors: &[&str]) -> NewItem {
    let targets = vendors.iter().map(|vendor| target(vendor, Lane::Batch)).collect();
    NewItem {
        item_id: id.to_owned(),
        kind: Kind::Generate,
        trail: Trail::new(targets).unwrap(),
        request: format!("ask {id}").into_bytes(),
    }
}

/// So many items for one vendor.
pub(super) fn items(count: usize, vendor: &str) -> Vec<NewItem> {
    (0..count).map(|number| item(&format!("i{number}"), &[vendor])).collect()
}

pub(super) fn handed(vendor_batch_id: &str, now: SystemTime) -> Handed {
    Handed {
        vendor_batch_id: vendor_batch_id.to_owned(),
        submit_time: now,
        expire_time: Some(now + Duration::from_hours(24)),
        due: now + Duration::from_secs(30),
        notes: Vec::new(),
    }
}

/// An end that costs as many nano-EUR as the item's number and one.
pub(super) fn end(item: &Item, outcome: Outcome) -> ItemEnd {
    ItemEnd {
        outcome,
        result: format!("result of {}", item.item_id).into_bytes(),
        event: format!("event of {} {}", item.job.tenant_id, item.key).into_bytes(),
        cost: Spent { nano_eur: item.key.item + 1, unknown: false },
    }
}

pub(super) fn ids(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.item_id.as_str()).collect()
}
