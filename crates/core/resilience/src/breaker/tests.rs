use super::*;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A breaker with its clock. Jitter and lots are 0 unless a test says otherwise.
struct World {
    breaker: Breaker,
    now: Instant,
}

impl World {
    fn new() -> Self {
        let now = Instant::now();
        Self { breaker: Breaker::new(BreakerRules::default(), now), now }
    }

    fn pass(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        self
    }

    fn state(&self) -> BreakerState {
        self.breaker.state(self.now)
    }

    fn is_open(&self) -> bool {
        matches!(self.state(), BreakerState::Open { .. })
    }

    fn admit(&mut self) -> Option<Permit> {
        self.breaker.admit(self.now, 0.0)
    }

    fn record(&mut self, permit: Permit, outcome: Outcome) {
        self.breaker.record(permit, outcome, self.now, 0.0);
    }

    /// One call that is admitted and ends at once.
    fn call(&mut self, outcome: Outcome) {
        let permit = self.admit().expect("the breaker admits");
        self.record(permit, outcome);
    }

    fn calls(&mut self, outcome: Outcome, times: u32) {
        for _ in 0..times {
            self.call(outcome);
        }
    }

    fn opened() -> Self {
        let mut world = Self::new();
        world.calls(Outcome::Transport, 5);
        assert!(world.is_open());
        world
    }

    fn half_open() -> Self {
        let mut world = Self::opened();
        world.pass(SECOND * 30);
        world
    }

    fn ramping() -> Self {
        let mut world = Self::half_open();
        world.call(Outcome::Success);
        world
    }

    /// Lets the open time pass, and the next probe fail: how long it is open then.
    fn reopen(&mut self, jitter: f64) -> Duration {
        let BreakerState::Open { left } = self.state() else { panic!("not open") };
        self.pass(left);
        let probe = self.admit().expect("a probe");
        self.breaker.record(probe, Outcome::Failure, self.now, jitter);
        let BreakerState::Open { left } = self.state() else { panic!("not open") };
        left
    }
}

#[test]
fn half_of_twenty_failures_open_it() {
    let mut world = World::new();
    world.calls(Outcome::Success, 10);
    world.calls(Outcome::Failure, 9);
    assert_eq!(world.state(), BreakerState::Closed);
    world.call(Outcome::Failure);
    assert!(world.is_open());
    assert_eq!(world.admit(), None);
}

#[test]
fn less_than_half_leave_it_closed() {
    let mut world = World::new();
    for _ in 0..200 {
        world.calls(Outcome::Success, 3);
        world.calls(Outcome::Failure, 2);
    }
    assert_eq!(world.state(), BreakerState::Closed);
}

#[test]
fn nineteen_failures_alone_are_too_few_and_the_twentieth_opens_it() {
    let mut world = World::new();
    world.calls(Outcome::Failure, 19);
    assert_eq!(world.state(), BreakerState::Closed);
    world.call(Outcome::Failure);
    assert!(world.is_open());
}

#[test]
fn failures_older_than_the_window_are_forgotten() {
    let mut world = World::new();
    world.calls(Outcome::Failure, 19);
    world.pass(SECOND * 61).call(Outcome::Failure);
    assert_eq!(world.state(), BreakerState::Closed);
}

#[test]
fn a_long_good_past_does_not_hide_an_outage() {
    let mut world = World::new();
    world.calls(Outcome::Success, 10_000);
    let mut failures = 0;
    while !world.is_open() {
        world.call(Outcome::Failure);
        failures += 1;
    }
    assert_eq!(failures, 32);
}

#[test]
fn five_broken_connections_or_silences_in_a_row_open_it() {
    let mut world = World::new();
    world.calls(Outcome::Transport, 4);
    world.call(Outcome::Success);
    world.calls(Outcome::Timeout, 2);
    world.calls(Outcome::Transport, 2);
    assert_eq!(world.state(), BreakerState::Closed);
    world.call(Outcome::Timeout);
    assert!(world.is_open());
}

#[test]
fn an_error_that_the_vendor_answers_breaks_the_row_but_counts() {
    let mut world = World::new();
    for _ in 0..4 {
        world.calls(Outcome::Transport, 4);
        world.call(Outcome::Failure);
    }
    assert!(world.is_open(), "twenty failures");
    let mut world = World::new();
    world.calls(Outcome::Transport, 4);
    world.call(Outcome::Failure);
    assert_eq!(world.state(), BreakerState::Closed);
}

#[test]
fn cancelled_calls_and_bad_requests_never_count() {
    let mut world = World::new();
    world.calls(Outcome::Neutral, 1000);
    world.calls(Outcome::Failure, 19);
    world.calls(Outcome::Neutral, 1000);
    assert_eq!(world.state(), BreakerState::Closed);
    world.call(Outcome::Failure);
    assert!(world.is_open(), "and they do not thin the failures out");
}

#[test]
fn it_stays_open_for_thirty_seconds() {
    let mut world = World::opened();
    world.pass(SECOND * 30 - Duration::from_nanos(1));
    assert_eq!(world.state(), BreakerState::Open { left: Duration::from_nanos(1) });
    assert_eq!(world.admit(), None);
    world.pass(Duration::from_nanos(1));
    assert_eq!(world.state(), BreakerState::HalfOpen { probing: false });
}

#[test]
fn exactly_one_probe_passes() {
    let mut world = World::half_open();
    let probe = world.admit();
    assert!(probe.is_some());
    assert_eq!(world.state(), BreakerState::HalfOpen { probing: true });
    for _ in 0..100 {
        assert_eq!(world.pass(SECOND).admit(), None);
    }
}

#[test]
fn a_probe_without_a_verdict_makes_place_for_the_next() {
    let mut world = World::half_open();
    world.call(Outcome::Neutral);
    assert_eq!(world.state(), BreakerState::HalfOpen { probing: false });
    let _probe = world.admit().unwrap();
    assert_eq!(world.admit(), None);
}

#[test]
fn a_probe_that_is_never_reported_has_failed() {
    let mut world = World::half_open();
    let probe = world.admit().unwrap();
    world.pass(SECOND * 600);
    assert_eq!(world.admit(), None);
    assert!(world.is_open());
    // When it does report at last, another probe may be under way: its word no longer counts.
    world.record(probe, Outcome::Success);
    assert!(world.is_open());
}

#[test]
fn a_failed_probe_opens_it_for_longer_each_time() {
    let mut world = World::opened();
    let lengths: Vec<_> = (0..6).map(|_| world.reopen(1.0).as_secs()).collect();
    assert_eq!(lengths, [60, 120, 240, 300, 300, 300]);
}

#[test]
fn jitter_spreads_the_longer_openings_and_never_shortens_the_first() {
    let mut world = World::opened();
    assert_eq!(world.reopen(0.5), SECOND * 45);
    assert_eq!(world.reopen(0.5), SECOND * 75);
    assert_eq!(world.reopen(f64::NAN), SECOND * 30);
    assert_eq!(world.reopen(-1.0), SECOND * 30);
    assert_eq!(world.reopen(9.0), SECOND * 300);
}

#[test]
fn openings_are_forgotten_after_a_good_while() {
    let mut world = World::opened();
    assert_eq!(world.reopen(1.0), SECOND * 60);
    world.pass(SECOND * 60).call(Outcome::Success);
    world.pass(SECOND * 7).calls(Outcome::Success, 5);
    assert_eq!(world.state(), BreakerState::Closed);
    let mut soon = World { breaker: world.breaker.clone(), now: world.now + SECOND * 299 };
    soon.calls(Outcome::Transport, 4);
    let permit = soon.admit().unwrap();
    soon.breaker.record(permit, Outcome::Transport, soon.now, 1.0);
    assert_eq!(soon.state(), BreakerState::Open { left: SECOND * 120 });
    world.pass(SECOND * 300).calls(Outcome::Transport, 4);
    let permit = world.admit().unwrap();
    world.breaker.record(permit, Outcome::Transport, world.now, 1.0);
    assert_eq!(world.state(), BreakerState::Open { left: SECOND * 30 });
}

#[test]
fn after_the_probe_the_share_doubles_each_second_to_all() {
    let mut world = World::ramping();
    let mut shares = Vec::new();
    for _ in 0..9 {
        let BreakerState::Ramp { share } = world.state() else { panic!("no ramp") };
        shares.push((share * 100.0).round() as u32);
        world.pass(SECOND);
    }
    assert_eq!(shares, [1, 2, 4, 8, 16, 32, 64, 100, 100]);
}

#[test]
fn the_ramp_admits_by_lot() {
    let mut world = World::ramping();
    world.pass(SECOND * 3);
    assert!(world.breaker.admit(world.now, 0.079).is_some());
    assert!(world.breaker.admit(world.now, 0.081).is_none());
    assert!(world.breaker.admit(world.now, f64::NAN).is_none());
    world.pass(SECOND * 4);
    assert!(world.breaker.admit(world.now, 1.0).is_some());
}

#[test]
fn a_clean_ramp_closes_once_all_pass_and_some_have_been_seen() {
    let mut world = World::ramping();
    world.calls(Outcome::Success, 20);
    assert!(matches!(world.state(), BreakerState::Ramp { .. }));
    world.pass(SECOND * 7).call(Outcome::Success);
    assert_eq!(world.state(), BreakerState::Closed);

    let mut quiet = World::ramping();
    quiet.pass(SECOND * 3600).calls(Outcome::Success, 4);
    assert_eq!(quiet.state(), BreakerState::Ramp { share: 1.0 });
    quiet.call(Outcome::Success);
    assert_eq!(quiet.state(), BreakerState::Closed);
}

#[test]
fn more_than_a_fifth_of_failures_ends_the_ramp() {
    let mut world = World::ramping();
    world.calls(Outcome::Success, 8);
    world.calls(Outcome::Failure, 2);
    assert!(matches!(world.state(), BreakerState::Ramp { .. }), "a fifth is not more");
    world.call(Outcome::Failure);
    assert!(world.is_open());
}

#[test]
fn the_first_few_failures_of_a_ramp_are_no_verdict_but_the_fifth_call_is() {
    let mut world = World::ramping();
    world.calls(Outcome::Failure, 4);
    assert!(matches!(world.state(), BreakerState::Ramp { .. }));
    world.call(Outcome::Success);
    assert!(world.is_open());
}

#[test]
fn a_vendor_that_vanishes_in_the_ramp_is_not_hidden_by_its_successes() {
    let mut world = World::ramping();
    world.calls(Outcome::Success, 100);
    world.calls(Outcome::Transport, 4);
    assert!(matches!(world.state(), BreakerState::Ramp { .. }));
    world.call(Outcome::Transport);
    assert!(world.is_open());
}

#[test]
fn once_closed_the_failures_of_the_outage_are_forgotten() {
    let mut world = World::new();
    world.calls(Outcome::Failure, 20);
    world.pass(SECOND * 30).call(Outcome::Success);
    world.pass(SECOND * 7).calls(Outcome::Success, 5);
    assert_eq!(world.state(), BreakerState::Closed);
    world.call(Outcome::Failure);
    assert_eq!(world.state(), BreakerState::Closed);
}

#[test]
fn cancelled_calls_do_not_count_in_the_ramp() {
    let mut world = World::ramping();
    world.pass(SECOND * 10).calls(Outcome::Neutral, 100);
    assert_eq!(world.state(), BreakerState::Ramp { share: 1.0 });
}

#[test]
fn a_call_from_before_the_opening_says_nothing_afterwards() {
    let mut world = World::new();
    let (old_success, old_failure) = (world.admit().unwrap(), world.admit().unwrap());
    world.calls(Outcome::Transport, 5);
    world.record(old_success, Outcome::Success);
    assert!(world.is_open());
    world.pass(SECOND * 30);
    let probe = world.admit().unwrap();
    world.record(old_failure, Outcome::Failure);
    assert_eq!(world.state(), BreakerState::HalfOpen { probing: true });
    world.record(probe, Outcome::Success);
    assert!(matches!(world.state(), BreakerState::Ramp { .. }));
}

#[test]
fn a_call_of_the_ramp_that_ends_after_it_counts_as_any_other() {
    let mut world = World::ramping();
    world.pass(SECOND * 7);
    let slow: Vec<_> = (0..5).map(|_| world.admit().unwrap()).collect();
    world.calls(Outcome::Success, 5);
    assert_eq!(world.state(), BreakerState::Closed);
    for permit in slow {
        world.record(permit, Outcome::Timeout);
    }
    assert!(world.is_open());
}

#[test]
fn senseless_rules_neither_panic_nor_lock_a_vendor_out() {
    let rules = BreakerRules {
        failure_share: f64::NAN,
        min_calls: 0,
        window: Duration::ZERO,
        consecutive_unreached: 0,
        open_for: Duration::ZERO,
        open_at_most: Duration::MAX,
        forget_after: Duration::ZERO,
        probe_patience: Duration::ZERO,
        ramp_start: f64::NAN,
        ramp_step: Duration::ZERO,
        ramp_failure_share: f64::NAN,
        ramp_min_calls: 0,
    };
    let now = Instant::now();
    let mut world = World { breaker: Breaker::new(rules, now), now };
    world.call(Outcome::Transport);
    assert_eq!(world.state(), BreakerState::HalfOpen { probing: false });
    world.call(Outcome::Success);
    world.call(Outcome::Success);
    assert_eq!(world.state(), BreakerState::Closed);
}
