//! A job and a store.

use crate::SqlBatches;
use signalbox_ports::batches::{BatchStore, Kind, Lane, NewItem, NewJob, Room, Rules, Target, Trail};
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

pub(super) const LEASE: Duration = Duration::from_secs(30);

pub(super) async fn open(url: &str) -> SqlBatches {
    let store = SqlBatches::open(url).unwrap();
    store.migrate().await.unwrap();
    store
}

pub(super) fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// Windows are full with five items.
pub(super) fn rules() -> Rules {
    Rules {
        window_wait: Duration::from_secs(60),
        batch: Room { items: 5, bytes: 1 << 20 },
        vendors: BTreeMap::new(),
        usual: Room { items: 5, bytes: 1 << 20 },
        results_kept: Duration::from_hours(1),
    }
}

pub(super) fn ready(job_id: &str, items: usize) -> (NewJob, Vec<NewItem>) {
    let job = NewJob {
        tenant_id: "acme".to_owned(),
        job_id: job_id.to_owned(),
        details: Vec::new(),
        reserved: 100,
        pledge_id: String::new(),
        create_time: now(),
        complete_by: now() + Duration::from_hours(24),
    };
    let target = Target { vendor: "openai".to_owned(), model: "m".to_owned(), lane: Lane::Batch };
    let item = |number| NewItem {
        item_id: format!("i{number}"),
        kind: Kind::Generate,
        trail: Trail::new(vec![target.clone()]).unwrap(),
        request: b"request".to_vec(),
    };
    (job, (0..items).map(item).collect())
}
