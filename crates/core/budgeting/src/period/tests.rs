//! Midnights of all kinds.

use super::*;
use proptest::prelude::*;

fn utc(text: &str) -> SystemTime {
    SystemTime::from(text.parse::<Timestamp>().unwrap())
}

fn zone(name: &str) -> Zone {
    Zone::parse(name).unwrap()
}

fn span(period: Period, at: &str, zone_name: &str) -> (String, String, String) {
    let running = period.at(utc(at), &zone(zone_name));
    let text = |time| Timestamp::try_from(time).unwrap().to_string();
    (running.id, text(running.start), text(running.end.unwrap()))
}

fn expect(id: &str, start: &str, end: &str) -> (String, String, String) {
    (id.to_owned(), start.to_owned(), end.to_owned())
}

#[test]
fn a_month_begins_at_the_tenants_midnight() {
    let november = expect("2026-11", "2026-10-31T23:00:00Z", "2026-11-30T23:00:00Z");
    assert_eq!(span(Period::Monthly, "2026-11-30T22:59:59.999999999Z", "Europe/Rome"), november);
    let december = expect("2026-12", "2026-11-30T23:00:00Z", "2026-12-31T23:00:00Z");
    assert_eq!(span(Period::Monthly, "2026-11-30T23:00:00Z", "Europe/Rome"), december);
}

#[test]
fn a_february_has_a_29th_in_a_leap_year_only() {
    let leap = expect("2028-02", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z");
    assert_eq!(span(Period::Monthly, "2028-02-29T23:59:59Z", ""), leap);
    assert_eq!(span(Period::Daily, "2028-02-29T12:00:00Z", "UTC").0, "2028-02-29");
    assert_eq!(span(Period::Monthly, "2027-02-28T23:59:59Z", "").2, "2027-03-01T00:00:00Z");
}

#[test]
fn a_day_on_which_clocks_change_has_23_or_25_hours() {
    let spring = expect("2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
    assert_eq!(span(Period::Daily, "2026-03-29T10:00:00Z", "Europe/Berlin"), spring);
    let autumn = expect("2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
    assert_eq!(span(Period::Daily, "2026-10-25T10:00:00Z", "Europe/Berlin"), autumn);
}

#[test]
fn a_day_whose_midnight_is_skipped_begins_at_its_first_instant() {
    // Clocks in Cairo were put forward at midnight.
    let day = expect("2024-04-26", "2024-04-25T22:00:00Z", "2024-04-26T21:00:00Z");
    assert_eq!(span(Period::Daily, "2024-04-25T22:00:00Z", "Africa/Cairo"), day);
    assert_eq!(span(Period::Daily, "2024-04-25T21:59:59Z", "Africa/Cairo").0, "2024-04-25");
}

#[test]
fn a_midnight_that_comes_twice_counts_the_first_time() {
    // At one in the morning, Havana goes back to midnight.
    let day = expect("2025-11-02", "2025-11-02T04:00:00Z", "2025-11-03T05:00:00Z");
    assert_eq!(span(Period::Daily, "2025-11-02T04:30:00Z", "America/Havana"), day);
    assert_eq!(span(Period::Daily, "2025-11-02T05:30:00Z", "America/Havana"), day);
}

#[test]
fn a_day_that_has_ended_does_not_come_back_when_clocks_are_put_back_over_midnight() {
    // At one past midnight of 7 November 2010, St. John's went back to 23:01 of the 6th.
    let day = expect("2010-11-07", "2010-11-07T02:30:00Z", "2010-11-08T03:30:00Z");
    assert_eq!(span(Period::Daily, "2010-11-07T02:30:30Z", "America/St_Johns"), day);
    assert_eq!(
        span(Period::Daily, "2010-11-07T03:00:00Z", "America/St_Johns"),
        day,
        "the calendar shows the 6th"
    );
}

#[test]
fn a_day_that_never_was_is_no_period() {
    // Samoa went from the 29th to the 31st of December 2011.
    assert_eq!(span(Period::Daily, "2011-12-30T09:59:59Z", "Pacific/Apia").0, "2011-12-29");
    let after = expect("2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z");
    assert_eq!(span(Period::Daily, "2011-12-30T10:00:00Z", "Pacific/Apia"), after);
}

#[test]
fn a_prepaid_budget_has_one_period() {
    let running = Period::Prepaid.at(utc("2026-11-30T00:00:00Z"), &zone("Asia/Tokyo"));
    assert_eq!((running.id.as_str(), running.end), ("prepaid", None));
    assert!(running.contains(utc("2031-01-01T00:00:00Z")));
    assert_eq!(running.elapsed_share(utc("2031-01-01T00:00:00Z")), None);
    assert_eq!(running.left(utc("2031-01-01T00:00:00Z")), None);
}

#[test]
fn half_of_november_has_passed_at_noon_of_its_middle() {
    let running = Period::Monthly.at(utc("2026-11-16T00:00:00Z"), &Zone::utc());
    assert_eq!(running.elapsed_share(utc("2026-11-16T00:00:00Z")), Some(0.5));
    assert_eq!(running.elapsed_share(utc("2026-10-16T00:00:00Z")), Some(0.0));
    assert_eq!(running.elapsed_share(utc("2027-11-16T00:00:00Z")), Some(1.0));
}

#[test]
fn a_zone_that_does_not_exist_is_refused_with_advice() {
    let advice = |name: &str| Zone::parse(name).unwrap_err().to_string();
    assert_eq!(advice("Rome"), "unknown time zone `Rome`; did you mean `Europe/Rome`?");
    assert_eq!(advice("Europe/Tokyo"), "unknown time zone `Europe/Tokyo`; did you mean `Asia/Tokyo`?");
    assert_eq!(
        advice("Mars/Olympus"),
        "unknown time zone `Mars/Olympus`; name one of the IANA's table, as in `Europe/Rome`, or leave it empty for UTC"
    );
    assert!(Zone::parse("Etc/Unknown").is_err());
    assert!(Zone::parse("../../etc/passwd").is_err());
    assert_eq!(zone("").name(), "UTC");
    assert_eq!(zone("europe/rome").name(), "Europe/Rome");
}

#[test]
fn a_tenant_that_moves_west_has_one_longer_day() {
    let running = Period::Daily.at(utc("2026-11-30T00:00:00Z"), &zone("Europe/Rome"));
    let next = running.next_in(Period::Daily, &zone("America/New_York")).unwrap();
    assert_eq!((next.id.as_str(), Some(next.start)), ("2026-12-01", running.end));
    assert_eq!(next.end, Some(utc("2026-12-02T05:00:00Z")), "30 hours");
}

#[test]
fn a_tenant_that_moves_east_has_one_shorter_month() {
    let change = ZoneChange {
        from: zone("America/New_York"),
        to: zone("Asia/Tokyo"),
        at: utc("2026-11-15T00:00:00Z"),
    };
    let at = |instant| Period::Monthly.at_after(utc(instant), &change);
    let november = at("2026-12-01T04:59:59Z");
    assert_eq!((november.id.as_str(), november.end), ("2026-11", Some(utc("2026-12-01T05:00:00Z"))));
    let december = at("2026-12-01T05:00:00Z");
    assert_eq!((december.id.as_str(), Some(december.start)), ("2026-12", november.end));
    assert_eq!(december.end, Some(utc("2026-12-31T15:00:00Z")));
    assert_eq!(at("2026-12-31T15:00:00Z").id, "2027-01");
}

#[test]
fn the_calendars_ends_are_no_panic() {
    let far = UNIX_EPOCH.checked_add(Duration::from_secs(1 << 50)).unwrap();
    for period in [Period::Daily, Period::Monthly] {
        for name in ["Pacific/Kiritimati", "Etc/GMT+12"] {
            let running = period.at(far, &zone(name));
            assert!(running.next_in(period, &zone(name)).is_none_or(|next| next.id > running.id));
        }
    }
}

const ZONES: [&str; 12] = [
    "UTC",
    "Europe/Rome",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Havana",
    "Asia/Beirut",
    "Africa/Cairo",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Etc/GMT+12",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
];

/// From 1980 to 2060.
fn instant() -> impl Strategy<Value = SystemTime> {
    (315_532_800u64..2_840_140_800).prop_map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds))
}

fn calendar() -> impl Strategy<Value = Period> {
    prop_oneof![Just(Period::Daily), Just(Period::Monthly)]
}

proptest! {
    #[test]
    fn periods_follow_each_other_without_gap_or_overlap(
        instant in instant(), period in calendar(), name in prop::sample::select(&ZONES[..]),
    ) {
        let zone = zone(name);
        let running = period.at(instant, &zone);
        prop_assert!(running.contains(instant), "{:?} has {:?}", running, instant);
        let end = running.end.unwrap();
        let next = period.at(end, &zone);
        prop_assert_eq!(next.start, end);
        prop_assert!(next.id > running.id);
        prop_assert_eq!(&period.at(end - Duration::from_nanos(1), &zone), &running);
        prop_assert_eq!(&period.at(running.start, &zone), &running);
    }

    #[test]
    fn neither_do_those_of_a_tenant_that_moves(
        instant in instant(), period in calendar(),
        from in prop::sample::select(&ZONES[..]), to in prop::sample::select(&ZONES[..]),
    ) {
        let change = ZoneChange { from: zone(from), to: zone(to), at: instant };
        let mut running = period.at_after(instant, &change);
        for _ in 0..4 {
            let end = running.end.unwrap();
            let next = period.at_after(end, &change);
            prop_assert_eq!(next.start, end);
            prop_assert!(next.id > running.id);
            prop_assert!(next.contains(end));
            running = next;
        }
    }
}
