//! Calls of the cache, each with its time.

use super::{
    context::Asked,
    line::{Joined, Lines},
    metrics::LookupTimer,
    owed::Owed,
};
use crate::admission::Admitted;
use signalbox_api::{
    convert::duration_to_proto,
    v1::{self, cache_service_client::CacheServiceClient},
};
use signalbox_kit::{Hop, lag};
use std::{fmt, sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};
use tonic::Request;

/// How long the cache gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOptions {
    /// For a lookup of exact matches.
    pub exact_budget: Duration,
    /// For a lookup with matching by meaning.
    pub semantic_budget: Duration,
    /// Whether identical requests wait for one answer.
    pub single_flight: bool,
    /// The longest wait for an identical request; never more than half of a request's own time.
    pub longest_wait: Duration,
    /// The longest single wait.
    pub wait_slice: Duration,
    /// How much later than that its end may be told, as where many waited: a cache that stands still holds nobody up for
    /// longer than both.
    pub wait_margin: Duration,
    /// The same for a lookup that does not wait. None where the cache is another process, which may stand still; in this
    /// one it keeps its time by itself, and who gave up on it before would not hear that it leads.
    pub lookup_margin: Duration,
    /// For keeping an answer, which nobody waits for.
    pub store_budget: Duration,
    /// Answers on their way to the cache at the same time; further ones are not kept.
    pub most_stores: usize,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            exact_budget: Duration::from_millis(5),
            semantic_budget: Duration::from_millis(25),
            single_flight: true,
            longest_wait: Duration::from_secs(10),
            wait_slice: Duration::from_millis(500),
            wait_margin: Duration::from_millis(250),
            lookup_margin: Duration::ZERO,
            store_budget: Duration::from_secs(5),
            most_stores: 64,
        }
    }
}

/// The way to the cache. Clones share it.
#[derive(Clone)]
pub struct Cache(Arc<Inner>);

struct Inner {
    client: CacheServiceClient<Hop>,
    options: CacheOptions,
    stores: Arc<Semaphore>,
    owed: Owed,
    lines: Lines,
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("options", &self.0.options).finish_non_exhaustive()
    }
}

/// The cache did not answer: a miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silent {
    /// In time.
    Late,
    /// At all.
    Away,
}

impl Silent {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Late => "timeout",
            Self::Away => "unavailable",
        }
    }
}

impl Cache {
    /// Over a hop, with messages of up to `max_message_bytes`.
    pub fn new(hop: Hop, options: CacheOptions, max_message_bytes: usize) -> Self {
        let client = CacheServiceClient::new(hop)
            .max_decoding_message_size(max_message_bytes)
            .max_encoding_message_size(max_message_bytes);
        let stores = Arc::new(Semaphore::new(options.most_stores));
        Self(Arc::new(Inner { client, options, stores, owed: Owed::default(), lines: Lines::new() }))
    }

    /// Joins the requests of this router that ask the same; `None` where they do not wait for each other.
    pub(super) fn join(&self, admitted: &Admitted, asked: &Asked, exact_only: bool) -> Option<Joined> {
        self.0.options.single_flight.then(|| self.0.lines.join(admitted, asked, exact_only))
    }

    /// How long a request waits for an identical one that has so much time left: for half of it at most.
    pub(super) fn patience(&self, left: Option<Duration>) -> Duration {
        let longest = self.0.options.longest_wait;
        left.map_or(longest, |left| longest.min(left / 2))
    }

    /// How long those who wait for an answer wait for the cache's word on it.
    pub(super) fn word_on_answers(&self) -> Duration {
        self.0.options.wait_margin
    }

    fn budget(&self, by_meaning: bool) -> Duration {
        let options = &self.0.options;
        if by_meaning { options.semantic_budget } else { options.exact_budget }
    }

    /// Looks for an answer within a budget.
    pub(super) async fn lookup(
        &self,
        asked: &v1::LookupRequest,
        by_meaning: bool,
    ) -> Result<v1::LookupResponse, Silent> {
        let timer = LookupTimer::start();
        let found = self.look_once(asked, self.budget(by_meaning), self.0.options.lookup_margin).await;
        timer.ended();
        found
    }

    /// Where an identical request is under way in another router, waits for its answer until then.
    pub(super) async fn wait(
        &self,
        mut asked: v1::LookupRequest,
        by_meaning: bool,
        until: Instant,
        mut found: v1::LookupResponse,
    ) -> v1::LookupResponse {
        let options = &self.0.options;
        while found.under_way {
            let slice = until.saturating_duration_since(Instant::now()).min(options.wait_slice);
            if slice.is_zero() {
                break;
            }
            asked.wait = Some(duration_to_proto(slice));
            // Whoever waits in vain goes on with what was found before.
            let Ok(again) =
                self.look_once(&asked, slice, self.budget(by_meaning).max(options.wait_margin)).await
            else {
                break;
            };
            let attempts = std::mem::take(&mut found.attempts);
            found = v1::LookupResponse { attempts: [attempts, again.attempts].concat(), ..again };
        }
        found
    }

    async fn look_once(
        &self,
        asked: &v1::LookupRequest,
        budget: Duration,
        margin: Duration,
    ) -> Result<v1::LookupResponse, Silent> {
        let limit = budget + margin;
        let mut request = Request::new(asked.clone());
        request.set_timeout(limit);
        let mut client = self.0.client.clone();
        match lag::within(limit, client.lookup(request)).await {
            Err(_) => Err(Silent::Late),
            Ok(Err(status)) if status.code() == tonic::Code::DeadlineExceeded => Err(Silent::Late),
            Ok(Err(status)) => {
                tracing::debug!(%status, "the cache cannot be asked");
                Err(Silent::Away)
            }
            Ok(Ok(found)) => Ok(found.into_inner()),
        }
    }

    /// Model calls that keeping answers took, which the tenant's next account is to tell.
    pub(super) fn owed(&self) -> &Owed {
        &self.0.owed
    }

    /// A place among the answers on their way to the cache, where there is one.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.0.stores.clone().try_acquire_owned().ok()
    }

    /// Keeps an answer.
    pub(super) async fn store(&self, kept: v1::StoreRequest) -> Result<v1::StoreResponse, Silent> {
        let budget = self.0.options.store_budget;
        let mut request = Request::new(kept);
        request.set_timeout(budget);
        let mut client = self.0.client.clone();
        match timeout(budget, client.store(request)).await {
            Err(_) => Err(Silent::Late),
            Ok(Err(status)) => {
                tracing::debug!(%status, "the cache does not keep an answer");
                Err(Silent::Away)
            }
            Ok(Ok(stored)) => Ok(stored.into_inner()),
        }
    }

    /// Holds on to a flight: until when, or that another has taken over.
    pub(super) async fn renew(&self, lookup_token: String) -> Result<v1::RenewFlightResponse, Silent> {
        let mut client = self.0.client.clone();
        let renewed = client.renew_flight(v1::RenewFlightRequest { lookup_token });
        match timeout(self.0.options.wait_slice, renewed).await {
            Err(_) => Err(Silent::Late),
            Ok(renewed) => renewed.map(tonic::Response::into_inner).map_err(|_| Silent::Away),
        }
    }

    /// Gives up a flight, so that one of those who wait takes over.
    pub(super) async fn release(&self, lookup_token: String) {
        let mut client = self.0.client.clone();
        let released = client.release_flight(v1::ReleaseFlightRequest { lookup_token });
        // Should it get lost, the flight ends by itself.
        let _lost = timeout(self.0.options.wait_slice, released).await;
    }
}
