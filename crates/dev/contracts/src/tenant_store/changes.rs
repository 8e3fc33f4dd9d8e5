//! The audit trail, and what replicas hear of.

use super::{
    Fresh,
    support::{audit, budget, digest, key, later, tenant},
};
use futures_util::future::join_all;
use signalbox_api::v1::AuditEntry;
use signalbox_ports::tenants::Change;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

fn of_tenant() -> Change {
    Change::Tenant { tenant_id: "acme".to_owned() }
}

fn of_key() -> Change {
    Change::Key { key_id: "k1".to_owned() }
}

fn of_budget(budget: &str) -> Change {
    Change::Budget { tenant_id: "acme".to_owned(), budget_id: budget.to_owned() }
}

fn recall(budget: &str) -> Change {
    Change::Recall { tenant_id: "acme".to_owned(), budget_id: budget.to_owned() }
}

/// With what was done, in one transaction.
pub async fn every_change_is_in_the_audit_trail_and_told(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another, keep: _keep } = fresh().await;
    assert_eq!((store.last_change().await.unwrap(), store.changes(0, 10).await.unwrap()), (0, vec![]));
    store.create_tenant(&tenant("acme"), &audit("a1")).await.unwrap();
    store.update_tenant(&tenant("acme"), "1", &audit("a2")).await.unwrap();
    store.create_key(&key("k1"), &digest("k1"), &audit("a3")).await.unwrap();
    store.revoke_key("acme", "k1", later(1), &audit("a4")).await.unwrap();
    store.create_budget(&budget("daily"), &audit("a5")).await.unwrap();
    store.update_budget(&budget("daily"), "1", &audit("a6")).await.unwrap();
    store.audit(&audit("a7")).await.unwrap();
    store.announce(&recall("daily")).await.unwrap();
    let changes = another().changes(0, 10).await.unwrap();
    let expected = [
        of_tenant(),
        of_tenant(),
        of_key(),
        of_key(),
        of_budget("daily"),
        of_budget("daily"),
        recall("daily"),
    ];
    assert_eq!(changes.iter().map(|(_, change)| change.clone()).collect::<Vec<_>>(), expected);
    assert_eq!(store.last_change().await.unwrap(), changes[6].0);
    assert_eq!(store.changes(changes[4].0, 1).await.unwrap(), changes[5..6]);
    let trail = store.audits("acme", None, 10).await.unwrap();
    assert_eq!(trail, ["a7", "a6", "a5", "a4", "a3", "a2", "a1"].map(audit));
}

/// Nor is what changed nothing.
pub async fn what_was_refused_is_neither_in_the_audit_trail_nor_told(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another: _, keep: _keep } = fresh().await;
    store.create_tenant(&tenant("acme"), &audit("a1")).await.unwrap();
    store.create_key(&key("k1"), &digest("k1"), &audit("a2")).await.unwrap();
    store.revoke_key("acme", "k1", later(1), &audit("a3")).await.unwrap();
    let last = store.last_change().await.unwrap();
    store.create_tenant(&tenant("acme"), &audit("b1")).await.unwrap_err();
    store.update_tenant(&tenant("acme"), "0", &audit("b2")).await.unwrap_err();
    store.create_key(&key("k1"), &digest("k2"), &audit("b3")).await.unwrap_err();
    store.update_budget(&budget("daily"), "1", &audit("b4")).await.unwrap_err();
    store.revoke_key("acme", "k2", later(1), &audit("b5")).await.unwrap_err();
    store.revoke_key("acme", "k1", later(1), &audit("b6")).await.unwrap();
    assert_eq!(store.last_change().await.unwrap(), last);
    assert_eq!(store.audits("", None, 10).await.unwrap(), ["a3", "a2", "a1"].map(audit));
}

/// An entry that is written again is one entry.
pub async fn the_audit_trail_is_told_newest_first_page_by_page(fresh: &impl AsyncFn() -> Fresh) {
    let Fresh { store, another: _, keep: _keep } = fresh().await;
    let of = |id: &str, tenant: &str| AuditEntry { tenant_id: tenant.to_owned(), ..audit(id) };
    for (id, tenant) in [("a2", "acme"), ("a1", "acme"), ("h1", "hooli"), ("a1", "acme"), ("a3", "acme")] {
        store.audit(&of(id, tenant)).await.unwrap();
    }
    let ids = async |tenant: &str, before: Option<&str>, most| {
        let entries = store.audits(tenant, before, most).await.unwrap();
        entries.into_iter().map(|entry| entry.audit_id).collect::<Vec<_>>()
    };
    assert_eq!(ids("", None, 10).await, ["a3", "h1", "a1", "a2"]);
    assert_eq!(ids("acme", None, 2).await, ["a3", "a1"]);
    assert_eq!(ids("acme", Some("a1"), 2).await, ["a2"]);
    assert_eq!(ids("", Some("a3"), 2).await, ["h1", "a1"]);
}

const WRITERS: usize = 6;
const EACH: usize = 25;

/// Whoever reads on from the last one it was given misses none, however many write at the time.
pub async fn changes_are_told_once_and_in_the_order_in_which_they_can_be_seen(
    fresh: &impl AsyncFn() -> Fresh,
) {
    let Fresh { store, another, keep: _keep } = fresh().await;
    store.create_tenant(&tenant("acme"), &audit("a1")).await.unwrap();
    let first = store.last_change().await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let (reader, is_done) = (another(), done.clone());
    let reading = tokio::spawn(async move {
        let (mut seen, mut after) = (Vec::new(), first);
        loop {
            // Looked at before the last page is read.
            let last = is_done.load(Ordering::SeqCst);
            let page = reader.changes(after, 7).await.unwrap();
            after = page.last().map_or(after, |(point, _)| *point);
            if last && page.is_empty() {
                return seen;
            }
            seen.extend(page);
        }
    });
    let writers = (0..WRITERS).map(|writer| {
        let store = another();
        tokio::spawn(async move {
            for number in 0..EACH {
                let name = format!("{writer}-{number}");
                if number % 2 == 0 {
                    store.announce(&recall(&name)).await.unwrap();
                } else {
                    store.create_budget(&budget(&name), &audit(&name)).await.unwrap();
                }
            }
        })
    });
    for written in join_all(writers).await {
        written.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    let seen = reading.await.unwrap();
    assert_eq!(seen, store.changes(first, 1000).await.unwrap());
    assert_eq!(seen.len(), WRITERS * EACH);
}
