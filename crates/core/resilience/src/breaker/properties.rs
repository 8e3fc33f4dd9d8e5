//! Random events against the promises.

use super::*;
use proptest::prelude::*;
use std::time::Duration;

#[derive(Debug, Clone)]
enum Event {
    Ask {
        lot: f64,
    },
    /// One of the calls under way ends.
    End {
        which: usize,
        outcome: Outcome,
        jitter: f64,
    },
    /// A call under way is lost.
    Lose {
        which: usize,
    },
    Pass {
        millis: u64,
    },
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        2 => Just(Outcome::Success),
        2 => Just(Outcome::Failure),
        1 => Just(Outcome::Timeout),
        3 => Just(Outcome::Transport),
        1 => Just(Outcome::Neutral),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0.0f64..1.0).prop_map(|lot| Event::Ask { lot }),
        5 => (any::<usize>(), outcome(), 0.0f64..=1.0)
            .prop_map(|(which, outcome, jitter)| Event::End { which, outcome, jitter }),
        1 => any::<usize>().prop_map(|which| Event::Lose { which }),
        3 => prop_oneof![0u64..3000, 0u64..400_000].prop_map(|millis| Event::Pass { millis }),
    ]
}

/// A call under way, as the test sees it.
struct Call {
    permit: Permit,
    is_probe: bool,
}

struct World {
    breaker: Breaker,
    now: Instant,
    calls: Vec<Call>,
    /// The verdict of the probe sent since the breaker last opened is awaited.
    probing: bool,
}

impl World {
    fn ask(&mut self, lot: f64) -> Result<(), TestCaseError> {
        let before = self.breaker.state(self.now);
        let permit = self.breaker.admit(self.now, lot);
        match before {
            BreakerState::Closed => prop_assert!(permit.is_some(), "closed admits all"),
            BreakerState::Open { .. } => prop_assert!(permit.is_none(), "open admits none"),
            BreakerState::HalfOpen { .. } => {
                prop_assert!(permit.is_none() || !self.probing, "a second probe passed");
                self.probing |= permit.is_some();
            }
            BreakerState::Ramp { share } => prop_assert_eq!(permit.is_some(), lot < share),
        }
        let is_probe = matches!(before, BreakerState::HalfOpen { .. });
        self.calls.extend(permit.map(|permit| Call { permit, is_probe }));
        Ok(())
    }

    fn end(&mut self, which: usize, outcome: Outcome, jitter: f64) -> Result<(), TestCaseError> {
        if self.calls.is_empty() {
            return Ok(());
        }
        let call = self.calls.swap_remove(which % self.calls.len());
        let before = self.breaker.state(self.now);
        let current = call.permit.epoch == self.breaker.epoch;
        self.breaker.record(call.permit, outcome, self.now, jitter);
        let after = self.breaker.state(self.now);
        if call.is_probe && current {
            self.probing = false;
        }
        if !current || (outcome == Outcome::Neutral && !call.is_probe) {
            prop_assert_eq!(before, after, "such a call changes nothing");
        }
        Ok(())
    }

    fn step(&mut self, event: Event) -> Result<(), TestCaseError> {
        match event {
            Event::Ask { lot } => self.ask(lot)?,
            Event::End { which, outcome, jitter } => self.end(which, outcome, jitter)?,
            Event::Lose { which } if !self.calls.is_empty() => {
                self.calls.swap_remove(which % self.calls.len());
            }
            Event::Lose { .. } => {}
            Event::Pass { millis } => self.now += Duration::from_millis(millis),
        }
        // A breaker that opened waits for no probe, also where the old one was lost.
        if matches!(self.breaker.state(self.now), BreakerState::Open { .. }) {
            self.probing = false;
        }
        Ok(())
    }

    /// The vendor is well from now on: the time until the breaker is closed.
    fn heal(&mut self) -> Option<Duration> {
        let start = self.now;
        while self.now - start < Duration::from_secs(3600) {
            if self.breaker.state(self.now) == BreakerState::Closed {
                return Some(self.now - start);
            }
            if let Some(permit) = self.breaker.admit(self.now, 0.0) {
                self.breaker.record(permit, Outcome::Success, self.now, 1.0);
            }
            self.now += Duration::from_secs(1);
        }
        None
    }
}

fn world() -> World {
    let now = Instant::now();
    World { breaker: Breaker::new(BreakerRules::default(), now), now, calls: Vec::new(), probing: false }
}

proptest! {
    #[test]
    fn never_two_probes_and_nothing_while_open(events in prop::collection::vec(event(), 0..400)) {
        let mut world = world();
        for event in events {
            world.step(event)?;
        }
    }

    #[test]
    fn whatever_happened_a_vendor_that_is_well_is_used_again(events in prop::collection::vec(event(), 0..300)) {
        let mut world = world();
        for event in events {
            world.step(event)?;
        }
        // A lost probe's patience, the longest opening, the ramp and its few calls.
        let healed = world.heal();
        prop_assert!(healed.is_some_and(|time| time <= Duration::from_secs(600 + 300 + 20)), "{:?}", healed);
    }

    #[test]
    fn a_dead_vendor_gets_one_call_per_opening(jitters in prop::collection::vec(0.0f64..=1.0, 1..20)) {
        let mut world = world();
        while world.breaker.state(world.now) == BreakerState::Closed {
            let permit = world.breaker.admit(world.now, 0.0).unwrap();
            world.breaker.record(permit, Outcome::Failure, world.now, 0.0);
        }
        for jitter in jitters {
            let BreakerState::Open { left } = world.breaker.state(world.now) else { panic!("not open") };
            prop_assert!((30..=300).contains(&left.as_secs()));
            prop_assert!(world.breaker.admit(world.now, 0.0).is_none());
            world.now += left;
            let probe = world.breaker.admit(world.now, 0.0).unwrap();
            prop_assert!(world.breaker.admit(world.now, 0.0).is_none());
            world.breaker.record(probe, Outcome::Failure, world.now, jitter);
        }
    }
}
