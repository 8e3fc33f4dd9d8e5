//! Looking into the store for all of this process that wait for one answer: the leader may be in another process, or its
//! answer may come through another.

use super::Cache;
use crate::{effect::entry_id, flights::Landed, question::Question};
use signalbox_caching::flight::next_look;
use signalbox_kit::lag;
use signalbox_ports::cache::Lead;
use std::{sync::Arc, time::Duration};
use tokio::time::sleep;

/// The longest that one look takes.
const PATIENCE: Duration = Duration::from_millis(250);

/// A store that says nothing so often in a row is away: each process goes on by itself.
const AWAY: u32 = 3;

/// Looks every now and then, until nobody waits any more.
pub(super) async fn watch(cache: Arc<Cache>, question: Arc<Question>) {
    let key = (question.tenant.digest(), question.keys.exact);
    let mut silent = 0;
    loop {
        sleep(next_look(rand::random())).await;
        let Some(first) = cache.flights.first_in_line(key) else { return };
        let seen = lag::within(PATIENCE, look(&cache, &question, &first)).await.ok().flatten();
        silent = if seen.is_some() { 0 } else { silent + 1 };
        match seen {
            Some(Seen::Landed(landed)) => cache.flights.land(key, &landed),
            Some(Seen::Free) => {
                if !cache.flights.promote(key, &first) {
                    cache.release(key, &first).await;
                }
            }
            Some(Seen::UnderWay) => {}
            None => cache.flights.promote_overdue(key, silent >= AWAY),
        }
    }
}

enum Seen {
    Landed(Arc<Landed>),
    /// Nobody led; the first in line does now.
    Free,
    UnderWay,
}

/// `None` where the store does not say.
async fn look(cache: &Cache, question: &Question, first: &str) -> Option<Seen> {
    if let Some(landed) = landed(cache, question).await? {
        return Some(Seen::Landed(landed));
    }
    let (tenant, key) = (question.tenant.digest(), question.keys.exact);
    let (store, ttl) = (&cache.dependencies.store, cache.dependencies.options.flight_ttl);
    match store.lead(tenant, key, first, ttl).await.ok()? {
        Lead::Anothers => Some(Seen::UnderWay),
        // It may be free because the answer came between the two looks.
        Lead::Mine => match landed(cache, question).await? {
            Some(landed) => {
                let _ = store.release_lead(tenant, key, first).await;
                Some(Seen::Landed(landed))
            }
            None => Some(Seen::Free),
        },
    }
}

async fn landed(cache: &Cache, question: &Question) -> Option<Option<Arc<Landed>>> {
    let (found, _) = cache.equal(question).await.ok()?;
    Some(found.map(|(_, found)| Arc::new(Landed { entry_id: entry_id(found.key), answer: found.answer })))
}
