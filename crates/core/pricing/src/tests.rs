use super::*;
use proptest::prelude::*;
use signalbox_types::{Lane, ModelRef, Money, Part, Prompt, TokenUsage};
use std::time::{Duration, UNIX_EPOCH};

mod costs;
mod estimates;

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn rate(text: &str) -> Rate {
    Rate::from_usd_per_mtok(text).unwrap()
}

#[test]
fn a_day_reads_shows_and_follows_the_calendar() {
    assert_eq!(day("1970-01-01"), Day::of(UNIX_EPOCH));
    assert_eq!(day("2026-11-29"), Day::of(UNIX_EPOCH + Duration::from_secs(1_795_987_000)));
    assert_eq!(day("2028-02-29").to_string(), "2028-02-29");
    for wrong in [
        "2026-11-31",
        "2027-02-29",
        "2026-13-01",
        "2026-00-10",
        "26-11-29",
        "2026-11",
        "2026/11/29",
        "+026-11-29",
        "",
    ] {
        assert!(Day::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_rate_is_kept_exactly() {
    for (text, pico) in [
        ("2.5", 2_500_000),
        ("0.000001", 1),
        ("10", 10_000_000),
        (".5", 500_000),
        ("1e-3", 1_000),
        ("1.50e2", 150_000_000),
    ] {
        assert_eq!(rate(text).pico_usd(), pico, "{text}");
    }
    assert_eq!(rate("0.10").to_string(), "0.1");
    assert_eq!(rate("30").to_string(), "30");
    for wrong in
        ["-1", "NaN", ".inf", "1e99", "0.0000001", "1,5", "", ".", "1e", "1_000", "99999999999999999999"]
    {
        assert!(Rate::from_usd_per_mtok(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_model_is_retired_from_its_shutdown_day_on_whatever_the_catalogue_says() {
    let life =
        Lifecycle { status: ModelStatus::Deprecated, shutdown: Some(day("2026-12-11")), successor: None };
    assert_eq!(life.status_on(day("2026-12-10")), ModelStatus::Deprecated);
    assert_eq!(life.status_on(day("2026-12-11")), ModelStatus::Retired);
    assert!(!life.served_on(day("2027-01-01")));
}

proptest! {
    #[test]
    fn every_day_reads_back_as_it_shows(seconds in 0u64..200_000_000_000) {
        let that_day = Day::of(UNIX_EPOCH + Duration::from_secs(seconds));
        prop_assert_eq!(Day::parse(&that_day.to_string()), Ok(that_day));
    }

    #[test]
    fn every_rate_reads_back_as_it_shows(pico in 0u64..1_000_000_000_000_000) {
        prop_assert_eq!(rate(&Rate::from_pico_usd(pico).to_string()).pico_usd(), pico);
    }

    #[test]
    fn reading_any_text_never_panics(text in ".*") {
        let _ = Day::parse(&text);
        let _ = Rate::from_usd_per_mtok(&text);
        let _ = estimate_tokens(&text);
    }
}
