use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;

const NOW: i64 = 1_000;

prop_compose! {
    /// Of a few budgets and operations; now and then dated by a clock that was wrong.
    fn any_entry()(
        budget in 0..3_u8,
        kind in 1..=8_i64,
        amount in -50..50_i64,
        source in 0..6_u8,
        created_at in prop_oneof![8 => 0..NOW, 1 => NOW + 1..2 * NOW],
    ) -> Entry {
        let budget_id = budget.to_string();
        let account = AccountKey { tenant_id: "acme".to_owned(), budget_id, period_id: "2026-11".to_owned() };
        let source_id = if source == 0 { String::new() } else { source.to_string() };
        Entry { entry_id: 0, account, kind, amount, source_id, created_at }
    }
}

/// In the order of their ids, which is nearly that of their times.
fn any_entries() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec(any_entry(), 0..60).prop_map(|mut entries| {
        entries.sort_by_key(|entry| entry.created_at / 100);
        for (entry, entry_id) in entries.iter_mut().zip(1..) {
            entry.entry_id = entry_id;
        }
        entries
    })
}

/// All chunks of so many entries.
fn chunks(entries: &[Entry], at_once: usize, bounds: Bounds) -> Vec<Chunk> {
    let (mut chunks, mut position) = (Vec::new(), 0);
    loop {
        let next = entries.iter().filter(|entry| entry.entry_id > position).take(at_once);
        let next: Vec<Entry> = next.cloned().collect();
        let full = next.len() == at_once;
        let chunk = Chunk::cut(next, full, bounds);
        assert!(chunk.position.is_none_or(|after| after > position), "it goes on");
        position = chunk.position.unwrap_or(position);
        let more = chunk.more;
        chunks.push(chunk);
        if !more {
            return chunks;
        }
    }
}

fn sums<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeMap<(AccountKey, i64), i64> {
    let mut sums = BTreeMap::new();
    for entry in entries {
        *sums.entry((entry.account.clone(), entry.kind)).or_insert(0) += entry.amount;
    }
    sums
}

proptest! {
    #[test]
    fn however_many_at_once_what_goes_and_what_stays_come_to_what_there_was(
        entries in any_entries(), at_once in 1..20_usize, before in 0..NOW
    ) {
        let bounds = Bounds { before, now: NOW };
        let chunks = chunks(&entries, at_once, bounds);
        let gone: Vec<&Entry> = chunks.iter().flat_map(|chunk| &chunk.old).collect();
        let mut left = VecDeque::from_iter(&entries);
        left.retain(|entry| gone.iter().all(|gone| gone.entry_id != entry.entry_id));
        prop_assert_eq!(left.len() + gone.len(), entries.len(), "each goes once");
        let mut carried = sums(left.into_iter());
        for (key, sum) in chunks.iter().flat_map(Chunk::sums) {
            *carried.entry(key).or_insert(0) += sum.amount;
        }
        prop_assert_eq!(carried, sums(entries.iter()));
    }

    #[test]
    fn what_goes_is_old_and_no_limit_and_all_such_before_the_first_young_one_goes(
        entries in any_entries(), at_once in 1..20_usize, before in 0..NOW
    ) {
        let bounds = Bounds { before, now: NOW };
        let young = |entry: &&Entry| (before..=NOW).contains(&entry.created_at);
        let first = entries.iter().find(young);
        let end = first.map_or(i64::MAX, |entry| entry.entry_id);
        let due = |entry: &&Entry| entry.entry_id < end && entry.created_at < before && entry.kind != 1;
        let due: Vec<i64> = entries.iter().filter(due).map(|entry| entry.entry_id).collect();
        let chunks = chunks(&entries, at_once, bounds);
        let gone: Vec<i64> = chunks.iter().flat_map(|chunk| &chunk.old).map(|entry| entry.entry_id).collect();
        prop_assert_eq!(gone, due);
        let oldest = chunks.last().and_then(|chunk| chunk.oldest);
        prop_assert_eq!(oldest, first.map(|entry| entry.created_at));
    }
}

#[test]
fn an_operation_goes_with_its_entries_and_a_reservations_with_the_reservation() {
    let account = AccountKey {
        tenant_id: "acme".to_owned(),
        budget_id: "daily".to_owned(),
        period_id: "2026-11".to_owned(),
    };
    let entry = |kind: Kind, source_id: &str| Entry {
        entry_id: 1,
        account: account.clone(),
        kind: number(kind),
        amount: 1,
        source_id: source_id.to_owned(),
        created_at: 1,
    };
    let entries = vec![
        entry(Kind::Settle, "s1"),
        entry(Kind::Settle, "s1"),
        entry(Kind::WriteOff, "s2"),
        entry(Kind::Grant, "g1"),
        entry(Kind::Return, "b1"),
        entry(Kind::Return, ""),
        entry(Kind::Reserve, "r1"),
        entry(Kind::Release, "s3"),
        entry(Kind::Limit, "t1"),
    ];
    let chunk = Chunk::cut(entries, false, Bounds { before: 2, now: 3 });
    let operations: Vec<_> = chunk.operations().into_iter().collect();
    assert_eq!(operations, [("grant", "g1"), ("return", "b1"), ("settle", "s1")]);
}
