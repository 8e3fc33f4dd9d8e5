use crate::{
    record::{Address, Kept, Record, What},
    shard::Shard,
};
use signalbox_ports::cache::{Digest, Entry, Partition};
use std::sync::Arc;

const LIMIT: usize = 256 << 10;

fn digest(number: u64) -> Digest {
    Digest(u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_be_bytes())
}

fn record(number: u64, fingerprint: u64, bytes: usize, worth: i64) -> (Address, Record) {
    let one = Digest::default();
    let partition = Partition { tenant: one, task: one, locale: one, fingerprint: digest(fingerprint) };
    let entry = Entry {
        key: digest(number),
        partition,
        epochs: Vec::new(),
        sealed: vec![1; bytes],
        vector: None,
        worth,
    };
    let what = What::Entry(Arc::new(Kept::new(&entry, 0, number)));
    let record = Record { what, stored: number, expires: number + 50_000, worth, hits: 0, row: None };
    (Address { tenant: partition.tenant, key: entry.key }, record)
}

#[test]
fn what_is_used_is_what_is_there_and_never_more_than_the_limit() {
    let mut shard = Shard::new(LIMIT);
    let mut most = 0;
    for number in 0..60_000_u64 {
        let random = number.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 17;
        // First many small ones, then few large ones, then small ones again.
        let size = if (20_000..40_000).contains(&number) { 20_000 } else { 40 };
        let (address, record) = record(number, random % 50, (random % size) as usize, 1);
        let vector = (random % 3 == 0).then(|| vec![1.0; 1 + (random % 50) as usize % 2 * 31]);
        shard.insert(address, record, vector.as_deref(), number);
        if random % 5 == 0 {
            shard.remove(&Address { key: digest(number - random % number.max(1) % 500), ..address });
        }
        most = most.max(shard.used());
        assert!(shard.used() <= LIMIT, "{} after {number}", shard.used());
        if number % 500 == 0 {
            assert_eq!(shard.used(), shard.counted());
        }
    }
    assert!(most > LIMIT * 9 / 10, "the room there is is used: {most}");
    while shard.len() > 0 {
        shard.remove_at(0);
    }
    assert_eq!(shard.used(), shard.counted());
    assert!(shard.used() < LIMIT / 20, "an empty store gives back what it took: {}", shard.used());
}

#[test]
fn what_has_expired_goes_before_what_has_not() {
    let mut shard = Shard::new(LIMIT);
    for number in 0..100 {
        let (address, record) = record(number, 0, 1000, 1);
        shard.insert(address, record, None, 0);
    }
    let later = 50_000 + 50;
    for number in 0..90_u64 {
        let (address, mut record) = record(1000 + number, 0, 1000, 1);
        record.expires = later + 1000;
        shard.insert(address, record, None, later);
    }
    let kept = (0..90).filter(|number| shard.hit(&record(1000 + number, 0, 0, 0).0, later).is_some()).count();
    assert_eq!(kept, 90);
    assert!(shard.len() < 190, "and storing takes some of them away: {}", shard.len());
}

#[test]
fn what_is_worth_more_or_is_asked_for_more_stays_longer() {
    for (worth, hits) in [(1_000, 0), (1, 1_000)] {
        let mut shard = Shard::new(LIMIT);
        for number in 0..2_000_u64 {
            let (address, mut record) = record(number, 0, 1000, if number % 10 == 0 { worth } else { 1 });
            record.stored = 0;
            record.hits = if number % 10 == 0 { hits } else { 0 };
            shard.insert(address, record, None, 1);
        }
        let left = |tenth: bool| {
            let left = (0..shard.len()).filter_map(|index| shard.record_at(index));
            left.filter(|(_, record)| (record.worth > 1 || record.hits > 1) == tenth).count()
        };
        assert!(
            left(true) * 9 > left(false) * 10,
            "{} of 200 good ones and {} of 1800 others",
            left(true),
            left(false)
        );
    }
}

#[test]
fn one_entry_never_takes_half_of_the_room() {
    let mut shard = Shard::new(LIMIT);
    let (address, small) = record(1, 0, 1000, 1);
    assert!(shard.insert(address, small, None, 0));
    let (large, record) = record(2, 0, LIMIT / 2, 1_000_000);
    assert!(!shard.insert(large, record, None, 0));
    assert!(shard.hit(&address, 0).is_some(), "and takes nobody's place");
}
