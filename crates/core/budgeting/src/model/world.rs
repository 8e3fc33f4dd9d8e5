//! Replicas with real wallets before a ledger, where everything that can die does.

use super::*;
use crate::wallet::{Grant, Hold, Wallet};
use signalbox_types::Money;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const TENANT: &str = "acme";
const TTL: Duration = Duration::from_secs(60);
const SKEW: Duration = Duration::from_secs(5);
const WRITE_OFF_AFTER: Duration = Duration::from_secs(3_600);
const UNUSED: Duration = Duration::from_secs(120);
/// Long, so that most lives see one change of period.
const PERIOD: Duration = Duration::from_secs(5_000);
const LIMITS: [(&str, i64); 2] = [("key", 5_000), ("monthly", 10_000)];

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Done,
    /// It never arrives.
    Lost,
    /// It is done, but nobody hears of it.
    AnswerLost,
    /// It is done twice.
    Twice,
}

impl Fate {
    fn times(self) -> usize {
        match self {
            Self::Lost => 0,
            Self::Done | Self::AnswerLost => 1,
            Self::Twice => 2,
        }
    }

    fn is_heard(self) -> bool {
        matches!(self, Self::Done | Self::Twice)
    }
}

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

    fn ask(&mut self, replica: usize, with_key: bool, needed: i64, fate: Fate) {
        let budgets = if with_key { 0..2 } else { 1..2 };
        let run_id = self.replicas[replica].id.clone();
        let slice = |budget| {
            let account = self.opening(budget);
            let lease_id = format!("{run_id}/{}/{}", account.key.budget_id, account.key.period_id);
            SliceAsk { wanted: needed.max(account.limit / 20), account, needed, lease_id }
        };
        let accounts = budgets.map(slice).collect();
        let ask = GrantAsk {
            grant_id: self.id("grant"),
            replica_id: run_id,
            accounts,
            now: self.time(),
            expires_at: UNIX_EPOCH + self.lease_end(),
        };
        for _ in 0..fate.times() {
            if let Granted::All(leases) = self.ledger.grant(&ask)
                && fate.is_heard()
            {
                for (lease, _) in leases {
                    self.hear(replica, &lease);
                }
            }
        }
    }

    fn hear(&mut self, replica: usize, lease: &LeaseState) {
        let now = self.instant();
        let ttl = lease.expires_at.duration_since(self.time()).unwrap_or_default();
        let grant = Grant {
            lease_id: &lease.lease_id,
            budget_id: &lease.account.budget_id,
            period_id: &lease.account.period_id,
            granted: Money::from_nano_eur(lease.granted),
            slice: Money::from_nano_eur(100),
            asked_at: now,
            ttl,
            ends_with_period: ttl < TTL,
        };
        self.replicas[replica].wallet.grant(&grant, now);
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

    /// Some of the spool is sent.
    pub(super) fn ship(&mut self, replica: usize, most: usize, fate: Fate) {
        let run = &mut self.replicas[replica];
        let batch = &run.spool[..most.min(run.spool.len())];
        for _ in 0..fate.times() {
            assert_eq!(self.ledger.settle(batch), []);
        }
        if fate.is_heard() {
            run.spool.drain(..most.min(run.spool.len()));
        }
    }

    /// Any settlement of the past comes again.
    pub(super) fn repeat(&mut self, which: usize) {
        let settled: Vec<&Settlement> =
            self.history.iter().filter(|old| self.ledger.settlements.contains(&old.settlement_id)).collect();
        if !settled.is_empty() {
            let again = settled[which % settled.len()].clone();
            self.ledger.settle(&[again]);
        }
    }

    /// What is too much goes back.
    pub(super) fn tidy(&mut self, replica: usize, fate: Fate) {
        let now = self.instant();
        let return_id = self.id("return");
        let run = &mut self.replicas[replica];
        let back = run.wallet.tidy(UNUSED, now);
        let parts: Vec<_> =
            back.iter().map(|back| (back.lease_id.to_string(), back.amount.nano_eur())).collect();
        if !parts.is_empty() {
            run.returns.push((return_id, parts));
        }
        for (return_id, parts) in &run.returns {
            for _ in 0..fate.times() {
                self.ledger.give_back(&run.id, return_id, parts);
            }
        }
        if fate.is_heard() {
            run.returns.clear();
        }
    }

    pub(super) fn renew(&mut self, replica: usize, fate: Fate) {
        let (now, time) = (self.instant(), self.time());
        let run = &self.replicas[replica];
        let ids: Vec<String> = run.wallet.to_renew(UNUSED, now).map(|id| id.to_string()).collect();
        let mut living = Vec::new();
        for _ in 0..fate.times() {
            living = self.ledger.renew(&run.id, &ids, time, UNIX_EPOCH + self.lease_end());
        }
        if fate.is_heard() {
            let is_lost = |id: &&String| !living.iter().any(|lease| lease.lease_id == **id);
            let lost = ids.iter().filter(is_lost).map(String::as_str);
            self.replicas[replica].wallet.lost(lost, now);
            for lease in &living {
                self.hear(replica, lease);
            }
        }
    }

    pub(super) fn sweep(&mut self) {
        let now = self.time() - SKEW.min(self.now);
        self.ledger.sweep(now, self.time() - WRITE_OFF_AFTER.min(self.now));
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

    /// What a dead run left is settled, and then it is ended.
    pub(super) fn finish(&mut self, which: usize, fate: Fate) {
        if self.former.is_empty() {
            return;
        }
        let at = which % self.former.len();
        for _ in 0..fate.times() {
            self.ledger.settle(&self.former[at].spool);
            self.ledger.end_replica(&self.former[at].id);
        }
        if fate.is_heard() {
            self.former.remove(at);
        }
    }

    pub(super) fn top_up(&mut self, budget: usize, more: i64) {
        let change = LimitChange {
            account: self.opening(budget),
            to: LimitTo::Raised(more),
            source_id: self.id("top-up"),
        };
        for _ in 0..2 {
            self.ledger.set_limit(&change).unwrap();
        }
    }

    /// A batch is set aside and settled item by item, each costing an even part.
    pub(super) fn batch(&mut self, amount: i64, items: i64, done: i64) {
        let ask = ReserveAsk {
            reservation_id: self.id("batch"),
            accounts: vec![self.opening(0), self.opening(1)],
            amount,
            expires_at: self.time() + PERIOD,
        };
        for _ in 0..2 {
            if matches!(self.ledger.reserve(&ask), Reserved::Short { .. }) {
                return;
            }
        }
        let charge = |opening: &Opening| Charge {
            budget_id: opening.key.budget_id.clone(),
            period_id: opening.key.period_id.clone(),
            reservation_id: ask.reservation_id.clone(),
            ..Charge::default()
        };
        for item in 1..=done.min(items) {
            let charges = ask.accounts.iter().map(charge).collect();
            let settlement = self.account_of(charges, amount / items, amount);
            let settlement = Settlement { more_follow: item < items, ..settlement };
            *self.history.last_mut().unwrap() = settlement.clone();
            self.ledger.settle(&[settlement.clone(), settlement]);
        }
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
