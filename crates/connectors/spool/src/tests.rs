mod damage;
mod disk;
mod readers;

use super::*;
use proptest::prelude::*;
use prost::Message as _;
use signalbox_api::v1::Decision;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn options(dir: &Path) -> Options {
    Options { dir: dir.to_owned(), max_bytes: 1 << 20, segment_bytes: 256, readers: &[] }
}

fn spool(dir: &Path) -> Spool {
    Spool::open(options(dir)).unwrap()
}

fn event(id: &str) -> UsageEvent {
    UsageEvent { event_id: id.to_owned(), tenant_id: "acme".to_owned(), ..UsageEvent::default() }
}

fn ids(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| UsageEvent::decode(entry.payload.as_slice()).unwrap().event_id).collect()
}

fn last(dir: &Path) -> PathBuf {
    segments::Segment::all(dir).unwrap().pop().unwrap().path
}

#[test]
fn entries_come_in_order_until_they_are_confirmed_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    for number in 0..50 {
        before.append(&event(&format!("e{number}"))).unwrap();
    }
    let entries = before.read(None, 20).unwrap();
    assert!(entries.iter().all(|entry| !entry.again));
    assert_eq!(ids(&entries)[19], "e19");
    before.confirm(entries[9].position).unwrap();
    let rest = before.read(Some(entries[19].position), 100).unwrap();
    assert_eq!(rest.len(), 30);
    drop(before);

    let after = spool(dir.path());
    let entries = after.read(None, 100).unwrap();
    assert_eq!(ids(&entries)[0], "e10");
    assert_eq!(entries.len(), 40);
    assert!(entries.iter().all(|entry| entry.again), "the process before may have sent them on");
    after.append(&event("new")).unwrap();
    assert!(!after.read(Some(entries[39].position), 1).unwrap()[0].again);
}

#[test]
fn what_was_read_and_not_confirmed_is_read_again_from_its_first_entry() {
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    for number in 0..20 {
        spool.append(&event(&format!("e{number}"))).unwrap();
    }
    for _ in 0..3 {
        assert_eq!(ids(&spool.read(None, 1).unwrap()), ["e0"]);
    }
    let all = spool.read(None, 100).unwrap();
    assert_eq!((all.len(), all[0].again), (20, true));
    assert_eq!(ids(&spool.read(None, 100).unwrap()), ids(&all));
}

#[test]
fn what_is_confirmed_takes_no_room_on_the_disk_and_positions_are_never_used_again() {
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    for number in 0..200 {
        before.append(&event(&format!("e{number}"))).unwrap();
    }
    let newest = before.read(None, 1000).unwrap().pop().unwrap().position;
    before.confirm(newest).unwrap();
    assert_eq!(before.waiting_bytes(), 0);
    assert_eq!(segments::Segment::all(dir.path()).unwrap().len(), 1);
    drop(before);
    fs::remove_file(last(dir.path())).unwrap();

    let after = spool(dir.path());
    assert_eq!(after.waiting_bytes(), 0);
    after.append(&event("next")).unwrap();
    assert!(after.read(None, 1).unwrap()[0].position > newest);
}

#[test]
fn a_request_whose_process_died_is_accounted_for_by_its_last_draft() {
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    let (died, closed) = (before.open(&event("died")).unwrap(), before.open(&event("closed")).unwrap());
    before.revise(&died, &UsageEvent { scene: "calling".to_owned(), ..event("died") });
    before.close(closed, &event("closed"));
    drop(before);

    let after = spool(dir.path());
    let entries = after.read(None, 10).unwrap();
    assert_eq!(ids(&entries), ["closed", "died"]);
    let told = UsageEvent::decode(entries[1].payload.as_slice()).unwrap();
    assert_eq!(told.scene, "calling");
    assert!(told.end_time.is_some() && entries[1].again);
    drop(after);
    assert_eq!(ids(&spool(dir.path()).read(None, 10).unwrap()).len(), 2, "once, however often it is opened");
}

#[test]
fn a_process_that_died_between_closing_an_account_and_removing_its_draft_tells_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    let account = before.open(&event("e")).unwrap();
    before.write(entry(&event("e"), None));
    drop((before, account));
    assert_eq!(ids(&spool(dir.path()).read(None, 10).unwrap()), ["e"]);
}

#[test]
fn a_draft_that_does_not_fit_keeps_what_must_be_paid() {
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    let decision = Some(Decision { requested: "x".repeat(9000), ..Decision::default() });
    let _account = before.open(&UsageEvent { decision, ..event("long") }).unwrap();
    drop(before);
    assert_eq!(ids(&spool(dir.path()).read(None, 10).unwrap()), ["long"]);
}

#[test]
fn a_full_spool_refuses_new_accounts_and_closes_open_ones() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(Options { max_bytes: 3 * ROOM, ..options(dir.path()) }).unwrap();
    let accounts: Vec<_> = (0..3).map(|number| spool.open(&event(&format!("e{number}"))).unwrap()).collect();
    let full = LogFull::Waiting { used_bytes: 0, max_bytes: 3 * ROOM };
    assert_eq!(spool.open(&event("one too many")).unwrap_err(), full);
    spool.append(&event("no")).unwrap_err();
    for account in accounts {
        spool.close(account, &UsageEvent { reference: "r".repeat(9_000), ..event("closed") });
    }
    spool.open(&event("still full")).unwrap_err();
    let entries = spool.read(None, 10).unwrap();
    assert_eq!(entries.len(), 3);
    spool.confirm(entries[2].position).unwrap();
    let _account = spool.open(&event("room again")).unwrap();
}

#[test]
fn two_processes_cannot_share_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let _first = spool(dir.path());
    let second = Spool::open(options(dir.path())).unwrap_err().to_string();
    assert!(second.ends_with("is in use by another process; give each its own usage.spool.dir"), "{second}");
}

#[test]
fn an_entry_that_was_cut_by_a_crash_is_dropped_and_the_next_one_follows_the_last_whole_one() {
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    before.append(&event("whole")).unwrap();
    before.append(&event("cut")).unwrap();
    drop(before);
    let file = fs::OpenOptions::new().write(true).open(last(dir.path())).unwrap();
    file.set_len(file.metadata().unwrap().len() - 3).unwrap();
    let after = spool(dir.path());
    after.append(&event("next")).unwrap();
    assert_eq!(ids(&after.read(None, 10).unwrap()), ["whole", "next"]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_wakes_when_something_was_written_and_else_when_its_patience_ends() {
    let dir = tempfile::tempdir().unwrap();
    let spool = spool(dir.path());
    let started = tokio::time::Instant::now();
    spool.wait(Duration::from_secs(5)).await;
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    spool.append(&event("e")).unwrap();
    spool.wait(Duration::from_secs(5)).await;
    assert_eq!(started.elapsed(), Duration::from_secs(5));
}

#[derive(Debug, Clone)]
enum Step {
    Open,
    Close,
    Append,
    Read,
    Confirm,
    Die,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Open), 3 => Just(Step::Close), 3 => Just(Step::Append),
        2 => Just(Step::Read), 2 => Just(Step::Confirm), 1 => Just(Step::Die)
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_dies_when_every_account_is_told_once(steps in steps()) {
        let dir = tempfile::tempdir().unwrap();
        let mut current = spool(dir.path());
        let (mut made, mut open, mut told, mut read) = (0, Vec::new(), BTreeMap::new(), Vec::new());
        for step in steps {
            match step {
                Step::Open => {
                    made += 1;
                    open.push((current.open(&event(&made.to_string())).unwrap(), made));
                }
                Step::Close => {
                    if let Some((account, id)) = open.pop() {
                        current.close(account, &event(&id.to_string()));
                    }
                }
                Step::Append => {
                    made += 1;
                    current.append(&event(&made.to_string())).unwrap();
                }
                Step::Read => {
                    let after = read.last().map(|entry: &Entry| entry.position);
                    read.extend(current.read(after, 3).unwrap());
                }
                Step::Confirm => {
                    if let Some(newest) = read.last() {
                        current.confirm(newest.position).unwrap();
                        read.drain(..).for_each(|entry| *told.entry(entry.position).or_insert(0) += 1);
                    }
                }
                Step::Die => {
                    (open, read) = (Vec::new(), Vec::new());
                    drop(current);
                    current = spool(dir.path());
                }
            }
        }
        drop(current);
        let rest = spool(dir.path()).read(None, usize::MAX).unwrap();
        rest.iter().for_each(|entry| *told.entry(entry.position).or_insert(0) += 1);
        prop_assert_eq!(told.len(), made);
        prop_assert!(told.values().all(|times| *times == 1));
    }
}
