//! Slices of rate limits, as leases. The id of such a lease says what limit it is of, so that nothing has to be kept
//! of it here.

use super::refusal;
use crate::{failure, metrics, service::Dependencies};
use signalbox_api::{
    convert::duration_to_proto,
    v1::{
        AcquireLeasesRequest, ApiKey, Lease, RateLimit, RateSlice, Tenant, lease::Slice, rate_slice::Level,
        tenant::FailureMode,
    },
};
use signalbox_ports::{NoRate, RateAsk, RateGrant};
use signalbox_types::{ErrorReason, Failure};
use std::time::Duration;

/// How long replicas let through their own parts of limits before they ask for slices again.
const OWN_PART_FOR: Duration = Duration::from_secs(1);

/// A slice that was taken.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    lease_id: String,
    ask: RateAsk,
    grant: RateGrant,
    /// Nothing was taken: the limiter is away, and the tenant wants to go on.
    own_part: bool,
}

impl Taken {
    fn new(ask: RateAsk, grant: RateGrant) -> Self {
        let place = Place { tenant_id: ask.tenant_id.clone(), level: ask.level, name: ask.name.clone() };
        Self { lease_id: place.lease_id(), ask, grant, own_part: false }
    }

    fn own_part(ask: RateAsk) -> Self {
        let ask = RateAsk { ttl: OWN_PART_FOR, ..ask };
        Self { own_part: true, ..Self::new(ask, RateGrant::default()) }
    }

    pub(super) fn into_lease(self) -> Lease {
        let Self { lease_id, ask, grant, own_part } = self;
        Lease {
            lease_id,
            slice: Some(Slice::Rate(RateSlice {
                level: ask.level as i32,
                name: ask.name,
                granted_requests: grant.requests,
                granted_tokens: grant.tokens,
                granted_concurrent_requests: grant.concurrent,
                remaining: Some(grant.remaining),
                limit: Some(ask.limit),
                own_part,
            })),
            ttl: Some(duration_to_proto(ask.ttl)),
        }
    }
}

/// Slices of every rate that a request falls under: of all or of none.
pub(super) async fn take(
    dependencies: &Dependencies,
    tenant: &Tenant,
    request: &AcquireLeasesRequest,
) -> Result<Vec<Taken>, Failure> {
    let key = key(dependencies, &tenant.tenant_id, &request.key_id).await?;
    let levels = [
        (Level::Tenant, "", tenant.rate_limit),
        (Level::Scene, request.scene.as_str(), scene_limit(tenant, &request.scene)),
        (Level::Key, request.key_id.as_str(), key.and_then(|key| key.rate_limit)),
    ];
    let limited = levels.into_iter().filter_map(|(level, name, limit)| Some((level, name, limited(limit)?)));
    let named = |(level, name, limit): (Level, &str, RateLimit)| {
        let place = Place { tenant_id: tenant.tenant_id.clone(), level, name: name.to_owned() };
        let under_way = under_way(request, level, name);
        RateAsk { under_way, ..place.ask(dependencies, tenant, limit, &request.replica_id, &request.scene) }
    };
    let asks: Vec<RateAsk> = limited.map(named).collect();
    if asks.is_empty() {
        return Ok(Vec::new());
    }
    let granted = match dependencies.rates.take(&asks, request.needed_tokens).await {
        Err(NoRate::Away(why)) if tenant.failure_mode() == FailureMode::Open => {
            tracing::warn!(
                why,
                "the rate limiter is away; replicas let through their own parts of the limits"
            );
            return Ok(asks.into_iter().map(Taken::own_part).collect());
        }
        granted => granted.map_err(|no_rate| refused(&asks, no_rate))?,
    };
    Ok(asks.into_iter().zip(granted).map(|(ask, grant)| Taken::new(ask, grant)).collect())
}

fn under_way(request: &AcquireLeasesRequest, level: Level, name: &str) -> u32 {
    let mut uses = request.rate_uses.iter();
    uses.find(|used| used.level() == level && used.name == name).map_or(0, |used| used.under_way)
}

/// Gives back slices that were taken in vain. Permits for requests at once stay with the replica: the slice replaced
/// the one it had, from which requests may be under way.
pub(super) async fn give_back(dependencies: &Dependencies, taken: &[Taken]) {
    for Taken { ask, grant, .. } in taken.iter().filter(|taken| !taken.own_part) {
        let unused = RateGrant { concurrent: 0, ..*grant };
        if let Err(error) = dependencies.rates.give_back(ask, &unused).await {
            tracing::debug!(%error, "a slice of a rate is not given back");
        }
    }
}

/// A slice lives on, with the places of what is under way; `None` where its time is over, or its limit is gone.
pub(super) async fn renew(
    dependencies: &Dependencies,
    replica_id: &str,
    lease_id: &str,
    under_way: u32,
) -> Result<Option<Lease>, Failure> {
    let Some((place, tenant, limit)) = find(dependencies, lease_id).await? else { return Ok(None) };
    let ask = RateAsk { under_way, ..place.ask(dependencies, &tenant, limit, replica_id, "") };
    let renewed = dependencies.rates.renew(&ask).await.map_err(|error| away(&error.to_string()))?;
    Ok(renewed.map(|grant| Taken::new(ask, grant).into_lease()))
}

/// What a replica did not use.
pub(super) async fn returned(
    dependencies: &Dependencies,
    replica_id: &str,
    lease_id: &str,
    unused: RateGrant,
) -> Result<(), Failure> {
    let Some((place, tenant, limit)) = find(dependencies, lease_id).await? else { return Ok(()) };
    let ask = place.ask(dependencies, &tenant, limit, replica_id, "");
    dependencies.rates.give_back(&ask, &unused).await.map_err(|error| away(&error.to_string()))
}

/// Whether a lease is of a rate.
pub(super) fn is_rate(lease_id: &str) -> bool {
    lease_id.starts_with(PREFIX)
}

const PREFIX: &str = "rate/";

/// A limit's place: `rate/tenant/acme/`, `rate/scene/acme/web` or `rate/key/acme/k7f2` as the id of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    tenant_id: String,
    level: Level,
    name: String,
}

impl Place {
    fn lease_id(&self) -> String {
        let level = match self.level {
            Level::Scene => "scene",
            Level::Key => "key",
            Level::Tenant | Level::Unspecified => "tenant",
        };
        format!("{PREFIX}{level}/{}/{}", self.tenant_id, self.name)
    }

    fn read(lease_id: &str) -> Option<Self> {
        // A scene may have any letters, and comes last.
        let mut parts = lease_id.strip_prefix(PREFIX)?.splitn(3, '/');
        let level = match parts.next()? {
            "tenant" => Level::Tenant,
            "scene" => Level::Scene,
            "key" => Level::Key,
            _ => return None,
        };
        Some(Self { level, tenant_id: parts.next()?.to_owned(), name: parts.next()?.to_owned() })
    }

    fn ask(
        self,
        dependencies: &Dependencies,
        tenant: &Tenant,
        limit: RateLimit,
        replica_id: &str,
        scene: &str,
    ) -> RateAsk {
        let priority = |name: &str| {
            tenant.scenes.iter().find(|policy| policy.scene == name).map_or(0, |policy| policy.priority)
        };
        let highest = tenant.scenes.iter().map(|policy| policy.priority).max().unwrap_or(0).max(0);
        RateAsk {
            slice_id: format!("{replica_id}/{}", self.lease_id()),
            tenant_id: self.tenant_id,
            level: self.level,
            name: self.name,
            limit,
            priority: (priority(scene), highest),
            under_way: 0,
            ttl: dependencies.options.lease_ttl,
        }
    }
}

/// The limit behind the id of a lease, as it is now.
async fn find(
    dependencies: &Dependencies,
    lease_id: &str,
) -> Result<Option<(Place, Tenant, RateLimit)>, Failure> {
    let Some(place) = Place::read(lease_id) else { return Ok(None) };
    let tenant = dependencies.tenants.tenant(&place.tenant_id).await.map_err(failure::of_reading)?;
    let Some(tenant) = tenant else { return Ok(None) };
    let limit = match place.level {
        Level::Scene => scene_limit(&tenant, &place.name),
        Level::Key => key(dependencies, &place.tenant_id, &place.name).await?.and_then(|key| key.rate_limit),
        Level::Tenant | Level::Unspecified => tenant.rate_limit,
    };
    Ok(limited(limit).map(|limit| (place, tenant, limit)))
}

async fn key(dependencies: &Dependencies, tenant_id: &str, key_id: &str) -> Result<Option<ApiKey>, Failure> {
    if key_id.is_empty() {
        return Ok(None);
    }
    let found = dependencies.tenants.key(key_id).await.map_err(failure::of_reading)?;
    Ok(found.map(|(key, _)| key).filter(|key| key.tenant_id == tenant_id))
}

fn scene_limit(tenant: &Tenant, scene: &str) -> Option<RateLimit> {
    tenant.scenes.iter().find(|policy| policy.scene == scene)?.rate_limit
}

/// A limit that limits anything.
fn limited(limit: Option<RateLimit>) -> Option<RateLimit> {
    limit.filter(|limit| *limit != RateLimit::default())
}

fn refused(asks: &[RateAsk], no_rate: NoRate) -> Failure {
    let index = match &no_rate {
        NoRate::Short { ask, .. } | NoRate::TooLarge { ask } => *ask,
        NoRate::Away(why) => return away(why),
    };
    metrics::refused("rate");
    match (asks.get(index), no_rate) {
        (Some(ask), NoRate::Short { of, retry_after, remaining, .. }) => {
            refusal::rate_limited(ask, of, retry_after, &remaining)
        }
        (Some(ask), _) => refusal::too_large(ask),
        (None, _) => {
            Failure::new(ErrorReason::Internal, "the rate limiter names no limit that it was asked for")
        }
    }
}

fn away(why: &str) -> Failure {
    tracing::warn!(why, "the rate limiter cannot be asked");
    Failure::new(ErrorReason::Unavailable, "the rate limiter cannot be reached; try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_lease_says_what_limit_it_is_of() {
        for (level, name) in [(Level::Tenant, ""), (Level::Scene, "a/b c"), (Level::Key, "k7f2")] {
            let place = Place { tenant_id: "acme".to_owned(), level, name: name.to_owned() };
            assert!(is_rate(&place.lease_id()));
            assert_eq!(Place::read(&place.lease_id()), Some(place));
        }
        for other in ["", "rate/", "rate/tenant", "rate/tenant/acme", "rate/planet/acme/", "0198-lease"] {
            assert_eq!(Place::read(other), None, "{other}");
        }
    }
}
