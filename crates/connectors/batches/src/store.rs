//! The port, method by method.

use crate::{
    MIGRATIONS, SqlBatches, gauges, item, job, outbox, pledge, pulse, remove, results, split, step, submit,
    waiting, window,
};
use signalbox_ports::batches::{
    BatchStore, BatchStoreError, Claim, Gauges, Handed, Item, ItemEnd, ItemKey, Job, JobQuery, JobWindow,
    Lease, NewItem, NewJob, Pause, Pledge, Results, Rules, Step, Submitted, Untold, WaitingQuery, WindowEnd,
};
use signalbox_sql::migrate;
use std::time::{Duration, SystemTime};

#[async_trait::async_trait]
impl BatchStore for SqlBatches {
    async fn migrate(&self) -> Result<(), BatchStoreError> {
        Ok(migrate(&self.database, &MIGRATIONS).await?)
    }

    async fn beat(&self, now: SystemTime) -> Result<(), BatchStoreError> {
        let ask = now;
        Ok(self.database.run(&ask, |session, now| Box::pin(pulse::beat(session, *now))).await?)
    }

    async fn pledge(&self, pledge: &Pledge) -> Result<(), BatchStoreError> {
        let ask = pledge;
        Ok(self.database.run(&ask, |session, pledge| Box::pin(pledge::make(session, pledge))).await?)
    }

    async fn give_up(&self, pledge_id: &str, now: SystemTime) -> Result<(), BatchStoreError> {
        let ask = (pledge_id, now);
        let done = self
            .database
            .run(&ask, |session, (pledge_id, now)| Box::pin(pledge::give_up(session, pledge_id, *now)));
        Ok(done.await?)
    }

    async fn given_up(
        &self,
        now: SystemTime,
        again: SystemTime,
        most: usize,
    ) -> Result<Vec<Pledge>, BatchStoreError> {
        let ask = (now, again, most);
        let done = self.database.run(&ask, |session, (now, again, most)| {
            Box::pin(pledge::given_up(session, *now, *again, *most))
        });
        Ok(done.await?)
    }

    async fn forget(&self, pledge_id: &str) -> Result<(), BatchStoreError> {
        let ask = pledge_id;
        let done = self.database.run(&ask, |session, pledge_id| Box::pin(pledge::forget(session, pledge_id)));
        Ok(done.await?)
    }

    async fn submit(
        &self,
        job: &NewJob,
        items: &[NewItem],
        rules: &Rules,
    ) -> Result<Submitted, BatchStoreError> {
        let ask = (job, items, rules);
        let done = self
            .database
            .run(&ask, |session, (job, items, rules)| Box::pin(submit::submit(session, job, items, rules)));
        done.await?
    }

    async fn job(
        &self,
        tenant_id: &str,
        job_id: &str,
    ) -> Result<Option<(Job, Vec<JobWindow>)>, BatchStoreError> {
        let ask = (tenant_id, job_id);
        let done = self.database.read(&ask, |session, (tenant_id, job_id)| {
            Box::pin(job::with_windows(session, tenant_id, job_id))
        });
        Ok(done.await?)
    }

    async fn jobs(&self, query: &JobQuery) -> Result<Vec<Job>, BatchStoreError> {
        let ask = query;
        let done = self.database.read(&ask, |session, query| Box::pin(job::list(session, query)));
        Ok(done.await?)
    }

    async fn cancel(
        &self,
        tenant_id: &str,
        job_id: &str,
        now: SystemTime,
    ) -> Result<Option<Job>, BatchStoreError> {
        let ask = (tenant_id, job_id, now);
        let done = self.database.run(&ask, |session, (tenant_id, job_id, now)| {
            Box::pin(job::cancel(session, tenant_id, job_id, *now))
        });
        Ok(done.await?)
    }

    async fn waiting(&self, query: &WaitingQuery) -> Result<Vec<Item>, BatchStoreError> {
        let ask = query;
        let done = self.database.read(&ask, |session, query| Box::pin(waiting::waiting(session, query)));
        Ok(done.await?)
    }

    async fn end_waiting(
        &self,
        ends: &[(ItemKey, ItemEnd)],
        now: SystemTime,
        rules: &Rules,
    ) -> Result<u64, BatchStoreError> {
        let ask = (ends, now, rules);
        let done = self.database.run(&ask, |session, (ends, now, rules)| {
            Box::pin(waiting::end_waiting(session, ends, *now, rules))
        });
        Ok(done.await?)
    }

    async fn claim(
        &self,
        owner: &str,
        now: SystemTime,
        lease: Duration,
    ) -> Result<Option<Claim>, BatchStoreError> {
        let ask = (owner, now, lease);
        let done = self
            .database
            .run(&ask, |session, (owner, now, lease)| Box::pin(window::claim(session, owner, *now, *lease)));
        Ok(done.await?)
    }

    async fn keep(&self, lease: &Lease, until: SystemTime) -> Result<(), BatchStoreError> {
        let ask = (lease, until);
        let done =
            self.database.run(&ask, |session, (lease, until)| Box::pin(window::keep(session, lease, *until)));
        done.await?
    }

    async fn items(
        &self,
        window_id: &str,
        after: Option<ItemKey>,
        bytes: u64,
    ) -> Result<Vec<Item>, BatchStoreError> {
        let ask = (window_id, after, bytes);
        let done = self.database.read(&ask, |session, (window_id, after, bytes)| {
            Box::pin(item::some(session, window_id, *after, *bytes))
        });
        Ok(done.await?)
    }

    async fn find(&self, window_id: &str, keys: &[ItemKey]) -> Result<Vec<Item>, BatchStoreError> {
        let ask = (window_id, keys);
        let done = self
            .database
            .read(&ask, |session, (window_id, keys)| Box::pin(item::find(session, window_id, keys)));
        Ok(done.await?)
    }

    async fn notes(&self, window_id: &str) -> Result<Vec<(ItemKey, Vec<u8>)>, BatchStoreError> {
        let ask = window_id;
        let done = self.database.read(&ask, |session, window_id| Box::pin(item::notes(session, window_id)));
        Ok(done.await?)
    }

    async fn handed(&self, lease: &Lease, handed: &Handed) -> Result<(), BatchStoreError> {
        let ask = (lease, handed);
        let done = self
            .database
            .run(&ask, |session, (lease, handed)| Box::pin(window::handed(session, lease, handed)));
        done.await?
    }

    async fn put_back(&self, lease: &Lease, pause: &Pause) -> Result<(), BatchStoreError> {
        let ask = (lease, pause);
        let done = self
            .database
            .run(&ask, |session, (lease, pause)| Box::pin(window::put_back(session, lease, pause)));
        done.await?
    }

    async fn step(
        &self,
        lease: &Lease,
        steps: &[(ItemKey, Step)],
        now: SystemTime,
        rules: &Rules,
    ) -> Result<u64, BatchStoreError> {
        let ask = (lease, steps, now, rules);
        let done = self.database.run(&ask, |session, (lease, steps, now, rules)| {
            Box::pin(step::step(session, lease, steps, *now, rules))
        });
        done.await?
    }

    async fn close(&self, lease: &Lease, end: &WindowEnd) -> Result<(), BatchStoreError> {
        let ask = (lease, end);
        let done =
            self.database.run(&ask, |session, (lease, end)| Box::pin(window::close(session, lease, end)));
        done.await?
    }

    async fn split(&self, lease: &Lease, end: &WindowEnd) -> Result<bool, BatchStoreError> {
        let ask = (lease, end);
        let done =
            self.database.run(&ask, |session, (lease, end)| Box::pin(split::split(session, lease, end)));
        done.await?
    }

    async fn results(
        &self,
        tenant_id: &str,
        job_id: &str,
        after: u64,
        most: usize,
    ) -> Result<Option<Results>, BatchStoreError> {
        let ask = (tenant_id, job_id, after, most);
        let done = self.database.read(&ask, |session, (tenant_id, job_id, after, most)| {
            Box::pin(results::after(session, (tenant_id, job_id), *after, *most))
        });
        Ok(done.await?)
    }

    async fn untold(&self, most: usize) -> Result<Vec<Untold>, BatchStoreError> {
        let ask = most;
        let done = self.database.read(&ask, |session, most| Box::pin(outbox::untold(session, *most)));
        Ok(done.await?)
    }

    async fn told(&self, numbers: &[i64]) -> Result<(), BatchStoreError> {
        let ask = numbers;
        let done = self.database.run(&ask, |session, numbers| Box::pin(outbox::told(session, numbers)));
        Ok(done.await?)
    }

    async fn unsettled(&self, most: usize) -> Result<Vec<Job>, BatchStoreError> {
        let ask = most;
        let done = self.database.read(&ask, |session, most| Box::pin(job::unsettled(session, *most)));
        Ok(done.await?)
    }

    async fn settled(&self, job: i64) -> Result<(), BatchStoreError> {
        let ask = job;
        let done = self.database.run(&ask, |session, job| Box::pin(outbox::settled(session, *job)));
        Ok(done.await?)
    }

    async fn remove_expired(&self, now: SystemTime, most: usize) -> Result<u64, BatchStoreError> {
        let mut removed = 0;
        for _ in 0..most {
            if !self.database.run(&now, |session, now| Box::pin(remove::remove(session, *now))).await? {
                break;
            }
            removed += 1;
        }
        Ok(removed)
    }

    async fn gauges(&self, now: SystemTime) -> Result<Gauges, BatchStoreError> {
        let ask = now;
        let done = self.database.read(&ask, |session, now| Box::pin(gauges::gauges(session, *now)));
        Ok(done.await?)
    }
}
