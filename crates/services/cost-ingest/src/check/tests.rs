use super::*;
use crate::samples::{NOW, id, sent};
use proptest::prelude::*;
use prost_types::Timestamp;
use signalbox_api::v1::{Cost, TokenUsage};

fn verdict(change: impl FnOnce(&mut UsageEvent)) -> Result<UsageEvent, (Reason, String)> {
    let mut event = sent("e1");
    change(&mut event);
    read(&event.encode_to_vec(), *NOW).map_err(|rejected| (rejected.reason, rejected.detail))
}

fn refused(reason: Reason, detail: &str, change: impl FnOnce(&mut UsageEvent)) {
    let (found, told) = verdict(change).expect_err(detail);
    assert_eq!(found, reason, "{told}");
    assert!(told.starts_with(detail), "`{told}` does not begin with `{detail}`");
}

fn attempt(event: &mut UsageEvent) -> &mut signalbox_api::v1::Attempt {
    event.attempts[0].attempt.as_mut().unwrap()
}

#[test]
fn a_good_account_comes_through_unchanged() {
    assert_eq!(verdict(|_| {}).unwrap(), sent("e1"));
    verdict(|event| {
        event.attempts.clear();
        event.cost = None;
        event.usage = None;
    })
    .expect("a request refused before any call costs nothing");
    verdict(|event| event.tenant_id.clear()).expect("without authentication nobody need say who pays");
    verdict(|event| {
        attempt(event).cost = Some(Cost { unknown: true, ..Cost::default() });
        event.cost = Some(Cost { unknown: true, ..Cost::default() });
    })
    .expect("a cost may be unknown");
}

#[test]
fn what_is_no_account_is_malformed_and_named_as_far_as_it_can_be_read() {
    let mut payload = sent("e1").encode_to_vec();
    payload.truncate(payload.len() - 1);
    let rejected = read(&payload, *NOW).unwrap_err();
    assert_eq!(rejected.reason, Reason::Malformed);
    assert_eq!((rejected.event_id.as_str(), rejected.tenant_id.as_str()), (id("e1").as_str(), "acme"));
    assert_eq!(read(b"\xff\xff\xff", *NOW).unwrap_err().reason, Reason::Malformed);
    assert_eq!(read(b"", *NOW).unwrap_err().reason, Reason::InvalidValue);
}

#[test]
fn a_future_version_is_not_guessed_at() {
    refused(Reason::FutureVersion, "schema_version: is 2, this version knows 1", |event| {
        event.schema_version = 2;
        event.lane = 99;
    });
}

#[test]
fn unknown_values_of_enumerations_are_named_by_their_field() {
    let unknown = |detail: &str, change: fn(&mut UsageEvent)| refused(Reason::UnknownEnum, detail, change);
    unknown("lane: 99 is not a value", |event| event.lane = 99);
    unknown("outcome: -1 is not a value", |event| event.outcome = -1);
    unknown("usage.source: 9 is not", |event| event.usage.as_mut().unwrap().source = 9);
    unknown("attempts[0].kind: 77 is not", |event| event.attempts[0].kind = 77);
    unknown("attempts[0].attempt.cause: 77 is not", |event| attempt(event).cause = 77);
}

#[test]
fn absurd_and_missing_values_are_named_by_their_field() {
    let absurd = |detail: &str, change: fn(&mut UsageEvent)| refused(Reason::InvalidValue, detail, change);
    absurd("schema_version: is missing", |event| event.schema_version = 0);
    absurd("event_id: is missing", |event| event.event_id.clear());
    absurd("event_id: is no UUID", |event| event.event_id = "hello".to_owned());
    absurd("request_id: is missing", |event| event.request_id.clear());
    absurd("operation: is missing", |event| event.operation = 0);
    absurd("outcome: is missing", |event| event.outcome = 0);
    absurd("scene: has 1025 bytes", |event| event.scene = "x".repeat(1025));
    absurd("end_time: is missing", |event| event.end_time = None);
    absurd("end_time: is not a time", |event| {
        event.end_time = Some(Timestamp { seconds: i64::MAX, nanos: 0 });
    });
    absurd("start_time: is not a time", |event| event.start_time.as_mut().unwrap().nanos = -5);
    absurd("end_time: is more than a day ahead", |event| event.end_time.as_mut().unwrap().seconds += 200_000);
    absurd("start_time: is more than two years ago", |event| {
        event.start_time.as_mut().unwrap().seconds -= 3 * 366 * 86_400;
    });
    absurd("end_time: is before start_time", |event| event.end_time.as_mut().unwrap().seconds -= 2);
    absurd("latency: is negative", |event| event.latency.as_mut().unwrap().seconds = -1);
    absurd("usage.output_tokens: is 9999999999", |event| {
        event.usage = Some(TokenUsage { output_tokens: 9_999_999_999, ..TokenUsage::default() });
    });
    absurd("attempts[0].attempt: is missing", |event| event.attempts[0].attempt = None);
    absurd("attempts[0].attempt.vendor: is missing", |event| attempt(event).vendor.clear());
}

#[test]
fn money_that_cannot_be_right_is_not_stored() {
    let absurd = |detail: &str, change: fn(&mut UsageEvent)| refused(Reason::InvalidValue, detail, change);
    absurd("cost.nano_eur: is -5, must not be negative", |event| {
        event.cost = Some(Cost { nano_eur: -5, ..Cost::default() });
    });
    absurd("cost.nano_eur: is 9223372036854775807, more than a million euros", |event| {
        event.cost = Some(Cost { nano_eur: i64::MAX, ..Cost::default() });
    });
    absurd("cost.nano_eur: is 3, its attempts cost 250000", |event| {
        event.cost.as_mut().unwrap().nano_eur = 3;
    });
    absurd("cost.unknown: is false", |event| attempt(event).cost.as_mut().unwrap().unknown = true);
}

proptest! {
    #[test]
    fn whatever_comes_is_read_or_set_aside(payload: Vec<u8>) {
        let _either = read(&payload, *NOW);
    }

    #[test]
    fn a_flipped_byte_never_brings_a_cost_that_is_not_the_sum(at: usize, bit in 0_u8..8) {
        let mut payload = sent("e1").encode_to_vec();
        let at = at % payload.len();
        payload[at] ^= 1 << bit;
        if let Ok(event) = read(&payload, *NOW) {
            let parts: i64 = event
                .attempts
                .iter()
                .filter_map(|made| Some(made.attempt.as_ref()?.cost.as_ref()?.nano_eur))
                .sum();
            prop_assert_eq!(event.cost.map_or(0, |cost| cost.nano_eur), parts);
        }
    }
}
