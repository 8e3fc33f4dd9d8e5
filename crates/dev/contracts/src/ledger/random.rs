//! Any calls in any order, made to a ledger and to the model beside it.

use super::{
    Fresh, model,
    support::{World, now},
};
use crate::random::Random;
use signalbox_api::v1::{Settlement, UsageCharge};
use signalbox_budgeting::model::LedgerModel;
use signalbox_kit::Clock;
use signalbox_ports::ledger::{
    AccountKey, EntryQuery, GrantAsk, LedgerError, LimitChange, LimitTo, Opening, ReserveAsk, SliceAsk,
};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

const ROUNDS: u64 = 12;
const STEPS: u64 = 120;

/// Every answer, every account and every entry is the model's. Ids are few, so that most of what is asked was asked
/// before, by the same replica or another, for the same or something else.
pub async fn any_calls_in_any_order_give_the_models_answers(fresh: &impl AsyncFn(Arc<dyn Clock>) -> Fresh) {
    let mut both = Both { world: World::new(fresh).await, model: LedgerModel::new() };
    for round in 0..ROUNDS {
        let mut any = Any { random: Random::new(29, round), round, now: now() };
        for step in 0..STEPS {
            let what = format!("round {round}, step {step}");
            both.step(&mut any, &what).await;
            both.assert_accounts(&any, &what).await;
        }
        both.assert_entries(&any.tenant()).await;
    }
}

struct Both {
    world: World,
    model: LedgerModel,
}

impl Both {
    async fn step(&mut self, any: &mut Any, what: &str) {
        let (ledger, model) = (&self.world.ledger, &mut self.model);
        match any.random.below(22) {
            0..6 => {
                let ask = any.grant();
                let told = model.grant(&ask);
                assert_eq!(ledger.grant(&ask).await.unwrap(), told, "{what}: {ask:#?}");
            }
            6..11 => {
                let settlements: Vec<_> = (0..=any.random.below(4)).map(|_| any.settlement()).collect();
                let to_model: Vec<_> = settlements.iter().map(model::settlement).collect();
                let told = model::told_refusals(model.settle(&to_model));
                assert_eq!(ledger.settle(&settlements).await.unwrap(), told, "{what}: {settlements:#?}");
            }
            11..13 => {
                let (replica, id, parts) = (any.replica(), any.id("return", 9), any.parts());
                model.give_back(&replica, &id, &parts);
                ledger.give_back(&replica, &id, &parts).await.unwrap();
            }
            13 => {
                let replica = any.replica();
                let told = model.end_replica(&replica);
                assert_eq!(ledger.end_replica(&replica).await.unwrap(), told, "{what}: end of {replica}");
            }
            14..16 => {
                let ask = any.reservation();
                let told = model.reserve(&ask);
                assert_eq!(ledger.reserve(&ask).await.unwrap(), told, "{what}: {ask:#?}");
            }
            16 => {
                let change = any.limit();
                let told = model.set_limit(&change);
                let told = told.map_err(|below| LedgerError::BelowSpend { committed: below.committed });
                assert_eq!(ledger.set_limit(&change).await, told, "{what}: {change:#?}");
            }
            17..19 => {
                any.now += Duration::from_secs(15 * any.random.below(4));
                let (replica, until) = (any.replica(), any.now + Duration::from_secs(60));
                let ids: Vec<_> = any.parts().into_iter().map(|(lease_id, _)| lease_id).collect();
                let told = model.renew(&replica, &ids, any.now, until);
                let renewed = ledger.renew(&replica, &ids, any.now, until).await.unwrap();
                assert_eq!(renewed, told, "{what}: {replica} renews {ids:?}");
            }
            _ => {
                let hopeless = any.now - Duration::from_secs(15 * any.random.below(5));
                let told = model::in_order(model.sweep(any.now, hopeless));
                let swept = ledger.sweep(any.now, hopeless).await.unwrap();
                assert_eq!(model::in_order(swept), told, "{what}: sweep");
            }
        }
    }

    async fn assert_accounts(&mut self, any: &Any, what: &str) {
        let all: Vec<Opening> = (0..4).map(|number| any.opening(number)).collect();
        let told = self.model.accounts(&all);
        assert_eq!(self.world.ledger.accounts(&all).await.unwrap(), told, "{what}");
        for Opening { key, .. } in &all {
            let told = self.model.holders(key, any.now);
            assert_eq!(self.world.ledger.holders(key, any.now).await.unwrap(), told, "{what}");
        }
    }

    async fn assert_entries(&self, tenant: &str) {
        let query = EntryQuery { tenant_id: tenant.to_owned(), most: 100_000, ..EntryQuery::default() };
        let told = self.world.ledger.entries(&query).await.unwrap();
        let mut told: Vec<_> = told.into_iter().map(model::told_line).collect();
        let mut expected: Vec<_> = self.model.entries().iter().map(model::line).collect();
        expected.retain(|line| line.0 == tenant);
        told.sort();
        expected.sort();
        assert_eq!(told, expected);
    }
}

/// Anything that may be asked within a round, which has a tenant and ids of its own.
struct Any {
    random: Random,
    round: u64,
    now: SystemTime,
}

impl Any {
    fn tenant(&self) -> String {
        format!("tenant-{}", self.round)
    }

    fn id(&mut self, of: &str, count: u64) -> String {
        format!("{of}-{}-{}", self.round, self.random.below(count))
    }

    fn replica(&mut self) -> String {
        self.id("replica", 3)
    }

    /// Two periods of a hard and of a soft budget.
    fn opening(&self, number: u64) -> Opening {
        let key = AccountKey {
            tenant_id: self.tenant(),
            budget_id: ["hard", "soft"][number as usize / 2].to_owned(),
            period_id: ["2026-10", "2026-11"][number as usize % 2].to_owned(),
        };
        Opening { key, limit: 3000, hard: number < 2 }
    }

    fn openings(&mut self) -> Vec<Opening> {
        let which = 1 + self.random.below(15);
        (0..4).filter(|number| which & (1 << number) != 0).map(|number| self.opening(number)).collect()
    }

    fn amount(&mut self) -> i64 {
        self.random.logarithmic(1, 400).cast_signed() - i64::from(self.random.percent(10))
    }

    fn grant(&mut self) -> GrantAsk {
        let openings = self.openings();
        // Names are those of leases of other accounts now and then, but no two in one wish are the same.
        let first = self.random.below(8);
        let slice = |(number, account)| {
            let needed = self.amount();
            let lease_id = format!("lease-{}-{}", self.round, (first + number) % 8);
            SliceAsk { account, needed, wanted: needed + self.amount(), lease_id }
        };
        let accounts = (0..).zip(openings).map(slice).collect();
        GrantAsk {
            replica_id: self.replica(),
            grant_id: self.id("grant", 50),
            accounts,
            now: self.now,
            expires_at: self.now + Duration::from_secs(60),
        }
    }

    /// Leases, some of which there are; also by the names of those whose name was taken.
    fn lease(&mut self) -> String {
        let lease = self.id("lease", 8);
        if self.random.percent(20) { format!("{lease}~{}", self.id("grant", 50)) } else { lease }
    }

    fn parts(&mut self) -> Vec<(String, i64)> {
        (0..=self.random.below(3)).map(|_| (self.lease(), self.amount())).collect()
    }

    fn reservation(&mut self) -> ReserveAsk {
        ReserveAsk {
            reservation_id: self.id("reservation", 6),
            request_id: "job".to_owned(),
            accounts: self.openings(),
            amount: self.amount(),
            expires_at: self.now + Duration::from_secs(15 * self.random.below(8)),
        }
    }

    fn settlement(&mut self) -> Settlement {
        let charges: Vec<_> = self.openings().into_iter().map(|opening| self.charge(opening.key)).collect();
        Settlement {
            settlement_id: self.id("settlement", 150),
            tenant_id: if self.random.percent(80) { self.tenant() } else { String::new() },
            charges,
            request_id: "request".to_owned(),
            amount_nano_eur: self.amount(),
            estimated: false,
            more_follow: self.random.percent(50),
        }
    }

    fn charge(&mut self, key: AccountKey) -> UsageCharge {
        let mut charge =
            UsageCharge { budget_id: key.budget_id, period_id: key.period_id, ..UsageCharge::default() };
        match self.random.below(10) {
            0..6 => charge.lease_id = self.lease(),
            6..9 => charge.reservation_id = self.id("reservation", 6),
            _ => {}
        }
        charge
    }

    fn limit(&mut self) -> LimitChange {
        let number = self.random.below(4);
        let amount = self.amount();
        let to = match self.random.below(3) {
            0 => LimitTo::Raised(amount),
            1 => LimitTo::Exactly(2 * amount),
            _ => LimitTo::NotBelowSpend(2 * amount),
        };
        LimitChange {
            account: self.opening(number),
            to,
            source_id: self.id("change", 9),
            reason: String::new(),
        }
    }
}
