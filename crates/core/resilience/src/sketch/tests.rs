use super::*;
use proptest::prelude::*;

fn millis(value: u64) -> Duration {
    Duration::from_millis(value)
}

fn sketch_of(latencies: &[Duration]) -> Sketch {
    let mut sketch = Sketch::new();
    for latency in latencies {
        sketch.record(*latency);
    }
    sketch
}

/// Within 2 %, and a trace for the rounding of numbers.
fn close(value: Duration, exact: Duration) -> bool {
    (value.as_secs_f64() - exact.as_secs_f64()).abs() <= exact.as_secs_f64() * (ERROR + 1e-9) + 1e-9
}

#[test]
fn the_buckets_are_those_of_two_per_cent() {
    assert!((LN_GAMMA - ((1.0 + ERROR) / (1.0 - ERROR)).ln()).abs() < 1e-14);
    assert!(value(BUCKETS - 1) > Duration::from_secs(5900));
}

#[test]
fn quantiles_are_right_to_two_per_cent() {
    let all: Vec<_> = (1..=1000).map(millis).collect();
    let quantiles = sketch_of(&all).quantiles().unwrap();
    assert!(close(quantiles.p50, millis(500)), "{quantiles:?}");
    assert!(close(quantiles.p95, millis(950)), "{quantiles:?}");
    assert!(close(quantiles.p99, millis(990)), "{quantiles:?}");
}

#[test]
fn an_empty_sketch_has_no_quantile_and_no_bytes() {
    let empty = Sketch::new();
    assert!(empty.is_empty());
    assert_eq!(empty.quantiles(), None);
    assert!(empty.encode().is_empty());
    assert_eq!(Sketch::decode(&[]), Ok(empty));
}

#[test]
fn extremes_count_as_the_shortest_and_the_longest() {
    let sketch = sketch_of(&[Duration::ZERO, Duration::MAX]);
    assert!(sketch.quantile(0.0).unwrap() < Duration::from_micros(103));
    assert!(sketch.quantile(1.0).unwrap() > Duration::from_secs(5900));
    assert_eq!(sketch.quantile(f64::NAN), sketch.quantile(0.0));
    assert_eq!(sketch.quantile(7.0), sketch.quantile(1.0));
}

#[test]
fn the_least_quantile_is_the_quickest_call() {
    assert!(close(sketch_of(&[millis(700), millis(900)]).quantile(0.0).unwrap(), millis(700)));
}

#[test]
fn the_bytes_are_as_documented() {
    let mut sketch = Sketch::new();
    sketch.counts[3] = 1;
    sketch.counts[4] = 300;
    assert_eq!(sketch.encode(), [1, 3, 1, 0, 0xac, 0x02]);
    assert_eq!(Sketch::decode(&[1, 3, 1, 0, 0xac, 0x02]), Ok(sketch));
}

#[test]
fn bytes_that_are_no_sketch_say_what_is_wrong() {
    for (bytes, error) in [
        (&[2][..], SketchError::UnknownVersion(2)),
        (&[1, 0], SketchError::MalformedNumber),
        (&[1, 0x80], SketchError::MalformedNumber),
        (&[1, 0, 0xff, 0xff, 0xff, 0xff, 0x7f], SketchError::MalformedNumber),
        (&[1, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00], SketchError::MalformedNumber),
        (&[1, 0xc0, 0x03, 1], SketchError::NoSuchBucket),
        (&[1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1], SketchError::NoSuchBucket),
    ] {
        assert_eq!(Sketch::decode(bytes), Err(error), "{bytes:?}");
    }
    assert_eq!(Sketch::decode(&[1, 0xbf, 0x03, 1]).unwrap().count(), 1);
}

#[test]
fn a_full_bucket_stays_full() {
    let mut sketch = sketch_of(&[millis(1)]);
    *sketch.counts = [u32::MAX; BUCKETS];
    sketch.record(millis(1));
    sketch.merge(&sketch.clone());
    assert_eq!(sketch.count(), u64::from(u32::MAX) * BUCKETS as u64);
    assert_eq!(Sketch::decode(&sketch.encode()), Ok(sketch));
}

fn latencies() -> impl Strategy<Value = Vec<Duration>> {
    prop::collection::vec((100u64..6_000_000_000).prop_map(Duration::from_micros), 1..200)
}

proptest! {
    #[test]
    fn every_quantile_is_within_two_per_cent_of_the_exact_one(mut all in latencies(), share in 0.0f64..=1.0) {
        let value = sketch_of(&all).quantile(share).unwrap();
        all.sort_unstable();
        let rank = ((share * all.len() as f64).ceil() as usize).clamp(1, all.len());
        prop_assert!(close(value, all[rank - 1]), "{:?} for {:?}", value, all[rank - 1]);
    }

    #[test]
    fn merged_replicas_are_one_sketch_of_all_calls(mut ours in latencies(), theirs in latencies()) {
        let mut merged = sketch_of(&ours);
        merged.merge(&sketch_of(&theirs));
        ours.extend(theirs);
        prop_assert_eq!(merged, sketch_of(&ours));
    }

    #[test]
    fn bytes_bring_the_same_sketch_back(all in latencies()) {
        let sketch = sketch_of(&all);
        prop_assert_eq!(Sketch::decode(&sketch.encode()), Ok(sketch));
    }

    #[test]
    fn no_bytes_panic_and_what_they_say_is_kept(mut bytes in prop::collection::vec(any::<u8>(), 0..300), valid: bool) {
        if valid && !bytes.is_empty() {
            bytes[0] = 1;
        }
        if let Ok(sketch) = Sketch::decode(&bytes) {
            prop_assert_eq!(Sketch::decode(&sketch.encode()), Ok(sketch));
        }
    }
}
