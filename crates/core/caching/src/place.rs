//! Where an answer lies, in digests only.

/// A keyed digest (HMAC-SHA-256, its first 16 bytes): says nothing of what it is of, and is equal for equal things of one
/// tenant only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Digest(pub [u8; 16]);

/// What an answer may be shared within: the hard filter of every lookup, kept with each entry and compared again after it
/// was fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Partition {
    /// Of the tenant's id.
    pub tenant: Digest,
    /// Of the task type.
    pub task: Digest,
    /// Of the locale.
    pub locale: Digest,
    /// Of everything in the request but the instruction.
    pub fingerprint: Digest,
}

/// What an invalidation can name. An entry is served only while all of its epochs are the current ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All of a tenant's.
    Tenant,
    /// Of a task type.
    Task(Digest),
    /// Of a locale.
    Locale(Digest),
    /// Asked of an alias, a tier or a model.
    Requested(Digest),
    /// Made from a prompt template; once with its version and once without.
    Template(Digest),
    /// For a reference.
    Reference(Digest),
}
