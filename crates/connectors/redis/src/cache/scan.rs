//! Walking through all keys.

use super::RedisCache;
use signalbox_ports::cache::CacheAway;

/// How often all keys are walked through again for what came meanwhile.
pub(super) const ROUNDS: usize = 5;

/// Keys looked at in one step of the server.
const AT_ONCE: usize = 500;

impl RedisCache {
    /// One step of a walk that begins with `cursor` 0, and is over when it comes to 0 again: the next cursor, and the keys
    /// that match.
    pub(super) async fn scan(&self, cursor: u64, pattern: &str) -> Result<(u64, Vec<String>), CacheAway> {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(AT_ONCE);
        self.ask(async |connection| scan.query_async(connection).await).await
    }
}
