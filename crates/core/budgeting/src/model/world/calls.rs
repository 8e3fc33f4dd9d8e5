//! What replicas and ledger say to each other, and what gets lost of it.

use super::*;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Fate {
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

impl World {
    pub(in super::super) fn ask(&mut self, replica: usize, with_key: bool, needed: i64, fate: Fate) {
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

    /// Some of the spool is sent.
    pub(in super::super) fn ship(&mut self, replica: usize, most: usize, fate: Fate) {
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
    pub(in super::super) fn repeat(&mut self, which: usize) {
        let settled: Vec<&Settlement> =
            self.history.iter().filter(|old| self.ledger.settlements.contains(&old.settlement_id)).collect();
        if !settled.is_empty() {
            let again = settled[which % settled.len()].clone();
            self.ledger.settle(&[again]);
        }
    }

    /// What is too much goes back.
    pub(in super::super) fn tidy(&mut self, replica: usize, fate: Fate) {
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

    pub(in super::super) fn renew(&mut self, replica: usize, fate: Fate) {
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

    pub(in super::super) fn sweep(&mut self) {
        let now = self.time() - SKEW.min(self.now);
        self.ledger.sweep(now, self.time() - WRITE_OFF_AFTER.min(self.now));
    }

    /// What a dead run left is settled, and then it is ended.
    pub(in super::super) fn finish(&mut self, which: usize, fate: Fate) {
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

    pub(in super::super) fn top_up(&mut self, budget: usize, more: i64) {
        let change = LimitChange {
            account: self.opening(budget),
            to: LimitTo::Raised(more),
            source_id: self.id("top-up"),
            reason: String::new(),
        };
        for _ in 0..2 {
            self.ledger.set_limit(&change).unwrap();
        }
    }

    /// A batch is set aside and settled item by item, each costing an even part.
    pub(in super::super) fn batch(&mut self, amount: i64, items: i64, done: i64) {
        let ask = ReserveAsk {
            reservation_id: self.id("batch"),
            request_id: String::new(),
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
}
