//! The lead of a flight: identical requests wait for this one's answer.

use super::client::Cache;
use signalbox_api::convert::duration_from_proto;
use std::time::Duration;
use tokio::task::AbortHandle;

/// The lead. It is held on to until it is landed; dropped before, it is given up, so that one of those who wait takes over.
#[derive(Debug)]
pub(super) struct Flight {
    cache: Cache,
    token: String,
    renewing: AbortHandle,
    landed: bool,
}

impl Flight {
    /// Holds on to a lead that ends after `ttl` unless it is renewed.
    pub(super) fn lead(cache: Cache, token: String, ttl: Duration) -> Self {
        let renewing = tokio::spawn(renew(cache.clone(), token.clone(), ttl)).abort_handle();
        Self { cache, token, renewing, landed: false }
    }

    /// The answer is there for all who wait.
    pub(super) fn land(mut self) {
        self.landed = true;
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.renewing.abort();
        if self.landed {
            return;
        }
        // Outside a runtime the process ends, and the lead with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (cache, token) = (self.cache.clone(), std::mem::take(&mut self.token));
            runtime.spawn(async move { cache.release(token).await });
        }
    }
}

/// Renews a lead three times in its life, for as long as it is held.
async fn renew(cache: Cache, token: String, mut ttl: Duration) {
    const SHORTEST: Duration = Duration::from_millis(10);
    loop {
        tokio::time::sleep((ttl / 3).max(SHORTEST)).await;
        // One that does not answer may be back in time.
        let Ok(renewed) = cache.renew(token.clone()).await else { continue };
        match renewed.flight_ttl.and_then(duration_from_proto) {
            Some(next) => ttl = next,
            None => return,
        }
    }
}
