//! Two readers of one spool.

use super::*;
use std::sync::Arc;

fn with_ledger(dir: &Path) -> (Arc<Spool>, SpoolOutbox) {
    let spool = Arc::new(Spool::open(Options { readers: &[LEDGER], ..options(dir) }).unwrap());
    let ledger = spool.outbox(LEDGER).unwrap();
    (spool, ledger)
}

fn segments(dir: &Path) -> usize {
    segments::Segment::all(dir).unwrap().len()
}

/// Reads `most` and confirms them.
fn take(outbox: &dyn Outbox, most: usize) -> Vec<String> {
    let entries = outbox.read(None, most).unwrap();
    if let Some(newest) = entries.last() {
        outbox.confirm(newest.position).unwrap();
    }
    ids(&entries)
}

fn numbers(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| number.to_string()).collect()
}

#[test]
fn each_reader_sees_every_entry_and_entries_go_when_the_slower_one_has_them() {
    let dir = tempfile::tempdir().unwrap();
    let (spool, ledger) = with_ledger(dir.path());
    for number in 0..200 {
        spool.append(&event(&number.to_string())).unwrap();
    }
    let (all, files) = (spool.waiting_bytes(), segments(dir.path()));
    assert!(files > 10);
    assert_eq!(take(&*spool, 200), numbers(0..200));
    assert_eq!(
        (spool.waiting_bytes(), segments(dir.path())),
        (all, files),
        "the ledger has seen nothing yet"
    );
    assert_eq!(take(&ledger, 100), numbers(0..100));
    assert!(segments(dir.path()) < files / 2 + 2 && spool.waiting_bytes() < all);
    assert_eq!(take(&ledger, 200), numbers(100..200));
    assert_eq!((spool.waiting_bytes(), segments(dir.path())), (0, 1));
}

#[test]
fn a_spool_is_full_when_the_slowest_reader_is_far_behind() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { readers: &[LEDGER], max_bytes: 4 << 10, ..options(dir.path()) };
    let spool = Arc::new(Spool::open(options).unwrap());
    while spool.append(&event("e")).is_ok() {
        take(&*spool, 1);
    }
    let told = spool.append(&event("e")).unwrap_err().to_string();
    assert!(told.ends_with("of 4096 bytes wait to be taken)"), "{told}");
    take(&spool.outbox(LEDGER).unwrap(), usize::MAX);
    spool.append(&event("e")).unwrap();
}

#[test]
fn each_reader_goes_on_from_its_own_place_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let (spool, ledger) = with_ledger(dir.path());
    for number in 0..30 {
        spool.append(&event(&number.to_string())).unwrap();
    }
    take(&*spool, 20);
    take(&ledger, 5);
    // Read, and not confirmed when the process dies.
    ledger.read(None, 10).unwrap();
    drop((spool, ledger));

    let (spool, ledger) = with_ledger(dir.path());
    let mine = ledger.read(None, 100).unwrap();
    assert!(mine.iter().all(|entry| entry.again));
    assert_eq!(ids(&mine), numbers(5..30));
    assert_eq!(ids(&spool.read(None, 100).unwrap()), numbers(20..30));
    spool.append(&event("30")).unwrap();
    assert!(!ledger.read(Some(mine[24].position), 9).unwrap()[0].again);
    assert_eq!(ledger.last().0, mine[24].position.0 + 1);
}

#[test]
fn a_spool_from_before_is_the_buss_and_a_new_reader_begins_with_what_is_still_there() {
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    assert!(Arc::new(spool(&dir.path().join("other"))).outbox(LEDGER).is_none());
    for number in 0..3 {
        before.append(&event(&number.to_string())).unwrap();
    }
    take(&before, 2);
    drop(before);
    let (spool, ledger) = with_ledger(dir.path());
    assert_eq!(ids(&spool.read(None, 9).unwrap()), ["2"]);
    assert_eq!(take(&ledger, 9), ["0", "1", "2"]);
}

#[test]
fn without_its_reader_a_spool_keeps_nothing_for_it_and_with_it_again_gives_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let (first, ledger) = with_ledger(dir.path());
    first.append(&event("0")).unwrap();
    drop((first, ledger));
    let without = spool(dir.path());
    for number in 1..100 {
        without.append(&event(&number.to_string())).unwrap();
    }
    take(&without, 100);
    assert_eq!((without.waiting_bytes(), segments(dir.path())), (0, 1));
    drop(without);
    let (spool, ledger) = with_ledger(dir.path());
    spool.append(&event("100")).unwrap();
    let told = take(&ledger, 200);
    assert_eq!(told.last().unwrap(), "100");
    assert_eq!((told.contains(&"0".to_owned()), spool.waiting_bytes() > 0), (false, true));
    take(&*spool, 9);
    assert_eq!(spool.waiting_bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_entry_wakes_every_reader() {
    let dir = tempfile::tempdir().unwrap();
    let (spool, ledger) = with_ledger(dir.path());
    spool.append(&event("e")).unwrap();
    let started = tokio::time::Instant::now();
    spool.wait(Duration::from_secs(5)).await;
    ledger.wait(Duration::from_secs(5)).await;
    assert_eq!(started.elapsed(), Duration::ZERO);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn two_readers_of_any_pace_are_told_all_in_order(steps in prop::collection::vec((0..5u8, 1..9usize), 1..80)) {
        let dir = tempfile::tempdir().unwrap();
        let (mut spool, mut ledger) = with_ledger(dir.path());
        let (mut made, mut bus, mut settled) = (0, Vec::new(), Vec::new());
        for (step, count) in steps {
            match step {
                0 | 1 => for _ in 0..count {
                    spool.append(&event(&made.to_string())).unwrap();
                    made += 1;
                },
                2 => bus.extend(take(&*spool, count)),
                3 => settled.extend(take(&ledger, count)),
                _ => {
                    drop((spool, ledger));
                    (spool, ledger) = with_ledger(dir.path());
                }
            }
        }
        bus.extend(take(&*spool, usize::MAX));
        settled.extend(take(&ledger, usize::MAX));
        prop_assert_eq!(&bus, &numbers(0..made));
        prop_assert_eq!(bus, settled);
        prop_assert_eq!((spool.waiting_bytes(), segments(dir.path())), (0, 1));
    }
}
