//! The cache secret in use: what lies in the store under another can be neither found nor trusted any more.
//!
//! The store remembers the secret's fingerprint and since when it is in use, and a tenant's epochs remember both: where
//! they differ they begin anew, so that nothing comes back with a secret that was in use before. Processes of different
//! secrets at the same time take it from each other, and everything is a miss.

use super::{RedisCache, layout, locked, scan::ROUNDS};
use crate::metrics;
use redis::Script;
use signalbox_ports::cache::{CacheAway, Digest};
use std::{
    collections::HashMap,
    sync::Mutex,
    time::{Duration, Instant},
};

/// How often it is told at most.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// The secret of this process, as far as the store may know it.
#[derive(Debug)]
pub(super) struct InUse {
    fingerprint: String,
    script: Script,
    told: Mutex<Option<Instant>>,
}

impl InUse {
    pub(super) fn new(fingerprint: Digest) -> Self {
        let script = Script::new(include_str!("secret.lua"));
        Self { fingerprint: layout::letters(fingerprint), script, told: Mutex::default() }
    }

    /// Tells operators: once it is a change, again and again it is two processes that differ.
    fn took_over(&self) {
        metrics::cache_secret_changed();
        let mut told = locked(&self.told);
        if told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
            *told = Some(Instant::now());
            tracing::warn!(
                "The cache store was used with another cache secret: it begins empty. Where this comes again, processes \
                 with the role cache have different secrets, and everything is a miss"
            );
        }
    }
}

/// Whose the keys of a tenant are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Ours,
    Anothers,
    /// It has no epochs, without which no answer is given. What counts lookups may lie there all the same.
    Nobodys,
}

impl RedisCache {
    /// The secret's fingerprint and since when it is in use; empty without one.
    pub(super) async fn term(&self) -> Result<String, CacheAway> {
        let Some(secret) = &self.secret else { return Ok(String::new()) };
        let mut script = secret.script.key(layout::SECRET);
        script.arg(&secret.fingerprint);
        let (since, took_over) =
            self.ask(async |connection| script.invoke_async::<(String, bool)>(connection).await).await?;
        if took_over {
            secret.took_over();
        }
        Ok(format!("{}:{since}", secret.fingerprint))
    }

    /// Looks through all keys until a look finds none of another secret, but for epochs.
    pub(super) async fn erase_all_strays(&self) -> Result<u64, CacheAway> {
        let Some(secret) = &self.secret else { return Ok(0) };
        let mut all = 0;
        for _ in 0..ROUNDS {
            let removed = self.look_for_strays(secret).await?;
            all += removed;
            if removed == 0 {
                return Ok(all);
            }
        }
        Err(CacheAway("entries under another cache secret keep coming while they are erased".to_owned()))
    }

    async fn look_for_strays(&self, secret: &InUse) -> Result<u64, CacheAway> {
        let (mut cursor, mut removed, mut seen) = (0_u64, 0, HashMap::new());
        loop {
            let keys;
            (cursor, keys) = self.scan(cursor, layout::ALL_OF_TENANTS).await?;
            for key in &keys {
                let Some(tag) = layout::tag_of(key) else { continue };
                let whose = match seen.get(tag) {
                    Some(whose) => *whose,
                    None => {
                        let whose = self.whose(secret, tag).await?;
                        seen.insert(tag.to_owned(), whose);
                        whose
                    }
                };
                if is_stray(whose, key) {
                    let mut unlink = redis::cmd("UNLINK");
                    unlink.arg(key);
                    removed +=
                        self.ask(async |connection| unlink.query_async::<u64>(connection).await).await?;
                }
            }
            if cursor == 0 {
                return Ok(removed);
            }
        }
    }

    async fn whose(&self, secret: &InUse, tag: &str) -> Result<Whose, CacheAway> {
        let mut get = redis::cmd("HGET");
        get.arg(layout::epochs_of(tag)).arg("primary");
        let primary =
            self.ask(async |connection| get.query_async::<Option<String>>(connection).await).await?;
        Ok(match primary {
            None => Whose::Nobodys,
            Some(primary) if primary.split(':').any(|part| part == secret.fingerprint) => Whose::Ours,
            Some(_) => Whose::Anothers,
        })
    }
}

fn is_stray(whose: Whose, key: &str) -> bool {
    match whose {
        Whose::Ours => false,
        Whose::Anothers => !key.starts_with(layout::EPOCHS),
        Whose::Nobodys => !key.starts_with(layout::EPOCHS) && !key.starts_with(layout::VALUES),
    }
}
