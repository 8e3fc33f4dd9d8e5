//! A disk that takes nothing for a while.

use super::*;
use prost::Message as _;
use std::sync::Arc;

/// A spool that begins a file with each entry but the first, which the disk refuses while something else has its name.
struct Refusing {
    dir: tempfile::TempDir,
    spool: Arc<Spool>,
    in_the_way: PathBuf,
}

impl Refusing {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::open(Options { segment_bytes: 1, ..options(dir.path()) }).unwrap();
        let in_the_way = segments::Segment::new(dir.path(), 2).path;
        spool.append(&event("first")).unwrap();
        fs::create_dir(&in_the_way).unwrap();
        Self { dir, spool: Arc::new(spool), in_the_way }
    }

    fn takes_again(&self) {
        fs::remove_dir(&self.in_the_way).unwrap();
    }
}

#[test]
fn what_the_disk_refused_is_written_once_it_can_be_and_requests_are_taken_again() {
    let disk = Refusing::new();
    let accounts = [disk.spool.open(&event("a")).unwrap(), disk.spool.open(&event("b")).unwrap()];
    accounts.into_iter().zip(["a", "b"]).for_each(|(account, id)| disk.spool.close(account, &event(id)));
    let why = disk.spool.open(&event("refused")).unwrap_err();
    assert_eq!(
        why.to_string(),
        "the local usage log cannot be written (entity already exists); 2 accounts wait in memory for the disk"
    );
    assert_eq!((disk.spool.retry(), disk.spool.check()), (2, Err(why)));
    disk.takes_again();
    assert_eq!((disk.spool.retry(), disk.spool.check()), (0, Ok(())));
    let _account = disk.spool.open(&event("taken")).unwrap();
    assert_eq!(ids(&disk.spool.read(None, 9).unwrap()), ["first", "a", "b"]);
}

#[test]
fn what_the_disk_refused_is_not_lost_when_the_process_dies() {
    let disk = Refusing::new();
    let account = disk.spool.open(&event("a")).unwrap();
    let Refusing { dir, spool: before, in_the_way } = disk;
    before.close(account, &UsageEvent { scene: "as it ended".to_owned(), ..event("a") });
    drop(before);
    fs::remove_dir(in_the_way).unwrap();
    let after = spool(dir.path());
    let entries = after.read(None, 9).unwrap();
    assert_eq!(ids(&entries), ["first", "a"]);
    assert_eq!(UsageEvent::decode(entries[1].payload.as_slice()).unwrap().scene, "as it ended");
}

#[test]
fn drafts_stay_where_they_are_while_the_disk_is_full_also_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let before = spool(dir.path());
    let (closed, _died) = (before.open(&event("closed")).unwrap(), before.open(&event("died")).unwrap());
    before.close(closed, &event("closed"));
    drop(before);
    let file = last(dir.path());
    let closed = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/dev/full", &file).unwrap();
    for _ in 0..3 {
        let full = spool(dir.path());
        let why = LogFull::Refused { why: io::ErrorKind::StorageFull, accounts: 1 };
        assert_eq!((full.check(), full.retry()), (Err(why), 1));
    }
    fs::remove_file(&file).unwrap();
    fs::write(&file, closed).unwrap();
    for _ in 0..2 {
        assert_eq!(ids(&spool(dir.path()).read(None, 9).unwrap()), ["closed", "died"]);
    }
}

#[test]
fn a_request_is_refused_when_there_is_no_room_for_its_draft() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", dir.path().join("open")).unwrap();
    // Forgetting the drafts of before is not possible there, and not needed.
    let spool = spool(dir.path());
    let why = LogFull::Refused { why: io::ErrorKind::StorageFull, accounts: 0 };
    assert_eq!(spool.open(&event("e")).unwrap_err(), why);
    spool.append(&event("whole")).unwrap();
}
