//! Whatever minutes come.

use crate::traffic::{START, calls, watch};
use proptest::prelude::*;
use signalbox_anomaly::{Calls, Minute, State, Tally};

fn extreme() -> impl Strategy<Value = u64> {
    prop_oneof![3 => Just(0u64), 4 => 0u64..200, 1 => Just(u64::MAX), 1 => any::<u64>()]
}

prop_compose! {
    fn strange_tally()(n in prop::array::uniform9(extreme()), cost in any::<i64>()) -> Tally {
        let [calls, failed, first_choices, fell_back, structured, invalid, priced, output_tokens, answered] = n;
        Tally {
            calls, failed, first_choices, fell_back, structured, invalid,
            cost_nano_eur: cost, priced, output_tokens, answered,
        }
    }
}

prop_compose! {
    fn plain_tally()(calls in 0u64..300, shares in prop::array::uniform3(0.0f64..1.0), mean in 1u64..5000) -> Tally {
        let of = |share: f64| (calls as f64 * share) as u64;
        Tally {
            calls, failed: of(shares[0]),
            first_choices: calls, fell_back: of(shares[1]),
            structured: calls, invalid: of(shares[2]),
            cost_nano_eur: (calls * mean * 100) as i64, priced: calls,
            output_tokens: calls * mean, answered: calls,
        }
    }
}

fn usual() -> Tally {
    Tally {
        calls: 120,
        failed: 1,
        first_choices: 120,
        fell_back: 1,
        structured: 120,
        invalid: 1,
        cost_nano_eur: 120 * 40_000,
        priced: 120,
        output_tokens: 120 * 400,
        answered: 120,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_minute_makes_it_panic_or_tell_nonsense(
        minutes in prop::collection::vec((0u64..5000, strange_tally(), "[a-c]{0,2}", "[a-c]{0,2}"), 1..120),
    ) {
        let (mut watch, mut now) = (watch(), START);
        for (gap, tally, vendor, model) in minutes {
            now = Minute(now.0 + gap);
            let calls = [Calls { vendor, model, tally }];
            let changes = [watch.glance(now, &calls), watch.minute(now, &calls)].concat();
            for alert in changes {
                let numbers = [alert.observed, alert.expected, alert.threshold];
                prop_assert!(numbers.iter().all(|number| number.is_finite()), "{alert:?}");
            }
        }
        watch.minute(Minute(u64::MAX), &[]);
        watch.minute(Minute(0), &[]);
    }

    #[test]
    fn an_alert_that_opened_closes_when_all_is_as_ever_again(
        trouble in prop::collection::vec(plain_tally(), 1..90),
    ) {
        let (mut watch, mut now) = (watch(), START);
        let mut open = std::collections::BTreeSet::new();
        let quiet = std::iter::repeat_n(usual(), 600);
        let after = std::iter::repeat_n(usual(), 240);
        for tally in quiet.chain(trouble).chain(after) {
            for alert in watch.minute(now, &calls(tally)) {
                match alert.state {
                    State::Open => prop_assert!(open.insert(alert.id), "opened twice"),
                    State::Escalated => prop_assert!(open.contains(&alert.id)),
                    State::Closed => prop_assert!(open.remove(&alert.id), "closed and never opened"),
                }
            }
            prop_assert_eq!(watch.alerts().count(), open.len());
            now = now.next();
        }
        prop_assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn so_few_events_raise_no_alert_whatever_they_say(
        minutes in prop::collection::vec((0u64..=19, 0u64..=19), 1..60),
    ) {
        // As many as a rule wants at least, in all the time there is: one less is never enough.
        let (mut watch, mut now, mut left) = (watch(), START, 19u64);
        for at in 0..600u64 {
            let (calls_now, failed) = *minutes.get(at as usize % minutes.len()).unwrap_or(&(0, 0));
            let n = calls_now.min(left);
            left -= n;
            let k = failed.min(n);
            let tally = Tally {
                calls: n, failed: k, first_choices: n, fell_back: k, structured: n, invalid: k,
                cost_nano_eur: 1 << (at % 40), priced: n, output_tokens: 1 << (at % 40), answered: n,
            };
            prop_assert_eq!(watch.minute(now, &calls(tally)), []);
            now = now.next();
        }
    }
}
