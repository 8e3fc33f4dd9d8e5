//! Who calls: API keys, looked up once and then known until something is heard of them.

mod cache;
mod presented;
mod slowdown;

use crate::{
    calls::{self, Refused},
    flights::Flights,
    metrics,
    replica::Inner,
};
use cache::{Cache, Found, Known};
use presented::{Digest, key_id, looks_like_a_key};
use signalbox_api::{convert::duration_from_proto, v1};
use signalbox_kit::config::Secret;
use signalbox_ports::{Identity, Scope};
use signalbox_types::{ErrorReason, Failure};
use slowdown::{Slowdown, Source, Turn};
use std::{
    net::IpAddr,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::{Instant, sleep_until};

/// How long an answer is used that does not say.
const DEFAULT_TTL: Duration = Duration::from_secs(60);

static OPEN: LazyLock<Arc<Identity>> = LazyLock::new(|| nobody(Scope::Open));
static DEPLOYMENT: LazyLock<Arc<Identity>> = LazyLock::new(|| nobody(Scope::Deployment));

fn nobody(scope: Scope) -> Arc<Identity> {
    Arc::new(Identity { key_id: String::new(), scope })
}

/// What is known of keys and of those who present them.
#[derive(Debug)]
pub(crate) struct Keys {
    /// The deployment's own key.
    deployment: Option<Digest>,
    cache: Mutex<Cache>,
    slowdown: Mutex<Slowdown>,
    lookups: Flights<Digest, Result<Arc<Identity>, Denied>>,
}

/// Why a key opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Denied {
    Missing,
    Malformed,
    Wrong,
    /// Its tenant is not served.
    Suspended,
    /// Nobody can say.
    Away,
}

impl Keys {
    pub(crate) fn new(deployment: Option<&Secret>) -> Self {
        Self {
            deployment: deployment.map(|key| Digest::of(key.expose())),
            cache: Mutex::default(),
            slowdown: Mutex::default(),
            lookups: Flights::default(),
        }
    }

    /// Whether the deployment has a key of its own.
    pub(crate) fn has_deployment_key(&self) -> bool {
        self.deployment.is_some()
    }

    /// A key has changed.
    pub(crate) fn changed(&self, key_id: &str) {
        self.cache().forget(key_id);
    }

    /// Nothing is heard of changes any more.
    pub(crate) fn unheard(&self, now: Instant) {
        self.cache().unheard(now);
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slowdown(&self) -> MutexGuard<'_, Slowdown> {
        self.slowdown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn of who presents a key that is not known to be right.
    async fn wait_turn(&self, source: Option<Source>) -> Result<(), Failure> {
        let Some(source) = source else { return Ok(()) };
        let turn = self.slowdown().turn(source, Instant::now());
        match turn {
            Turn::Now => Ok(()),
            Turn::At(turn) => {
                sleep_until(turn).await;
                Ok(())
            }
            Turn::TooMany(wait) => {
                metrics::auth_failure("slowed_down");
                let message = "too many wrong API keys were sent from this address; try again later";
                let failure = Failure::new(ErrorReason::RateLimited, message);
                Err(Failure { retry_after: Some(wait), ..failure })
            }
        }
    }

    fn denied(&self, denied: Denied, source: Option<Source>) -> Failure {
        metrics::auth_failure(denied.name());
        if let (Some(source), Denied::Malformed | Denied::Wrong) = (source, denied) {
            self.slowdown().failed(source, Instant::now());
        }
        denied.failure()
    }
}

impl Denied {
    fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Malformed => "malformed",
            Self::Wrong => "wrong",
            Self::Suspended => "suspended",
            Self::Away => "away",
        }
    }

    fn failure(self) -> Failure {
        let message = match self {
            Self::Missing => {
                "an API key is required: send it as metadata, `authorization: Bearer sbx_…` \
                 (`signalbox key create` makes one)"
            }
            Self::Malformed => "this is not an API key: send one as `authorization: Bearer sbx_…`",
            Self::Wrong => "the API key is unknown, expired or revoked",
            Self::Suspended => {
                let message = "the tenant of this API key is suspended: ask whoever runs this deployment";
                return Failure::new(ErrorReason::PermissionDenied, message);
            }
            Self::Away => return calls::away(&None),
        };
        Failure::new(ErrorReason::Unauthenticated, message)
    }
}

impl Inner {
    /// Who presents a key.
    pub(crate) async fn identify(
        self: &Arc<Self>,
        key: Option<&str>,
        peer: Option<IpAddr>,
    ) -> Result<Arc<Identity>, Failure> {
        let source = peer.map(Source::of);
        let Some(key) = key else { return self.without_key(Denied::Missing, None).await };
        let digest = Digest::of(key);
        if self.keys.deployment.as_ref().is_some_and(|own| own.is(&digest)) {
            return Ok(DEPLOYMENT.clone());
        }
        let Some(key_id) = key_id(key) else {
            if looks_like_a_key(key) {
                self.keys.wait_turn(source).await?;
                return Err(self.keys.denied(Denied::Malformed, source));
            }
            // Where nobody has a key, clients that insist on sending something may.
            return self.without_key(Denied::Malformed, source).await;
        };
        if let Found::Known(identity) = self.find(key_id, &digest) {
            return Ok(identity);
        }
        self.keys.wait_turn(source).await?;
        self.look_up_once(key_id, digest).await.map_err(|denied| self.keys.denied(denied, source))
    }

    /// Without a key anybody may do everything, as long as there is no key at all.
    async fn without_key(&self, denied: Denied, source: Option<Source>) -> Result<Arc<Identity>, Failure> {
        match self.is_authentication_required().await {
            Some(false) => Ok(OPEN.clone()),
            Some(true) => {
                self.keys.wait_turn(source).await?;
                Err(self.keys.denied(denied, source))
            }
            None => Err(self.keys.denied(Denied::Away, None)),
        }
    }

    fn find(&self, key_id: &str, digest: &Digest) -> Found {
        let now = (Instant::now(), self.clock.now());
        self.keys.cache().find(key_id, digest, now, self.settings.key_grace)
    }

    async fn look_up_once(self: &Arc<Self>, key_id: &str, digest: Digest) -> Result<Arc<Identity>, Denied> {
        let (lead, follow) = self.keys.lookups.join(&digest);
        if let Some(lead) = lead {
            let (inner, key_id) = (self.clone(), key_id.to_owned());
            // Of its own, as whoever asked first may go away while others wait.
            tokio::spawn(async move { lead.tell(inner.look_up(&key_id, digest).await) });
        }
        follow.answer().await.unwrap_or(Err(Denied::Away))
    }

    async fn look_up(&self, key_id: &str, digest: Digest) -> Result<Arc<Identity>, Denied> {
        let stale = match self.find(key_id, &digest) {
            Found::Known(identity) => return Ok(identity),
            Found::Wrong => return Err(Denied::Wrong),
            Found::Stale(identity) => Some(identity),
            Found::Unknown => None,
        };
        match self.resolve(key_id, digest).await {
            Err(Denied::Away) => stale.ok_or(Denied::Away),
            answer => answer,
        }
    }

    async fn resolve(&self, key_id: &str, digest: Digest) -> Result<Arc<Identity>, Denied> {
        if self.calls.is_not_worth_trying() {
            return Err(Denied::Away);
        }
        let (sent, heard) = (Instant::now(), self.keys.cache().heard());
        let request =
            v1::ResolveApiKeyRequest { key_id: key_id.to_owned(), digest: digest.0.to_vec().into() };
        let answer = match self.calls.resolve(request).await {
            Ok(answer) => answer,
            // The service may mean this process, not the key that it asks about.
            Err(Refused::No(no)) if no.reason == ErrorReason::Unauthenticated && !self.heard.is_refused() => {
                self.keys.cache().keep_wrong(key_id, digest, Instant::now());
                return Err(Denied::Wrong);
            }
            Err(Refused::No(no))
                if no.reason == ErrorReason::PermissionDenied && !self.heard.is_refused() =>
            {
                return Err(Denied::Suspended);
            }
            Err(Refused::No(no)) => {
                tracing::warn!(key_id, problem = %no, "an API key could not be looked up");
                return Err(Denied::Away);
            }
            Err(Refused::Away(_)) => return Err(Denied::Away),
        };
        let known = self.known(answer, digest, sent).ok_or(Denied::Away)?;
        let identity = known.identity.clone();
        if known.expires_at.is_some_and(|end| end <= self.clock.now()) {
            return Err(Denied::Wrong);
        }
        self.keys.cache().keep(key_id, known, heard, Instant::now());
        Ok(identity)
    }

    fn known(&self, answer: v1::ResolveApiKeyResponse, digest: Digest, sent: Instant) -> Option<Known> {
        let key = answer.api_key?;
        let scope = match key.scope() {
            v1::api_key::Scope::Tenant => Scope::Tenant(key.tenant_id),
            v1::api_key::Scope::ReadOnly => Scope::ReadOnly(key.tenant_id),
            v1::api_key::Scope::Admin => Scope::Admin,
            v1::api_key::Scope::Unspecified => return None,
        };
        let ttl = answer.ttl.and_then(duration_from_proto).unwrap_or(DEFAULT_TTL);
        Some(Known {
            digest,
            identity: Arc::new(Identity { key_id: key.key_id, scope }),
            expires_at: key.expire_time.and_then(|time| time.try_into().ok()),
            fresh_until: sent + ttl,
            unheard_since: (!self.heard.is_open()).then_some(sent),
        })
    }
}
