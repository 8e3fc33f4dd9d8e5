//! Files that were damaged, cut or removed.

use super::*;

/// Length of an entry of [`spooled`].
const ENTRY: usize = frame::HEADER + 9;

/// A directory with entries `a`, `b` ... in files of a few, of which the first are confirmed.
fn spooled(entries: u8, confirmed: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let before = Spool::open(Options { segment_bytes: 3 * ENTRY as u64, ..options(dir.path()) }).unwrap();
    for id in (b'a'..).take(entries.into()) {
        before.append(&event(&char::from(id).to_string())).unwrap();
    }
    if confirmed > 0 {
        before.read(None, usize::MAX).unwrap();
        before.confirm(Position(confirmed)).unwrap();
    }
    dir
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn file(dir: &Path, first: u64) -> PathBuf {
    segments::Segment::new(dir, first).path
}

#[track_caller]
fn left(dir: &Path, entries: &[&str], damages: u64) {
    let spool = spool(dir);
    assert_eq!(ids(&spool.read(None, 100).unwrap()), entries);
    assert_eq!(ids(&spool.read(None, 100).unwrap()), entries);
    assert_eq!(spool.damages(), damages, "each place once, however often it is read");
}

#[test]
fn damage_costs_the_entry_that_was_hit_and_is_counted() {
    let dir = spooled(3, 0);
    change(&last(dir.path()), |bytes| bytes[ENTRY + 12] ^= 0xff);
    left(dir.path(), &["a", "c"], 1);
}

#[test]
fn damage_among_what_is_confirmed_costs_none_of_what_is_not() {
    let dir = spooled(3, 2);
    change(&last(dir.path()), |bytes| bytes[12] ^= 0xff);
    left(dir.path(), &["c"], 0);
    let dir = spooled(3, 1);
    change(&last(dir.path()), |bytes| bytes[..2 * ENTRY].fill(0xff));
    left(dir.path(), &["c"], 1);
}

#[test]
fn what_was_damaged_does_not_wait_for_ever() {
    let dir = spooled(3, 0);
    change(&last(dir.path()), |bytes| bytes[12] ^= 0xff);
    let spool = spool(dir.path());
    let newest = spool.read(None, 100).unwrap().pop().unwrap().position;
    spool.confirm(newest).unwrap();
    assert_eq!(spool.waiting_bytes(), 0);
}

#[test]
fn a_file_that_is_gone_before_it_was_read_is_counted() {
    let dir = spooled(9, 0);
    fs::remove_file(file(dir.path(), 4)).unwrap();
    left(dir.path(), &["a", "b", "c", "g", "h", "i"], 1);
    let dir = spooled(9, 1);
    fs::remove_file(file(dir.path(), 1)).unwrap();
    left(dir.path(), &["d", "e", "f", "g", "h", "i"], 1);
}

#[test]
fn a_file_that_was_emptied_is_counted() {
    let dir = spooled(9, 0);
    change(&file(dir.path(), 4), |bytes| bytes.truncate(ENTRY));
    left(dir.path(), &["a", "b", "c", "d", "g", "h", "i"], 1);
    let dir = spooled(3, 1);
    change(&last(dir.path()), Vec::clear);
    left(dir.path(), &[], 1);
}

#[test]
fn a_spool_without_any_file_although_some_were_confirmed_is_counted_as_damaged() {
    let dir = spooled(3, 1);
    fs::remove_file(last(dir.path())).unwrap();
    left(dir.path(), &[], 1);
}

#[test]
fn what_is_no_file_stops_the_start_and_is_named() {
    for name in ["00000000000000000007.log", "open", "confirmed", "lock"] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(name)).unwrap();
        let error = Spool::open(options(dir.path())).unwrap_err().to_string();
        assert!(error.contains(&format!("{name}: Is a directory")), "{error}");
    }
}
