//! Random lives of a wallet against its promises.

use super::*;
use proptest::prelude::*;
use std::time::Duration;

const BUDGETS: [&str; 3] = ["daily", "monthly", "key"];

#[derive(Debug, Clone)]
enum Event {
    /// A lease of a budget grows by so much; the answer may get lost or come twice.
    Grant {
        budget: usize,
        period: usize,
        more: i64,
        answers: u8,
    },
    Hold {
        budgets: usize,
        amount: i64,
    },
    Raise {
        which: usize,
        amount: i64,
    },
    /// It costs so many percent of its hold.
    Settle {
        which: usize,
        percent: i64,
    },
    Abandon {
        which: usize,
    },
    Lose {
        budget: usize,
        period: usize,
    },
    Recall {
        budget: usize,
        period: usize,
        keep: i64,
    },
    Tidy,
    Pass {
        seconds: u64,
    },
}

fn event() -> impl Strategy<Value = Event> {
    let (budget, period) = (0usize..3, 0usize..2);
    prop_oneof![
        4 => (budget.clone(), period.clone(), 0i64..500, 0u8..3)
            .prop_map(|(budget, period, more, answers)| Event::Grant { budget, period, more, answers }),
        8 => (1usize..8, 0i64..200).prop_map(|(budgets, amount)| Event::Hold { budgets, amount }),
        2 => (any::<usize>(), 0i64..300).prop_map(|(which, amount)| Event::Raise { which, amount }),
        6 => (any::<usize>(), 0i64..=100).prop_map(|(which, percent)| Event::Settle { which, percent }),
        1 => any::<usize>().prop_map(|which| Event::Abandon { which }),
        1 => (budget.clone(), period.clone()).prop_map(|(budget, period)| Event::Lose { budget, period }),
        1 => (budget, period, 0i64..100)
            .prop_map(|(budget, period, keep)| Event::Recall { budget, period, keep }),
        2 => Just(Event::Tidy),
        2 => (0u64..40).prop_map(|seconds| Event::Pass { seconds }),
    ]
}

/// What the outside knows of a lease.
#[derive(Debug, Clone, Default)]
struct Truth {
    granted: i64,
    returned: i64,
    spent: i64,
    held: i64,
}

struct World {
    wallet: Wallet,
    now: Instant,
    /// The ledger makes new leases after this time, not the same again.
    end: Instant,
    leases: HashMap<String, Truth>,
    holds: Vec<Hold>,
}

impl World {
    fn grant(&mut self, budget: usize, period: usize, more: i64, answers: u8) {
        let (budget_id, period_id) = (BUDGETS[budget], ["2026-11", "2026-12"][period]);
        let lease_id = format!("{budget_id}/{period_id}");
        let truth = self.leases.entry(lease_id.clone()).or_default();
        truth.granted += more;
        for _ in 0..answers {
            let grant = Grant {
                lease_id: &lease_id,
                budget_id,
                period_id,
                granted: Money::from_nano_eur(truth.granted),
                slice: Money::from_nano_eur(50),
                asked_at: self.now,
                ttl: Duration::from_secs(60),
                ends_with_period: false,
            };
            self.wallet.grant(&grant, self.now);
        }
    }

    fn hold(&mut self, budgets: usize, amount: i64) {
        let names: Vec<&str> =
            (0..3).filter(|bit| budgets & (1 << bit) != 0).map(|bit| BUDGETS[bit]).collect();
        let before: Vec<_> = names.iter().map(|name| self.wallet.idle(name, self.now)).collect();
        let amount = Money::from_nano_eur(amount);
        match self.wallet.try_hold(&names, amount, self.now) {
            Ok(hold) => {
                self.charge(&hold, |truth, held| truth.held += held);
                self.holds.push(hold);
            }
            Err(missing) => {
                let after: Vec<_> = names.iter().map(|name| self.wallet.idle(name, self.now)).collect();
                assert_eq!(before, after, "a refusal holds nothing");
                assert!(!missing.lacks.is_empty());
            }
        }
    }

    fn charge(&mut self, hold: &Hold, change: impl Fn(&mut Truth, i64)) {
        for charge in self.wallet.charges(hold) {
            let truth = self.leases.get_mut(charge.lease_id).expect("a lease that was granted");
            change(truth, charge.reserved.nano_eur());
        }
    }

    fn take(&mut self, which: usize) -> Option<Hold> {
        (!self.holds.is_empty()).then(|| self.holds.swap_remove(which % self.holds.len()))
    }

    fn give_back(&mut self, back: impl IntoIterator<Item = Return>) {
        for Return { lease_id, amount } in back {
            assert!(amount > Money::ZERO);
            self.leases.get_mut(&*lease_id).expect("a known lease").returned += amount.nano_eur();
        }
    }

    fn step(&mut self, event: Event) {
        let lease_id =
            |budget: usize, period: usize| format!("{}/{}", BUDGETS[budget], ["2026-11", "2026-12"][period]);
        match event {
            Event::Grant { budget, period, more, answers } => self.grant(budget, period, more, answers),
            Event::Hold { budgets, amount } => self.hold(budgets, amount),
            Event::Raise { which, amount } => {
                if let Some(mut hold) = self.take(which) {
                    let before = hold.amount().nano_eur();
                    let raised = self.wallet.raise(&mut hold, Money::from_nano_eur(amount));
                    let grown = hold.amount().nano_eur() - before;
                    assert!(grown == if raised.is_ok() { (amount - before).max(0) } else { 0 });
                    self.charge(&hold, |truth, _| truth.held += grown);
                    self.holds.push(hold);
                }
            }
            Event::Settle { which, percent } => {
                if let Some(hold) = self.take(which) {
                    let cost = hold.amount().nano_eur() * percent / 100;
                    self.charge(&hold, |truth, held| {
                        truth.held -= held;
                        truth.spent += cost;
                    });
                    self.wallet.settle(hold, Some(Money::from_nano_eur(cost)));
                }
            }
            Event::Abandon { which } => {
                if let Some(hold) = self.take(which) {
                    self.charge(&hold, |truth, held| {
                        truth.held -= held;
                        truth.spent += held;
                    });
                    self.wallet.abandon(hold);
                }
            }
            Event::Lose { budget, period } => self.wallet.lost([&*lease_id(budget, period)], self.now),
            Event::Recall { budget, period, keep } => {
                let back = self.wallet.recall(&lease_id(budget, period), Money::from_nano_eur(keep));
                self.give_back(back);
            }
            Event::Tidy => {
                let back = self.wallet.tidy(Duration::from_secs(600), self.now);
                self.give_back(back);
            }
            Event::Pass { seconds } => self.now = self.end.min(self.now + Duration::from_secs(seconds)),
        }
    }
}

fn world() -> World {
    let now = Instant::now();
    let end = now + lease::REMEMBERED - Duration::from_secs(1);
    World { wallet: Wallet::new(), now, end, leases: HashMap::new(), holds: Vec::new() }
}

proptest! {
    /// T1 of one replica, and nothing of a lease is counted twice.
    #[test]
    fn what_is_spent_held_and_given_back_is_never_more_than_was_granted(
        events in prop::collection::vec(event(), 0..200),
    ) {
        let mut world = world();
        for event in events {
            world.step(event);
            for (id, lease) in &world.leases {
                let used = lease.returned + lease.spent + lease.held;
                prop_assert!(used <= lease.granted, "{}: {:?}", id, lease);
                prop_assert!(lease.held >= 0);
            }
        }
    }

    #[test]
    fn when_all_has_ended_every_cent_is_spent_or_given_back(events in prop::collection::vec(event(), 0..200)) {
        let mut world = world();
        for event in events {
            // Every grant is heard of.
            world.step(match event {
                Event::Grant { budget, period, more, .. } => Event::Grant { budget, period, more, answers: 1 },
                other => other,
            });
        }
        while let Some(hold) = world.take(0) {
            world.charge(&hold, |truth, held| truth.spent += held);
            world.wallet.abandon(hold);
        }
        let back = world.wallet.close(world.now);
        world.give_back(back);
        for (id, lease) in &world.leases {
            prop_assert_eq!(lease.granted, lease.returned + lease.spent, "{}", id);
        }
        world.wallet.tidy(Duration::from_secs(600), world.now + Duration::from_secs(600));
        prop_assert!(world.wallet.is_empty());
    }
}
