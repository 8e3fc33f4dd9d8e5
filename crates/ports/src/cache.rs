//! Where cached answers lie, and what turns texts into vectors.

pub use signalbox_caching::{Digest, Partition, Scope, vectors};

use signalbox_api::v1::UsageAttempt;
use std::{fmt, time::Duration};

/// Epochs of scopes, in the scopes' order. They are equal until one is raised, or until a store may have lost some: then
/// none is as it was.
pub type Epochs = Vec<(Scope, u64)>;

/// An entry as the store keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Unique: the key it is found by.
    pub key: Digest,
    /// Where it is.
    pub partition: Partition,
    /// Epochs at the time it was stored.
    pub epochs: Epochs,
    /// The answer and what guards need, compressed, encrypted, and bound to partition and key.
    pub sealed: Vec<u8>,
    /// The instruction's vector, of length 1, where it may be found by meaning.
    pub vector: Option<Vec<f32>>,
    /// Nano-EUR that serving it saves: what is worth keeping when room is short.
    pub worth: i64,
}

/// An entry near a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// The entry, whole.
    pub entry: Entry,
    /// Cosine similarity, -1 to 1.
    pub similarity: f32,
}

/// Keeps entries. Every method has the caller's deadline; whatever fails is a miss. Stores know digests only.
#[async_trait::async_trait]
pub trait CacheStore: Send + Sync + fmt::Debug {
    /// The first entry that is there under one of the keys of a tenant, in their order. Entries come back without their
    /// vectors, here and from [`CacheStore::nearest`].
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn get(&self, tenant: Digest, keys: &[Digest]) -> Result<Option<Entry>, CacheAway>;

    /// Up to `most` entries of the partition, and of no other, nearest first.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn nearest(
        &self,
        partition: &Partition,
        embedder: &str,
        vector: &[f32],
        most: usize,
    ) -> Result<Vec<Near>, CacheAway>;

    /// Keeps an entry for a time, in place of one with its key; `aliases` are further keys that lead to it, and to nothing
    /// that is put under its key later. `embedder` names what its vector is of. A store may forget it at any time.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn put(
        &self,
        entry: &Entry,
        aliases: &[Digest],
        embedder: &str,
        ttl: Duration,
    ) -> Result<(), CacheAway>;

    /// Removes an entry.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn remove(&self, tenant: Digest, key: Digest) -> Result<bool, CacheAway>;

    /// Current epochs of scopes, in their order.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn epochs(&self, tenant: Digest, scopes: &[Scope]) -> Result<Epochs, CacheAway>;

    /// Raises a scope's epoch: what was stored under it is not served any more. The new one.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn raise(&self, tenant: Digest, scope: Scope) -> Result<u64, CacheAway>;

    /// Destroys what is stored of a tenant under a scope, vectors too, and looks afterwards that nothing is left. `None` is
    /// for all there is of the tenant, values and leads too, but for its epochs. How many entries that were.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn erase(&self, tenant: Digest, scope: Option<Scope>) -> Result<u64, CacheAway>;

    /// Destroys what was stored under another secret, if the store knows of any: nobody can tell any more whose it is, and
    /// nothing of it is given again. How many keys that were.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn erase_strays(&self) -> Result<u64, CacheAway> {
        Ok(0)
    }

    /// Takes the lead of a flight, or says who has it. A lead ends by itself after `ttl`.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn lead(&self, tenant: Digest, key: Digest, owner: &str, ttl: Duration) -> Result<Lead, CacheAway>;

    /// Holds on to a lead; `false` where it was lost.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn renew_lead(
        &self,
        tenant: Digest,
        key: Digest,
        owner: &str,
        ttl: Duration,
    ) -> Result<bool, CacheAway>;

    /// Gives up a lead, if it still is the owner's.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn release_lead(&self, tenant: Digest, key: Digest, owner: &str) -> Result<(), CacheAway>;

    /// A small value of a tenant that outlives entries and is not of any: a wrapped data key, or evidence. Only what
    /// still is `expected` is replaced; what is there afterwards.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn swap(
        &self,
        tenant: Digest,
        name: &str,
        expected: Option<&[u8]>,
        value: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, CacheAway>;

    /// Such a value.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn value(&self, tenant: Digest, name: &str) -> Result<Option<Vec<u8>>, CacheAway>;

    /// What a tenant holds: entries and bytes, by task. About right is enough.
    ///
    /// # Errors
    /// See [`CacheAway`].
    async fn held(&self, tenant: Digest) -> Result<Vec<(Digest, Held)>, CacheAway>;
}

/// What is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Entries.
    pub entries: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Who leads a flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// The one who asked.
    Mine,
    /// Somebody else.
    Anothers,
}

/// The store cannot be reached, or failed, or took too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cache store is away: {0}")]
pub struct CacheAway(pub String);

/// Turns texts into vectors of length 1.
#[async_trait::async_trait]
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Names model and version: vectors of different ids are never compared.
    fn id(&self) -> &str;

    /// Whether vectors are made right here, at once: then nothing is gained by asking for several together.
    fn is_local(&self) -> bool {
        false
    }

    /// A vector for each text, in their order.
    ///
    /// # Errors
    /// No vectors could be had in time.
    async fn embed(&self, texts: &[String]) -> Result<Embedded, NotEmbedded>;
}

/// Vectors, and what they cost.
#[derive(Debug, Clone, Default)]
pub struct Embedded {
    /// One for each text.
    pub vectors: Vec<Vec<f32>>,
    /// The call that made them, for the request's account; `None` where nobody was called.
    pub attempt: Option<Box<UsageAttempt>>,
}

/// No vectors.
#[derive(Debug, Clone, thiserror::Error)]
#[error("no vectors: {reason}")]
pub struct NotEmbedded {
    /// Why.
    pub reason: String,
    /// A call that failed and may have cost something.
    pub attempt: Option<Box<UsageAttempt>>,
}

/// Judges whether an answer fits a request it was not made for, where comparing answers does not tell.
#[async_trait::async_trait]
pub trait Verifier: Send + Sync + fmt::Debug {
    /// Whether `answer`, made for `stored`, also answers `asked`. What fails is [`Verdict::Unsure`].
    async fn verify(&self, question: &Verification<'_>) -> Verified;
}

/// What a verifier is asked.
#[derive(Debug, Clone, Copy)]
pub struct Verification<'a> {
    /// Whose texts these are.
    pub tenant_id: &'a str,
    /// Instruction that the answer was made for.
    pub stored: &'a str,
    /// Instruction that it would be given to.
    pub asked: &'a str,
    /// The answer.
    pub answer: &'a str,
}

/// A verdict, and what it cost.
#[derive(Debug, Clone)]
pub struct Verified {
    /// Whether the cached answer is right for what was asked.
    pub verdict: Verdict,
    /// The call that made it, for the request's account; `None` where nobody was called.
    pub attempt: Option<Box<UsageAttempt>>,
}

/// Whether an answer fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It answers both.
    Same,
    /// It does not.
    Different,
    /// Not known: taken for wrong.
    Unsure,
}
