//! Cached answers in this process's memory, within a bound that holds.
//!
//! Entries are spread over shards by their key. A shard has one short lock, its own share of the bound, and the vectors
//! of its own entries, so that nothing ever waits for two locks and a search reads little under each.

mod desk;
mod record;
mod shard;
mod sizes;
mod store;
mod table;
mod vectors;

pub use store::MemoryCache;

#[cfg(test)]
mod tests;
