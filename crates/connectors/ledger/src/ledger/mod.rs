//! Where money moves.
//!
//! Every transaction goes the same way: it locks its accounts in the order of their keys, then the leases it changes in
//! the order of their ids; does plain arithmetic on [`Books`](books::Books); and writes what changed, with an entry for
//! each movement, in a few statements however much it is. A lease or reservation changes under its account's lock only.
//! (To renew one changes no money: the lease's own lock is enough. To delete old ones that hold nothing changes none
//! either.)

mod account;
mod books;
mod entry;
mod grant;
mod lease;
mod limit;
mod listing;
mod operation;
mod prune;
mod release;
mod reservation;
mod reserve;
mod settle;
mod settle_batch;
mod sweep;

use crate::{
    SqlLedger, migrations,
    stored::{most, nanos},
};
use signalbox_api::v1::{LedgerEntry, Settlement, settle_response::Refusal};
use signalbox_ports::ledger::{
    Account, AccountKey, EntryQuery, GrantAsk, Granted, LeaseState, Ledger, LedgerError, LimitChange,
    Opening, Pruned, ReserveAsk, Reserved, SettledQuery, SettledRequest, Swept,
};
use std::time::SystemTime;

#[async_trait::async_trait]
impl Ledger for SqlLedger {
    async fn migrate(&self) -> Result<(), LedgerError> {
        Ok(signalbox_sql::migrate(&self.database, &migrations::MIGRATIONS).await?)
    }

    async fn accounts(&self, accounts: &[Opening]) -> Result<Vec<Account>, LedgerError> {
        let found =
            self.database.read(accounts, |session, accounts| Box::pin(account::all_open(session, accounts)));
        if let Some(found) = found.await? {
            return Ok(found);
        }
        let ask = (accounts, self.now());
        let open = self
            .database
            .run(&ask, |session, (accounts, now)| Box::pin(account::open(session, accounts, *now)));
        Ok(open.await?)
    }

    async fn grant(&self, ask: &GrantAsk) -> Result<Granted, LedgerError> {
        Ok(self.database.run(ask, |session, ask| Box::pin(grant::grant(session, ask))).await?)
    }

    async fn renew(
        &self,
        replica_id: &str,
        lease_ids: &[String],
        now: SystemTime,
        expires_at: SystemTime,
    ) -> Result<Vec<LeaseState>, LedgerError> {
        let ask = lease::Renewal { replica_id, lease_ids, now: nanos(now), expires_at: nanos(expires_at) };
        Ok(self.database.run(&ask, |session, ask| Box::pin(lease::renew(session, ask))).await?)
    }

    async fn give_back(
        &self,
        replica_id: &str,
        return_id: &str,
        parts: &[(String, i64)],
    ) -> Result<(), LedgerError> {
        let ask = release::Return { replica_id, return_id, parts, now: self.now() };
        Ok(self.database.run(&ask, |session, ask| Box::pin(release::give_back(session, ask))).await?)
    }

    async fn end_replica(&self, replica_id: &str) -> Result<i64, LedgerError> {
        let ask = (replica_id, self.now());
        let ended = self.database.run(&ask, |session, (replica_id, now)| {
            Box::pin(release::end_replica(session, replica_id, *now))
        });
        Ok(ended.await?)
    }

    async fn reserve(&self, ask: &ReserveAsk) -> Result<Reserved, LedgerError> {
        let ask = (ask, self.now());
        let reserved =
            self.database.run(&ask, |session, (ask, now)| Box::pin(reserve::reserve(session, ask, *now)));
        Ok(reserved.await?)
    }

    async fn settle(&self, settlements: &[Settlement]) -> Result<Vec<Refusal>, LedgerError> {
        let ask = (settlements, self.now());
        let settled = self.database.run(&ask, |session, (settlements, now)| {
            Box::pin(settle_batch::settle(session, settlements, *now))
        });
        Ok(settled.await?)
    }

    async fn sweep(&self, now: SystemTime, hopeless: SystemTime) -> Result<Swept, LedgerError> {
        let ask = (nanos(now), nanos(hopeless));
        let mut swept = Swept::default();
        loop {
            let part = self
                .database
                .run(&ask, |session, (now, hopeless)| Box::pin(sweep::sweep(session, *now, *hopeless)));
            let part = part.await?;
            swept.orphaned.extend(part.found.orphaned);
            swept.written_off.extend(part.found.written_off);
            swept.released += part.found.released;
            if !part.more {
                return Ok(swept);
            }
        }
    }

    async fn prune(&self, before: SystemTime, at_once: usize) -> Result<Pruned, LedgerError> {
        let ask = prune::Ask { before: nanos(before), now: self.now(), most: most(at_once) };
        Ok(self.database.run(&ask, |session, ask| Box::pin(prune::prune(session, ask))).await?)
    }

    async fn set_limit(&self, change: &LimitChange) -> Result<Account, LedgerError> {
        let ask = (change, self.now());
        let set = self
            .database
            .run(&ask, |session, (change, now)| Box::pin(limit::set_limit(session, change, *now)));
        set.await?
    }

    async fn entries(&self, query: &EntryQuery) -> Result<Vec<LedgerEntry>, LedgerError> {
        Ok(self.database.read(query, |session, query| Box::pin(listing::entries(session, query))).await?)
    }

    async fn settled(&self, query: &SettledQuery) -> Result<Vec<SettledRequest>, LedgerError> {
        Ok(self.database.read(query, |session, query| Box::pin(listing::settled(session, query))).await?)
    }

    async fn holders(&self, key: &AccountKey, now: SystemTime) -> Result<Vec<LeaseState>, LedgerError> {
        let ask = (key, nanos(now));
        Ok(self
            .database
            .read(&ask, |session, (key, now)| Box::pin(lease::holders(session, key, *now)))
            .await?)
    }

    async fn replicas(&self, now: SystemTime) -> Result<u32, LedgerError> {
        let now = nanos(now);
        Ok(self.database.read(&now, |session, now| Box::pin(lease::replicas(session, *now))).await?)
    }
}
