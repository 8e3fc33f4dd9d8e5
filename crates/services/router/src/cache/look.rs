//! Looking for an answer before a request is planned.

use super::{
    client::Silent,
    context::Asked,
    crowd::{Crowd, Place},
    keep::Keep,
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
    let exact_only = asker.pays_nothing || request.cache == CachePolicy::ExactOnly;
    let crowd = Crowd::of(cache, admitted, exact_only);
    // Who pays for no call leads nobody to an answer, and waits for none.
    match if asker.pays_nothing { Place::Alone } else { crowd.join(keep.asked()).await } {
        Place::Shares(shared) if fits(dependencies, catalog, admitted, &shared.answer) => {
            let effect = shared.effect.clone().unwrap_or_else(|| coalesced(&shared.answer));
            metrics::met(effect.outcome());
            account.met_cache(effect, Vec::new());
            return Met::Hit(Box::new(shared.answer.clone()));
        }
        Place::Leads(lead) => keep.leads(lead),
        Place::Shares(_) | Place::Alone => {}
    }
    let by_meaning = !exact_only && policy.semantic != Semantic::Off;
    match ask(&crowd, &keep, asker, by_meaning).await {
        Ok(found) => take_in(dependencies, catalog, admitted, found, keep, account),
        Err(silent) => {
            metrics::silent(silent.name());
            account.met_cache(miss(silent.name()), Vec::new());
            keep.missed();
            Met::Miss(Some(Box::new(keep)))
        }
    }
}

/// Asks the cache. Who leads waits for an identical request of another router, too.
async fn ask(
    crowd: &Crowd<'_>,
    keep: &Keep,
    asker: Asker,
    by_meaning: bool,
) -> Result<v1::LookupResponse, Silent> {
    let Crowd { cache, admitted, until, .. } = *crowd;
    let mut wire = convert::generate_request_to_proto(admitted.request.clone());
    if asker.pays_nothing {
        wire.set_cache_mode(v1::CacheMode::ExactOnly);
    }
    let context = Some(keep.asked().context().clone());
    let lookup = v1::LookupRequest { request: Some(wire), context, wait: None };
    let mut found = cache.lookup(&lookup, by_meaning).await?;
    if found.answer.is_none() && keep.leads_others() {
        found = cache.wait(lookup, by_meaning, until, found).await;
    }
    if !asker.pays_nothing {
        found.attempts.extend(cache.owed().take(&admitted.request.tenant_id));
    }
    Ok(found)
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
            account.met_cache(effect.clone(), found.attempts);
            keep.found(&answer, effect);
            return Met::Hit(Box::new(answer));
        }
        Some(_) => {
            keep.missed();
            metrics::unfit();
            metrics::met(Outcome::Miss);
            account.met_cache(miss("unfit"), found.attempts);
        }
        None => {
            metrics::met(effect.outcome());
            keep.missed();
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
