//! Replicas with real wallets before a ledger, where everything that can die does.

mod calls;

use super::*;
use crate::wallet::{Grant, Hold, Wallet};
use signalbox_types::Money;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(super) use calls::Fate;

const TENANT: &str = "acme";
const TTL: Duration = Duration::from_secs(60);
const SKEW: Duration = Duration::from_secs(5);
const WRITE_OFF_AFTER: Duration = Duration::from_secs(3_600);
const UNUSED: Duration = Duration::from_secs(120);
/// Long, so that most lives see one change of period.
const PERIOD: Duration = Duration::from_secs(5_000);
const LIMITS: [(&str, i64); 2] = [("key", 5_000), ("monthly", 10_000)];

/// A request under way.
struct Request {
    hold: Hold,
    charges: Vec<Charge>,
}

/// One run of a router's process.
pub(super) struct Run {
    id: String,
    wallet: Wallet,
    requests: Vec<Request>,
    /// Money on its way back, until it is known to have come.
    returns: Vec<(String, Vec<(String, i64)>)>,
    /// Survives the process: what is not known to be settled.
    spool: Vec<Settlement>,
}

/// Everything.
pub(super) struct World {
    pub(super) ledger: LedgerModel,
    base: Instant,
    now: Duration,
    ids: u64,
    pub(super) replicas: Vec<Run>,
    /// Runs that died and were not ended.
    pub(super) former: Vec<Run>,
    /// All settlements there ever were: any of them may come again.
    pub(super) history: Vec<Settlement>,
    /// What requests cost beyond what was held for them, by account.
    pub(super) excess: BTreeMap<AccountKey, i64>,
}

impl World {
    pub(super) fn new(replicas: usize) -> Self {
        let mut world = Self {
            ledger: LedgerModel::new(),
            base: Instant::now(),
            now: Duration::ZERO,
            ids: 0,
            replicas: Vec::new(),
            former: Vec::new(),
            history: Vec::new(),
            excess: BTreeMap::new(),
        };
        for _ in 0..replicas {
            let run = world.run();
            world.replicas.push(run);
        }
        world
    }

    fn id(&mut self, of: &str) -> String {
        self.ids += 1;
        format!("{of}-{:05}", self.ids)
    }

    fn run(&mut self) -> Run {
        let id = self.id("run");
        Run { id, wallet: Wallet::new(), requests: Vec::new(), returns: Vec::new(), spool: Vec::new() }
    }

    fn time(&self) -> SystemTime {
        UNIX_EPOCH + self.now
    }

    fn instant(&self) -> Instant {
        self.base + self.now
    }

    fn period(&self) -> String {
        format!("{:03}", self.now.as_secs() / PERIOD.as_secs())
    }

    /// A lease never outlives its period.
    fn lease_end(&self) -> Duration {
        let periods = self.now.as_secs() / PERIOD.as_secs() + 1;
        (self.now + TTL).min(Duration::from_secs(PERIOD.as_secs() * periods))
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    pub(super) fn opening(&self, budget: usize) -> Opening {
        let (budget_id, limit) = LIMITS[budget];
        let key = AccountKey {
            tenant_id: TENANT.to_owned(),
            budget_id: budget_id.to_owned(),
            period_id: self.period(),
        };
        Opening { key, limit, hard: true }
    }

    /// A request comes: of the tenant, or of a key with a budget of its own.
    pub(super) fn request(&mut self, replica: usize, with_key: bool, amount: i64, fate: Fate) {
        let budgets: &[&str] = if with_key { &["key", "monthly"] } else { &["monthly"] };
        let now = self.instant();
        let amount = Money::from_nano_eur(amount);
        let hold = match self.replicas[replica].wallet.try_hold(budgets, amount, now) {
            Ok(hold) => Ok(hold),
            Err(missing) => {
                self.ask(replica, with_key, missing.to_ask().nano_eur(), fate);
                self.replicas[replica].wallet.try_hold(budgets, amount, now)
            }
        };
        if let Ok(hold) = hold {
            let run = &mut self.replicas[replica];
            let charge = |charge: crate::wallet::Charge<'_>| Charge {
                budget_id: charge.budget_id.to_owned(),
                period_id: charge.period_id.to_owned(),
                lease_id: charge.lease_id.to_owned(),
                reservation_id: String::new(),
            };
            let charges = run.wallet.charges(&hold).map(charge).collect();
            run.requests.push(Request { hold, charges });
        }
    }

    pub(super) fn raise(&mut self, replica: usize, which: usize, amount: i64) {
        let run = &mut self.replicas[replica];
        let count = run.requests.len().max(1);
        if let Some(request) = run.requests.get_mut(which % count) {
            run.wallet.raise(&mut request.hold, Money::from_nano_eur(amount)).ok();
        }
    }

    /// A request ends and costs so many percent of its hold.
    pub(super) fn end(&mut self, replica: usize, which: usize, percent: i64) {
        let run = &mut self.replicas[replica];
        if run.requests.is_empty() {
            return;
        }
        let request = run.requests.swap_remove(which % run.requests.len());
        let held = request.hold.amount().nano_eur();
        let cost = held * percent / 100;
        run.wallet.settle(request.hold, Some(Money::from_nano_eur(cost)));
        let settlement = self.account_of(request.charges, cost, held);
        self.replicas[replica].spool.push(settlement);
    }

    fn account_of(&mut self, charges: Vec<Charge>, amount: i64, held: i64) -> Settlement {
        for charge in &charges {
            let key = AccountKey {
                tenant_id: TENANT.to_owned(),
                budget_id: charge.budget_id.clone(),
                period_id: charge.period_id.clone(),
            };
            *self.excess.entry(key).or_default() += (amount - held).max(0);
        }
        let settlement_id = self.id("event");
        let tenant_id = TENANT.to_owned();
        let settlement = Settlement { settlement_id, tenant_id, charges, amount, more_follow: false };
        self.history.push(settlement.clone());
        settlement
    }

    /// The process dies. What was under way is in its spool as a draft: it counts as spent whole.
    pub(super) fn crash(&mut self, replica: usize) {
        let next = self.run();
        let mut dead = std::mem::replace(&mut self.replicas[replica], next);
        dead.wallet = Wallet::new();
        dead.returns.clear();
        for request in std::mem::take(&mut dead.requests) {
            let held = request.hold.amount().nano_eur();
            dead.spool.push(self.account_of(request.charges, held, held));
        }
        self.former.push(dead);
    }

    /// All come to rest: everything is settled and every run is ended.
    pub(super) fn rest(&mut self) {
        for replica in 0..self.replicas.len() {
            while !self.replicas[replica].requests.is_empty() {
                self.end(replica, 0, 100);
            }
            self.crash(replica);
        }
        while !self.former.is_empty() {
            self.finish(0, Fate::Twice);
        }
        self.pass(PERIOD * 2);
        self.sweep();
    }
}

/// What is spent, and what may still be, of each account, whoever knows of it.
impl World {
    /// What requests cost that have ended, settled or not.
    pub(super) fn spent(&self, key: &AccountKey) -> i64 {
        let pays = |one: &&Settlement| one.charges.iter().any(|charge| is_of(charge, key));
        self.history.iter().filter(pays).map(|one| one.amount).sum()
    }

    /// What requests under way hold.
    pub(super) fn held(&self, key: &AccountKey) -> i64 {
        let requests = self.replicas.iter().flat_map(|run| &run.requests);
        let pays = |one: &&Request| one.charges.iter().any(|charge| is_of(charge, key));
        requests.filter(pays).map(|one| one.hold.amount().nano_eur()).sum()
    }

    /// What replicas may spend at once.
    pub(super) fn idle(&self, key: &AccountKey) -> i64 {
        if key.period_id != self.period() {
            return 0;
        }
        let idle = |run: &Run| run.wallet.idle(&key.budget_id, self.instant()).unwrap_or_default();
        self.replicas.iter().map(|run| idle(run).nano_eur().max(0)).sum()
    }
}

fn is_of(charge: &Charge, key: &AccountKey) -> bool {
    charge.budget_id == key.budget_id && charge.period_id == key.period_id
}
