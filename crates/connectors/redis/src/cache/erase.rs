//! Destroying what is stored, and looking afterwards.

use super::{RedisCache, entry, layout, scan::ROUNDS};
use signalbox_ports::cache::{CacheAway, Digest, Scope};

/// What one look through all keys removed.
#[derive(Debug, Default, Clone, Copy)]
struct Removed {
    entries: u64,
    others: u64,
}

impl RedisCache {
    /// Looks through all keys until a look finds nothing left to remove.
    pub(super) async fn erase_all(&self, tenant: Digest, scope: Option<Scope>) -> Result<u64, CacheAway> {
        let mut entries = 0;
        for _ in 0..ROUNDS {
            let removed = self.look(tenant, scope).await?;
            entries += removed.entries;
            if removed.entries == 0 && removed.others == 0 {
                return Ok(entries);
            }
        }
        Err(CacheAway("entries keep coming while they are erased".to_owned()))
    }

    async fn look(&self, tenant: Digest, scope: Option<Scope>) -> Result<Removed, CacheAway> {
        let (mut cursor, mut removed) = (0_u64, Removed::default());
        loop {
            let keys;
            (cursor, keys) = self.scan(cursor, &layout::all_of(tenant)).await?;
            let these = match scope {
                None => self.unlink(tenant, &keys).await?,
                Some(scope) => self.unlink_under(tenant, scope, &keys).await?,
            };
            removed.entries += these.entries;
            removed.others += these.others;
            if cursor == 0 {
                return Ok(removed);
            }
        }
    }

    /// Removes keys, but for the epochs, without which what is erased could come back.
    async fn unlink(&self, tenant: Digest, keys: &[String]) -> Result<Removed, CacheAway> {
        let epochs = layout::epochs(tenant);
        let (entries, others): (Vec<_>, Vec<_>) =
            keys.iter().filter(|key| **key != epochs).partition(|key| is_of_entries(key));
        let removed = self.unlink_under(tenant, Scope::Tenant, &entries).await?;
        if others.is_empty() {
            return Ok(removed);
        }
        let mut unlink = redis::cmd("UNLINK");
        unlink.arg(&others);
        let count = self.ask(async |connection| unlink.query_async::<u64>(connection).await).await?;
        Ok(Removed { others: removed.others + count, ..removed })
    }

    /// Removes those of the keys that are of entries under a scope, or lead nowhere.
    async fn unlink_under<K: AsRef<str>>(
        &self,
        tenant: Digest,
        scope: Scope,
        keys: &[K],
    ) -> Result<Removed, CacheAway> {
        let mut script = self.prepared(&self.scripts.erase, tenant).await?;
        let mut any = false;
        for key in keys.iter().map(AsRef::as_ref).filter(|key| is_of_entries(key)) {
            script.key(key);
            any = true;
        }
        if !any {
            return Ok(Removed::default());
        }
        let (kind, digest) = layout::kind(scope);
        script
            .arg(kind)
            .arg(digest.map(layout::letters))
            .arg(&entry::scope_bytes(scope)[..])
            .arg(entry::EPOCHS_AT);
        let (entries, others) =
            self.ask(async |connection| script.invoke_async::<(u64, u64)>(connection).await).await?;
        Ok(Removed { entries, others })
    }
}

fn is_of_entries(key: &str) -> bool {
    key.starts_with(layout::ENTRIES)
}
