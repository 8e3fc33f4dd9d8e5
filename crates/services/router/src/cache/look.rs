//! Looking for an answer before a request is planned.

use super::{
    client::Cache,
    context::Asked,
    keep::Keep,
    line::{Follower, Joined},
    metrics,
};
use crate::{account::Account, admission::Admitted, service::Dependencies};
use signalbox_api::{
    convert::{self, duration_from_proto},
    v1::{self, cache_effect::Outcome},
};
use signalbox_caching::{Facts, Reason, Semantic, TaskPolicy, eligibility::barred};
use signalbox_kit::catalog::Catalog;
use signalbox_pricing::Day;
use signalbox_types::{CachePolicy, GenerateRequest, ModelRef};
use std::time::Duration;
use tokio::time::Instant;

/// What is known of a request that looks for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker {
    /// A content policy found something in it.
    pub(crate) is_sensitive: bool,
    /// Its budget pays for no model call, also none that a lookup by meaning makes.
    pub(crate) pays_nothing: bool,
}

/// How a request met the cache.
pub(crate) enum Met {
    /// It was answered before.
    Hit(Box<v1::CachedAnswer>),
    /// It must be planned; what there is goes along with it.
    Miss(Option<Box<Keep>>),
}

/// Looks for an answer to a request. Its account is told how it met the cache, unless there is none.
pub(crate) async fn look(
    dependencies: &Dependencies,
    catalog: &Catalog,
    admitted: &Admitted,
    asker: Asker,
    account: &mut Account,
) -> Met {
    let Some(cache) = &dependencies.cache else { return Met::Miss(None) };
    let request = &admitted.request;
    let day = Day::of(dependencies.clock.now());
    // A name that leads nowhere is refused when the request is planned.
    let targets = catalog.resolve(&request.model, &request.task_type, &request.tenant_id, day);
    let Ok(targets) = targets else { return Met::Miss(None) };
    let policy = catalog.cache_policy(&request.tenant_id, &request.task_type);
    if let Some(reason) = barred_by(request, policy, asker) {
        account.met_cache(bypass(reason), Vec::new());
        return Met::Miss(None);
    }
    let mut keep = Keep::new(cache.clone(), Asked::of(catalog, admitted, targets));
    if request.cache == CachePolicy::Refresh {
        account.met_cache(bypass(Reason::Mode.name()), Vec::new());
        return Met::Miss(Some(Box::new(keep)));
    }
    let mut wire = convert::generate_request_to_proto(request.clone());
    if asker.pays_nothing {
        wire.set_cache_mode(v1::CacheMode::ExactOnly);
    }
    let is_narrowed = asker.pays_nothing || request.cache == CachePolicy::ExactOnly;
    let by_meaning = !is_narrowed && policy.semantic != Semantic::Off;
    let lookup =
        v1::LookupRequest { request: Some(wire), context: Some(keep.asked().context().clone()), wait: None };
    let mut found = cache.lookup(&lookup, by_meaning).await;
    if found.as_ref().map_or(true, |found| found.answer.is_none()) && !asker.pays_nothing {
        match cache.join(admitted, keep.asked()) {
            Some(Joined::Follows(follower)) => {
                if let Some(answer) = follow(cache, follower, admitted).await
                    && fits(dependencies, catalog, admitted, &answer)
                {
                    metrics::met(Outcome::Coalesced);
                    let attempts = found.map(|found| found.attempts).unwrap_or_default();
                    account.met_cache(coalesced(&answer), attempts);
                    return Met::Hit(answer);
                }
            }
            Some(Joined::Leads(lead)) => {
                keep.leads(lead);
                if let Ok(there) = found {
                    found = Ok(cache.wait(lookup, by_meaning, patience(cache, admitted), there).await);
                }
            }
            None => {}
        }
    }
    let mut found = match found {
        Ok(found) => found,
        Err(silent) => {
            metrics::silent(silent.name());
            account.met_cache(miss(silent.name()), Vec::new());
            return Met::Miss(Some(Box::new(keep)));
        }
    };
    if !asker.pays_nothing {
        found.attempts.extend(cache.owed().take(&request.tenant_id));
    }
    take_in(dependencies, catalog, admitted, found, keep, account)
}

/// The answer of an identical request of this router, if it comes in time.
async fn follow(cache: &Cache, follower: Follower, admitted: &Admitted) -> Option<Box<v1::CachedAnswer>> {
    let answer = follower.answer(patience(cache, admitted)).await?;
    Some(Box::new((*answer).clone()))
}

fn patience(cache: &Cache, admitted: &Admitted) -> Duration {
    let left = admitted.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    cache.patience(left)
}

/// What a lookup gave.
fn take_in(
    dependencies: &Dependencies,
    catalog: &Catalog,
    admitted: &Admitted,
    found: v1::LookupResponse,
    mut keep: Keep,
    account: &mut Account,
) -> Met {
    let effect = found.effect.unwrap_or_default();
    match found.answer {
        Some(answer) if fits(dependencies, catalog, admitted, &answer) => {
            metrics::met(effect.outcome());
            account.met_cache(effect, found.attempts);
            keep.found(&answer);
            return Met::Hit(Box::new(answer));
        }
        Some(_) => {
            metrics::unfit();
            metrics::met(Outcome::Miss);
            account.met_cache(miss("unfit"), found.attempts);
        }
        None => {
            metrics::met(effect.outcome());
            keep.looked(found.lookup_token, found.flight_ttl.and_then(duration_from_proto));
            account.met_cache(effect, found.attempts);
        }
    }
    Met::Miss(Some(Box::new(keep)))
}

/// Whether an answer may be given that was right when it was stored.
fn fits(
    dependencies: &Dependencies,
    catalog: &Catalog,
    admitted: &Admitted,
    answer: &v1::CachedAnswer,
) -> bool {
    if answer.simulated && !dependencies.vendors.simulated(&answer.vendor) {
        return false;
    }
    let model = ModelRef::new(answer.vendor.as_str(), answer.model.as_str());
    let labels = catalog.model(&model).map(|known| &*known.labels).unwrap_or_default();
    let tenant = catalog.tenant(&admitted.request.tenant_id);
    let may_use = [tenant.access(), admitted.budget.rules.access()];
    may_use.iter().all(|access| access.exclusion(&model, labels).is_none())
}

/// Why a request has nothing to do with the cache.
fn barred_by(request: &GenerateRequest, policy: &TaskPolicy, asker: Asker) -> Option<&'static str> {
    // Nobody's answers would be everybody's.
    if request.tenant_id.is_empty() {
        return Some("tenant");
    }
    if request.cache == CachePolicy::Bypass {
        return Some(Reason::Mode.name());
    }
    barred(request, policy, Facts { is_sensitive: asker.is_sensitive }).map(Reason::name)
}

fn bypass(reason: &str) -> v1::CacheEffect {
    metrics::met(Outcome::Bypass);
    effect(Outcome::Bypass, reason)
}

/// What an answer saved that came while the request waited for it.
fn coalesced(answer: &v1::CachedAnswer) -> v1::CacheEffect {
    v1::CacheEffect {
        saved: answer.cost.clone(),
        saved_usage: answer.usage,
        entry_id: answer.entry_id.clone(),
        ..effect(Outcome::Coalesced, "")
    }
}

fn miss(reason: &str) -> v1::CacheEffect {
    effect(Outcome::Miss, reason)
}

fn effect(outcome: Outcome, reason: &str) -> v1::CacheEffect {
    v1::CacheEffect { outcome: outcome.into(), reason: reason.to_owned(), ..Default::default() }
}
