//! When a store is left alone for a while. Pure: time comes in by the argument list.

use std::time::Duration;

/// Calls are counted by the second, this many back.
const WINDOW: usize = 10;
/// Failures in the window from which on a store is left alone, if they are also a hundredth of its calls.
const FAILURES: u32 = 5;
const HUNDREDTH: u32 = 100;
/// How long it is left alone, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// Why a call was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// All is well.
    Usual,
    /// The pause is over: whether there is another depends on this call.
    Deciding,
    /// One of a hundred, in case it is well sooner.
    Early,
}

#[derive(Debug, Default)]
pub(crate) struct Circuit {
    seconds: [Second; WINDOW],
    open: Option<Open>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Second {
    number: u64,
    calls: u32,
    failures: u32,
}

#[derive(Debug)]
struct Open {
    pause: Duration,
    until: Duration,
    calls: u32,
}

impl Circuit {
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether to call, at a time since any beginning.
    pub(crate) fn admit(&mut self, now: Duration) -> Option<Call> {
        let Some(open) = &mut self.open else { return Some(Call::Usual) };
        if now >= open.until {
            // The next one decides only if this one never ends.
            open.until = now + open.pause;
            return Some(Call::Deciding);
        }
        open.calls += 1;
        (open.calls % HUNDREDTH == 0).then_some(Call::Early)
    }

    /// How a call ended that was let through.
    pub(crate) fn ended(&mut self, now: Duration, call: Call, well: bool) {
        match (&mut self.open, call, well) {
            (None, ..) => self.count(now, well),
            (Some(_), Call::Deciding | Call::Early, true) => *self = Self::default(),
            (Some(open), Call::Deciding, false) => {
                let (_, longest) = PAUSES;
                open.pause = (open.pause * 2).min(longest);
                open.until = now + open.pause;
            }
            // What began before it was open says nothing of now.
            (Some(_), ..) => {}
        }
    }

    fn count(&mut self, now: Duration, well: bool) {
        let number = now.as_secs();
        let second = &mut self.seconds[(number % WINDOW as u64) as usize];
        if second.number != number {
            *second = Second { number, ..Second::default() };
        }
        second.calls += 1;
        second.failures += u32::from(!well);
        let recent = self.seconds.iter().filter(|second| second.number + WINDOW as u64 > number);
        let (calls, failures) = recent
            .fold((0, 0), |(calls, failures), second| (calls + second.calls, failures + second.failures));
        if failures >= FAILURES && failures.saturating_mul(HUNDREDTH) >= calls {
            let (first, _) = PAUSES;
            self.open = Some(Open { pause: first, until: now + first, calls: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn call(circuit: &mut Circuit, now: Duration, well: bool) -> bool {
        let call = circuit.admit(now);
        call.map(|call| circuit.ended(now, call, well)).is_some()
    }

    /// One that opened at a time.
    fn open(now: Duration) -> Circuit {
        let mut circuit = Circuit::default();
        while !circuit.is_open() {
            assert!(call(&mut circuit, now, false));
        }
        circuit
    }

    #[test]
    fn five_failures_in_ten_seconds_are_enough_and_four_are_not() {
        let mut circuit = Circuit::default();
        for second in 0..4 {
            call(&mut circuit, at(1000 * second), false);
        }
        call(&mut circuit, at(10_000), false);
        assert!(!circuit.is_open(), "the first is too long ago");
        call(&mut circuit, at(10_500), false);
        assert!(circuit.is_open());
    }

    #[test]
    fn few_failures_among_many_calls_are_nothing() {
        let mut circuit = Circuit::default();
        for number in 0..10_000 {
            call(&mut circuit, at(number), number % 150 != 0);
        }
        assert!(!circuit.is_open());
    }

    #[test]
    fn one_of_a_hundred_is_let_through_meanwhile_and_one_afterwards() {
        let mut circuit = open(at(0));
        let through = (0..1000).filter(|_| call(&mut circuit, at(1), false)).count();
        assert_eq!(through, 10);
        assert_eq!(circuit.admit(at(2_000)), Some(Call::Deciding));
        assert_eq!(circuit.admit(at(2_000)), None, "one is enough");
        assert_eq!(circuit.admit(at(4_000)), Some(Call::Deciding), "unless it never ended");
    }

    #[test]
    fn pauses_double_to_half_a_minute() {
        let (mut circuit, mut now) = (open(at(0)), at(0));
        for pause in [2, 4, 8, 16, 30, 30] {
            assert_eq!(circuit.admit(now + Duration::from_secs(pause) - at(1)), None);
            now += Duration::from_secs(pause);
            assert!(call(&mut circuit, now, false));
        }
    }

    #[test]
    fn one_that_goes_well_ends_it() {
        for now in [at(2_000), at(1)] {
            let mut circuit = open(at(0));
            while !call(&mut circuit, now, true) {}
            assert!(!circuit.is_open());
            assert!(call(&mut circuit, now, false) && !circuit.is_open(), "and nothing is held against it");
        }
    }

    #[test]
    fn what_began_before_decides_nothing() {
        let mut circuit = open(at(0));
        circuit.ended(at(1), Call::Usual, true);
        assert!(circuit.is_open());
        circuit.ended(at(1), Call::Usual, false);
        assert_eq!(circuit.admit(at(2_000)), Some(Call::Deciding));
    }
}
