//! What the ledger tells of its movements.

use super::{
    Fresh,
    support::{World, from_lease, from_reservation, later, now, reservation, settlement},
};
use signalbox_api::v1::{LedgerEntry, ledger_entry::Kind};
use signalbox_kit::Clock;
use signalbox_ports::ledger::{EntryQuery, SettledQuery};
use std::{sync::Arc, time::SystemTime};

/// With what it was for, and when.
pub async fn every_movement_is_an_entry(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    world.clock.set(later(5));
    let spent = signalbox_api::v1::Settlement { estimated: true, ..settlement("s1", from_lease(&lease), 30) };
    world.settle(&spent).await;
    world.ledger.give_back("r1", "b1", &[(lease.lease_id.clone(), 20)]).await.unwrap();
    let entries = world.entries().await;
    let told = |entry: &LedgerEntry| {
        (entry.kind(), entry.amount_nano_eur, entry.hold_id.clone(), entry.source_id.clone())
    };
    let id = &lease.lease_id;
    let expected = [
        (Kind::Limit, 10_000, String::new(), String::new()),
        (Kind::Grant, 100, id.clone(), "r1-daily-100".to_owned()),
        (Kind::Settle, 30, id.clone(), "s1".to_owned()),
        (Kind::Return, 20, id.clone(), "b1".to_owned()),
    ];
    assert_eq!(entries.iter().map(told).collect::<Vec<_>>(), expected);
    let settled = &entries[2];
    let whose = (settled.tenant_id.as_str(), settled.budget_id.as_str(), settled.period_id.as_str());
    assert_eq!(whose, ("acme", "daily", "2026-11"));
    assert_eq!((settled.request_id.as_str(), settled.estimated), ("request of s1", true));
    assert_eq!(settled.create_time.map(|time| SystemTime::try_from(time).unwrap()), Some(later(5)));
    assert_eq!(entries[1].create_time.map(|time| SystemTime::try_from(time).unwrap()), Some(now()));
}

/// A page follows the one before without a gap.
pub async fn entries_are_filtered_and_paged_newest_first(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let (daily, monthly) = (world.lend("r1", "daily", 100).await, world.lend("r1", "monthly", 100).await);
    for number in 0..5 {
        world.settle(&settlement(&format!("d{number}"), from_lease(&daily), number)).await;
        world.settle(&settlement(&format!("m{number}"), from_lease(&monthly), number)).await;
    }
    let query = EntryQuery { tenant_id: "acme".to_owned(), most: 100, ..EntryQuery::default() };
    let of = async |query: EntryQuery| -> Vec<String> {
        world.ledger.entries(&query).await.unwrap().into_iter().map(|entry| entry.source_id).collect()
    };
    let settled = EntryQuery { kinds: vec![Kind::Settle, Kind::Return], ..query.clone() };
    let of_daily = EntryQuery { budget_id: Some("daily".to_owned()), ..settled.clone() };
    assert_eq!(of(of_daily.clone()).await, ["d4", "d3", "d2", "d1", "d0"]);
    assert_eq!(of(EntryQuery { period_id: Some("2026-12".to_owned()), ..of_daily.clone() }).await, [""; 0]);
    assert_eq!(
        of(EntryQuery { request_id: Some("request of m3".to_owned()), ..query.clone() }).await,
        ["m3"]
    );
    assert_eq!(of(EntryQuery { tenant_id: "hooli".to_owned(), ..query.clone() }).await, [""; 0]);
    let mut paged = Vec::new();
    let mut page = EntryQuery { most: 4, ..settled };
    loop {
        let entries = world.ledger.entries(&page).await.unwrap();
        let Some(last) = entries.last() else { break };
        page.before = Some(last.entry_id);
        paged.extend(entries.into_iter().map(|entry| entry.source_id));
    }
    assert_eq!(paged, ["m4", "d4", "m3", "d3", "m2", "d2", "m1", "d1", "m0", "d0"]);
}

fn everything() -> SettledQuery {
    SettledQuery {
        tenant_id: String::new(),
        request_ids: None,
        from: now(),
        until: later(1_000),
        after: None,
        most: 100,
    }
}

/// By tenant, request and budget, compared byte by byte; each with all that was settled for it.
pub async fn settled_requests_are_told_in_order_and_paged(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    world.ledger.reserve(&reservation("job", &["daily", "monthly"], 1000)).await.unwrap();
    let item = |id: &str, request: &str, budgets: &[&str], amount| {
        let mut item = settlement(id, from_reservation("job", "daily"), amount);
        item.charges = budgets.iter().map(|budget| from_reservation("job", budget)).collect();
        item.request_id = request.to_owned();
        item
    };
    world.settle(&item("1", "b", &["monthly", "daily"], 10)).await;
    world.settle(&item("2", "B", &["daily"], 20)).await;
    world.settle(&item("3", "ä", &["daily"], 30)).await;
    world.clock.set(later(100));
    world.settle(&item("4", "b", &["daily"], 5)).await;
    let mut hooli = item("5", "a", &["daily"], 40);
    hooli.tenant_id = "hooli".to_owned();
    world.settle(&hooli).await;
    let of = async |query: &SettledQuery| -> Vec<String> {
        let settled = world.ledger.settled(query).await.unwrap();
        let line = |of: &signalbox_ports::ledger::SettledRequest| {
            format!("{} {} {} {}", of.tenant_id, of.request_id, of.budget_id, of.amount)
        };
        settled.iter().map(line).collect()
    };
    let all =
        ["acme B daily 20", "acme b daily 15", "acme b monthly 10", "acme ä daily 30", "hooli a daily 40"];
    assert_eq!(of(&everything()).await, all);
    let mut page = SettledQuery { most: 2, ..everything() };
    let mut paged = Vec::new();
    loop {
        let settled = world.ledger.settled(&page).await.unwrap();
        paged.extend(of(&page).await);
        let Some(last) = settled.into_iter().last() else { break };
        page.after = Some((last.tenant_id, last.request_id, last.budget_id));
    }
    assert_eq!(paged, all);
    assert_eq!(of(&SettledQuery { until: later(100), ..everything() }).await[1], "acme b daily 10");
    assert_eq!(of(&SettledQuery { tenant_id: "hooli".to_owned(), ..everything() }).await, all[4..]);
    let some = SettledQuery {
        request_ids: Some(vec!["a".to_owned(), "ä".to_owned(), "?".to_owned()]),
        ..everything()
    };
    assert_eq!(of(&some).await, all[3..]);
    assert_eq!(of(&SettledQuery { request_ids: Some(vec![]), ..everything() }).await, [""; 0]);
}

/// Nobody knows yet which request they are of.
pub async fn write_offs_are_no_settled_requests(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let world = World::new(fresh).await;
    let lease = world.lend("r1", "daily", 100).await;
    world.lose_all().await;
    world.ledger.sweep(later(4000), later(62)).await.unwrap();
    let settled = async |world: &World| {
        world.ledger.settled(&everything()).await.unwrap().iter().map(|of| of.amount).collect::<Vec<_>>()
    };
    assert_eq!(settled(&world).await, [0; 0]);
    world.settle(&settlement("s1", from_lease(&lease), 30)).await;
    assert_eq!(settled(&world).await, [30]);
}
