//! What is known of near answers: shared by all processes through the store, and merged where two were at it.

use crate::{bounded::Bounded, cache::Cache, question::Question, seal::hex, tenants::Tenant};
use prost::Message;
use signalbox_caching::{Digest, Pool, Record, Scope};
use signalbox_ports::cache::CacheAway;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::time::Instant;

/// Tasks whose evidence is remembered.
const MOST: usize = 4_096;
/// Entries of a task that have a record of their own: those that were observed last.
const MOST_RECORDS: usize = 512;
/// Reports of a task that are remembered, so that a repeated one does not count twice.
const MOST_REPORTS: usize = 1_024;
/// Raised when the guards change so much that what was observed before says nothing any more.
const GUARDS: &[u8] = b"guards 2";

/// What is known of a task.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    pub(crate) pool: Pool,
    records: Vec<Recorded>,
    reports: Vec<u64>,
}

/// The same, as it lies in the store.
#[derive(Clone, PartialEq, Message)]
struct Stored {
    #[prost(bytes = "vec", tag = "1")]
    pool: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    records: Vec<Recorded>,
    #[prost(fixed64, repeated, tag = "3")]
    reports: Vec<u64>,
    /// Tells one write from another that says the same: both count.
    #[prost(fixed64, tag = "4")]
    nonce: u64,
}

/// What is known of an entry.
#[derive(Clone, PartialEq, Message)]
struct Recorded {
    #[prost(bytes = "vec", tag = "1")]
    entry: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    record: Vec<u8>,
}

/// Something seen of a near answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    pub(crate) entry: Digest,
    pub(crate) similarity: f32,
    pub(crate) is_right: bool,
    /// Who reported it, if somebody did; else the answers were compared.
    pub(crate) report: Option<u64>,
}

impl Evidence {
    fn none(basis: Digest, now: SystemTime) -> Self {
        Self { pool: Pool::new(basis, now), records: vec![], reports: vec![] }
    }

    fn decode(bytes: Option<&[u8]>, basis: Digest, now: SystemTime) -> Self {
        let Some(stored) = bytes.and_then(|bytes| Stored::decode(bytes).ok()) else {
            return Self::none(basis, now);
        };
        let Stored { pool, records, reports, nonce: _ } = stored;
        Self { pool: Pool::decode(&pool, basis, now), records, reports }
    }

    fn encode(&self) -> Vec<u8> {
        let Self { pool, records, reports } = self;
        let (records, reports, nonce) = (records.clone(), reports.clone(), rand::random());
        Stored { pool: pool.encode(), records, reports, nonce }.encode_to_vec()
    }

    /// What is known of an entry. One whose record cannot be read is taken for wrong.
    pub(crate) fn record(&self, entry: Digest) -> Record {
        let Some(recorded) = self.records.iter().find(|recorded| recorded.entry == entry.0) else {
            return Record::default();
        };
        Record::decode(&recorded.record).unwrap_or_else(|| {
            let mut unknown = Record::default();
            unknown.report_wrong();
            unknown
        })
    }

    /// Takes an observation in; `false` where it was reported before.
    fn observe(&mut self, seen: Observation, now: SystemTime) -> bool {
        if let Some(report) = seen.report {
            if self.reports.contains(&report) {
                return false;
            }
            let surplus = (self.reports.len() + 1).saturating_sub(MOST_REPORTS);
            self.reports.drain(..surplus);
            self.reports.push(report);
        }
        self.pool.observe(seen.similarity, seen.is_right, now);
        let mut record = self.record(seen.entry);
        match (seen.is_right, seen.report) {
            (false, Some(_)) => record.report_wrong(),
            (is_right, _) => record.observe(is_right),
        }
        self.records.retain(|recorded| recorded.entry != seen.entry.0);
        let surplus = (self.records.len() + 1).saturating_sub(MOST_RECORDS);
        self.records.drain(..surplus);
        self.records.push(Recorded { entry: seen.entry.0.to_vec(), record: record.encode().to_vec() });
        true
    }
}

/// By tenant and name.
type Known = Bounded<(Digest, String), (Arc<Evidence>, Instant)>;

/// What this process remembers of evidence.
#[derive(Debug)]
pub(crate) struct Evidences {
    relied_on: Duration,
    known: Mutex<Known>,
}

impl Evidences {
    pub(crate) fn new(relied_on: Duration) -> Self {
        Self { relied_on, known: Mutex::new(Bounded::new(MOST)) }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, tenant: &Tenant, name: String, evidence: Evidence, heard: Instant) -> Arc<Evidence> {
        let evidence = Arc::new(evidence);
        self.lock().insert((tenant.digest(), name), (evidence.clone(), heard));
        evidence
    }
}

impl Cache {
    /// What is known of a task's near answers, as of a moment ago.
    pub(crate) async fn evidence(
        &self,
        tenant: &Tenant,
        task_type: &str,
    ) -> Result<Arc<Evidence>, CacheAway> {
        let (name, basis) = self.pool_of(tenant, task_type).await?;
        let known = self.evidences.lock().get(&(tenant.digest(), name.clone()));
        if let Some((evidence, heard)) = known
            && heard.elapsed() < self.evidences.relied_on
        {
            return Ok(evidence);
        }
        let asked = Instant::now();
        let bytes = self.dependencies.store.value(tenant.digest(), &name).await?;
        let evidence = Evidence::decode(bytes.as_deref(), basis, self.now());
        Ok(self.evidences.keep(tenant, name, evidence, asked))
    }

    /// Takes an observation into what all processes share.
    pub(crate) async fn observe(
        &self,
        tenant: &Tenant,
        task_type: &str,
        seen: Observation,
    ) -> Result<Arc<Evidence>, CacheAway> {
        let (name, basis) = self.pool_of(tenant, task_type).await?;
        let store = &self.dependencies.store;
        let mut there = store.value(tenant.digest(), &name).await?;
        loop {
            let asked = Instant::now();
            let mut evidence = Evidence::decode(there.as_deref(), basis, self.now());
            if !evidence.observe(seen, self.now()) {
                return Ok(self.evidences.keep(tenant, name, evidence, asked));
            }
            let bytes = evidence.encode();
            let now_there = store.swap(tenant.digest(), &name, there.as_deref(), Some(&bytes)).await?;
            if now_there.as_deref() == Some(&bytes) {
                return Ok(self.evidences.keep(tenant, name, evidence, asked));
            }
            // Another process was quicker: with what it left, again.
            there = now_there;
        }
    }

    /// Where a task's evidence lies, and what it rests on.
    async fn pool_of(&self, tenant: &Tenant, task_type: &str) -> Result<(String, Digest), CacheAway> {
        let embedder = self.vectors.embedder();
        // What was invalidated was of another time: evidence begins anew with it.
        let scopes = [Scope::Tenant, tenant.keys.task(task_type)];
        let epochs = tenant.epochs(&*self.dependencies.store, &scopes).await?;
        let epochs: Vec<u8> = epochs.iter().flat_map(|(_, epoch)| epoch.to_be_bytes()).collect();
        let basis = tenant.keys.basis(&[embedder.as_bytes(), GUARDS, &epochs]);
        let name = tenant.keys.text("evidence", &format!("{embedder}\n{task_type}"));
        Ok((format!("evidence:{}", hex(&name.0)), basis))
    }

    /// A number from 0 up to 1 that decides whether a near answer is audited: by the request's id, so that it can be
    /// repeated, and by the tenant's key, so that nobody can choose it.
    pub(crate) fn chance(question: &Question) -> f64 {
        let Digest(bytes) = question.tenant.keys.text("audit", &question.request_id);
        let whole = u128::from_be_bytes(bytes);
        (whole >> 75) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
impl Cache {
    /// As if so many near answers had been compared, and all been right.
    pub(crate) async fn seed(&self, tenant: &Tenant, task_type: &str, similarity: f32, right: u32) {
        let (name, basis) = self.pool_of(tenant, task_type).await.unwrap();
        let mut evidence = Evidence::none(basis, self.now());
        (0..right).for_each(|_| evidence.pool.observe(similarity, true, self.now()));
        let (store, bytes) = (&self.dependencies.store, evidence.encode());
        store.swap(tenant.digest(), &name, None, Some(&bytes)).await.unwrap();
    }
}
