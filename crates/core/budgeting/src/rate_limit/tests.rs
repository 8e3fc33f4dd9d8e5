use super::*;
use proptest::prelude::*;

const LIMIT: Limit = Limit { requests: 60, tokens: 6_000, concurrent: 10 };
const SLICES: [&str; 3] = ["a", "b", "c"];

fn want(slice: &str, tokens: u64, steps: u32) -> Want<'_> {
    Want { slice, tokens, under_way: 0, steps, ttl: 60_000 }
}

/// What happens to a limit.
#[derive(Debug, Clone)]
enum Step {
    Pass(u64),
    Take { slice: usize, tokens: u64, steps: u32, under_way: u32 },
    GiveBack { slice: usize, requests: u64, tokens: u64, concurrent: u32 },
    Renew { slice: usize, under_way: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    let slice = 0..SLICES.len();
    prop_oneof![
        2 => prop_oneof![0..50u64, 0..5_000u64, 0..90_000u64].prop_map(Step::Pass),
        5 => (slice.clone(), 0..2_000u64, 0..3u32, 0..4u32)
            .prop_map(|(slice, tokens, steps, under_way)| Step::Take { slice, tokens, steps, under_way }),
        2 => (slice.clone(), 0..10u64, 0..3_000u64, 0..3u32)
            .prop_map(|(slice, requests, tokens, concurrent)| Step::GiveBack { slice, requests, tokens, concurrent }),
        1 => (slice, 0..4u32).prop_map(|(slice, under_way)| Step::Renew { slice, under_way }),
    ]
}

/// Amounts that were taken and not given back, by when they were taken, slice by slice.
#[derive(Debug, Default)]
struct Kept(Vec<(u64, usize, u64)>);

impl Kept {
    /// What came back was taken last.
    fn give_back(&mut self, slice: usize, mut amount: u64) {
        for (_, _, kept) in self.0.iter_mut().rev().filter(|(_, of, _)| *of == slice) {
            let back = amount.min(*kept);
            *kept -= back;
            amount -= back;
        }
        assert_eq!(amount, 0, "more came back than was taken");
    }

    /// Whether no window has more than a full bucket and what flows in during it.
    fn check(&self, limit: u64) -> Result<(), TestCaseError> {
        for (index, (from, ..)) in self.0.iter().enumerate() {
            let mut sum = 0;
            for (to, _, amount) in &self.0[index..] {
                sum += amount;
                prop_assert!(sum <= limit * MINUTE + limit * (to - from), "{sum} from {from} to {to}");
            }
        }
        Ok(())
    }
}

proptest! {
    /// Of what is kept, no window of time ever sees more than a minute's limit and what flows in meanwhile; permits are
    /// never more than the limit; and whoever is told to wait gets it then, if nobody comes between.
    #[test]
    fn whatever_is_taken_and_returned_the_limit_holds_in_every_window(steps in prop::collection::vec(step(), 1..120)) {
        let (mut state, mut now) = (RateLimit::default(), 0);
        let (mut requests, mut tokens) = (Kept::default(), Kept::default());
        for step in steps {
            state.advance(&LIMIT, now);
            match step {
                Step::Pass(time) => now += time,
                Step::Take { slice, tokens: needed, steps, under_way } => {
                    let want = Want { under_way, ..want(SLICES[slice], needed, steps) };
                    match state.offer(&LIMIT, &want) {
                        Ok(given) => {
                            prop_assert!(given.requests >= 1 && given.tokens >= needed);
                            prop_assert!(given.concurrent > under_way);
                            state.take(&LIMIT, &want, &given);
                            requests.0.push((now, slice, given.requests * MINUTE));
                            tokens.0.push((now, slice, given.tokens * MINUTE));
                        }
                        Err(refused) => {
                            let Refused::Short { wait, .. } = refused else { panic!("{refused:?}") };
                            prop_assert!(wait > 0 && wait <= 600_000, "{}", wait);
                            state.refused(&LIMIT, &want, wait);
                        }
                    }
                }
                Step::GiveBack { slice, requests: r, tokens: t, concurrent } => {
                    let before = (state.requests.used(), state.tokens.used());
                    state.give_back(SLICES[slice], &Given { requests: r, tokens: t, concurrent });
                    requests.give_back(slice, before.0 - state.requests.used());
                    tokens.give_back(slice, before.1 - state.tokens.used());
                }
                Step::Renew { slice, under_way } => {
                    let want = Want { under_way, ..want(SLICES[slice], 0, 0) };
                    state.renew(&LIMIT, &want);
                }
            }
            prop_assert!(state.slices.permits_but("").all <= LIMIT.concurrent);
        }
        requests.check(LIMIT.requests)?;
        tokens.check(LIMIT.tokens)?;
    }

    #[test]
    fn who_waits_as_long_as_told_is_given_it_and_no_moment_sooner(
        taken in 0u64..200, tokens in 1u64..6_000, steps in 0u32..8,
    ) {
        let limit = Limit { concurrent: 0, ..LIMIT };
        let mut state = RateLimit::default();
        state.advance(&limit, 0);
        for _ in 0..taken {
            let any = want("other", 40, 0);
            if let Ok(given) = state.offer(&limit, &any) {
                state.take(&limit, &any, &given);
            }
        }
        let want = want("me", tokens, steps);
        if let Err(refused) = state.offer(&limit, &want) {
            let Refused::Short { wait, .. } = refused else { panic!("{refused:?}") };
            state.advance(&limit, wait - 1);
            let early = state.offer(&limit, &want);
            prop_assert!(matches!(early, Err(Refused::Short { wait: 1, .. })), "{:?}", early);
            state.advance(&limit, wait);
            prop_assert!(state.offer(&limit, &want).is_ok());
        }
    }

    #[test]
    fn no_numbers_overflow(
        requests: u64, tokens: u64, concurrent: u32, wanted: u64, under_way: u32, steps: u32, ttl: u64, now: u64,
    ) {
        let limit = Limit { requests, tokens, concurrent };
        let mut state = RateLimit::default();
        for at in [now, now / 2, u64::MAX, 0] {
            state.advance(&limit, at);
            let want = Want { slice: "a", tokens: wanted, under_way, steps, ttl };
            match state.offer(&limit, &want) {
                Ok(given) => state.take(&limit, &want, &given),
                Err(Refused::Short { wait, .. }) => state.refused(&limit, &want, wait),
                Err(Refused::TooLarge) => {}
            }
            state.renew(&limit, &want);
            state.give_back("a", &Given { requests: wanted, tokens: wanted, concurrent });
            state.remaining(&limit);
        }
    }
}

#[test]
fn what_is_not_used_any_more_is_as_if_it_had_never_been() {
    let mut state = RateLimit::default();
    state.advance(&LIMIT, 5);
    let want = want("a", 6_000, 1);
    let given = state.offer(&LIMIT, &want).unwrap();
    state.take(&LIMIT, &want, &given);
    state.advance(&LIMIT, 5 + 60_000);
    assert!(!state.is_idle(), "its share was taken for ten minutes");
    state.advance(&LIMIT, 5 + 600_000);
    assert!(state.is_idle());
}
