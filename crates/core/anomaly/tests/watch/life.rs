//! How alerts open, get worse and close.

use crate::traffic::{MINUTES_OF_DAY, START, calls, watch};
use signalbox_anomaly::{Alert, Calls, Minute, State, Tally, Timing, Watch, shipped};

fn minute(failed: u64) -> Tally {
    Tally { calls: 100, failed, first_choices: 100, fell_back: failed, ..Tally::default() }
}

/// A watch that has seen two quiet days, and the minute after them.
fn quiet() -> (Watch, Minute) {
    let mut watch = watch();
    let end = START.0 + 2 * MINUTES_OF_DAY;
    for at in START.0..end {
        let changes = watch.minute(Minute(at), &calls(minute(1)));
        assert_eq!(changes, []);
    }
    (watch, Minute(end))
}

/// The next minutes, all alike.
fn go_on(watch: &mut Watch, now: &mut Minute, minutes: u64, tally: Tally) -> Vec<Alert> {
    let mut changes = Vec::new();
    for _ in 0..minutes {
        changes.extend(watch.minute(*now, &calls(tally)));
        *now = now.next();
    }
    changes
}

fn turns(changes: &[Alert], rule: &str) -> Vec<State> {
    changes.iter().filter(|alert| alert.rule == rule).map(|alert| alert.state).collect()
}

#[test]
fn an_alert_opens_escalates_when_it_lasts_and_closes_when_all_is_as_ever() {
    let (mut watch, mut now) = quiet();
    let mut changes = go_on(&mut watch, &mut now, 40, minute(60));
    changes.extend(go_on(&mut watch, &mut now, 30, minute(1)));
    let all = [State::Open, State::Escalated, State::Closed];
    for rule in ["failing-now", "failure-rate-up", "failures-above-baseline", "fallbacks-above-baseline"] {
        assert_eq!(turns(&changes, rule), all, "{rule}");
    }
    assert_eq!(watch.alerts().count(), 0);
    let ids = |state| {
        let of = changes.iter().filter(move |alert| alert.state == state).map(|alert| &alert.id);
        of.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(ids(State::Open), ids(State::Closed));
}

#[test]
fn an_alert_escalates_at_once_when_it_gets_worse() {
    let (mut watch, mut now) = quiet();
    let mut changes = go_on(&mut watch, &mut now, 3, minute(32));
    changes.extend(go_on(&mut watch, &mut now, 1, minute(90)));
    assert_eq!(turns(&changes, "failing-now"), [State::Open, State::Escalated]);
    let worse = changes.iter().find(|alert| alert.rule == "failing-now" && alert.state == State::Escalated);
    assert_eq!(
        worse.unwrap().description,
        "The failure rate of openai/gpt is 90.0 % where 1.0 % is usual, which is worse than at first."
    );
}

#[test]
fn a_minute_of_calm_does_not_close_an_alert() {
    let (mut watch, mut now) = quiet();
    let mut changes = Vec::new();
    for _ in 0..5 {
        changes.extend(go_on(&mut watch, &mut now, 3, minute(60)));
        changes.extend(go_on(&mut watch, &mut now, 3, minute(1)));
    }
    assert_eq!(turns(&changes, "failing-now"), [State::Open]);
}

#[test]
fn what_lasts_a_day_is_the_new_normal_but_plain_failure_never_is() {
    let (mut watch, mut now) = quiet();
    let changes = go_on(&mut watch, &mut now, MINUTES_OF_DAY + 60, minute(10));
    let all = [State::Open, State::Escalated, State::Closed];
    assert_eq!(turns(&changes, "failures-above-baseline"), all);
    assert_eq!(turns(&changes, "failure-rate-up"), all);
    assert_eq!(watch.alerts().count(), 0, "and it stays so");
    assert_eq!(go_on(&mut watch, &mut now, 600, minute(10)), []);

    let changes = go_on(&mut watch, &mut now, 3 * MINUTES_OF_DAY, minute(60));
    assert_eq!(turns(&changes, "failing-now"), [State::Open, State::Escalated]);
}

#[test]
fn whoever_is_not_called_any_more_has_no_alert_for_ever() {
    let (mut watch, mut now) = quiet();
    go_on(&mut watch, &mut now, 10, minute(60));
    assert!(watch.alerts().count() > 0);
    let mut closed = Vec::new();
    for _ in 0..180 {
        closed.extend(watch.minute(now, &[]));
        now = now.next();
    }
    assert!(closed.iter().all(|alert| alert.state == State::Closed));
    assert_eq!(watch.alerts().count(), 0);
}

#[test]
fn plain_failure_is_seen_in_a_minute_that_still_runs() {
    let (mut watch, mut now) = quiet();
    let changes = watch.glance(now, &calls(Tally { calls: 60, failed: 40, ..Tally::default() }));
    assert_eq!(turns(&changes, "failing-now"), [State::Open]);
    assert_eq!(watch.glance(now, &calls(Tally { calls: 80, failed: 50, ..Tally::default() })), []);
    let opened = changes[0].opened;
    // The end of the minute says the same and does not raise it again.
    let changes = go_on(&mut watch, &mut now, 1, minute(60));
    assert_eq!(turns(&changes, "failing-now"), [] as [State; 0]);
    assert_eq!(opened.next(), now);
}

#[test]
fn an_alert_that_a_later_minute_closed_is_not_opened_by_an_earlier_one() {
    let timing = Timing { close_after: 0, escalate_after: 30 };
    let mut watch = Watch::new(shipped(), timing, 14);
    let calls = |failed| calls(Tally { calls: 60, failed, ..Tally::default() });
    let (first, second) = (START, START.next());
    assert_eq!(turns(&watch.glance(first, &calls(40)), "failing-now"), [State::Open]);
    assert_eq!(turns(&watch.glance(second, &calls(0)), "failing-now"), [State::Closed]);
    assert_eq!(watch.glance(first, &calls(40)), []);
    assert_eq!(watch.minute(first, &calls(40)), []);
    assert_eq!(turns(&watch.glance(second.next(), &calls(40)), "failing-now"), [State::Open]);
}

#[test]
fn a_vendor_is_watched_as_the_sum_of_its_models() {
    let (mut watch, mut now) = quiet();
    let two = |first: Tally, second: Tally| {
        let calls = |model: &str, tally| Calls { vendor: "openai".into(), model: model.into(), tally };
        [calls("gpt", first), calls("gpt-mini", second)]
    };
    let mut changes = Vec::new();
    for _ in 0..20 {
        changes.extend(watch.minute(now, &two(minute(1), minute(8))));
        now = now.next();
    }
    let of_vendor: Vec<_> = changes.iter().filter(|alert| alert.rule == "failure-rate-up").collect();
    assert_eq!(of_vendor.len(), 1);
    assert_eq!(of_vendor[0].subject.model, "");
    assert!(changes.iter().all(|alert| alert.subject.model != "gpt"), "{changes:?}");
}

#[test]
fn whoever_sees_the_same_minutes_raises_the_same_alerts() {
    let run = || {
        let (mut watch, mut now) = quiet();
        go_on(&mut watch, &mut now, 20, minute(45))
    };
    assert_eq!(run(), run());
}

#[test]
fn a_minute_counts_once() {
    let (mut watch, mut now) = quiet();
    let bad = calls(minute(60));
    assert!(!watch.minute(now, &bad).is_empty());
    assert_eq!(watch.minute(now, &bad), []);
    assert_eq!(watch.glance(now, &bad), []);
    now = now.next();
    watch.minute(now, &bad);
}
