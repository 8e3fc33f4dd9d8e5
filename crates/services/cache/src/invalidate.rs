//! Making answers unreachable.

use crate::{
    cache::Cache, failure::away, locale, metrics, question::check_tenant, report::read_id, tenants::Tenant,
};
use signalbox_api::v1::{self, invalidate_request::Scope as Named, invalidate_response::Erasure};
use signalbox_caching::{Digest, Scope};
use signalbox_ports::cache::CacheAway;
use signalbox_types::Failure;
use tokio::time::{Instant, sleep_until};

/// What is to go.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Target {
    Scope(Scope),
    Entry(Digest),
}

impl Cache {
    /// Raises an epoch, so that whatever was stored under it is not served any more; or removes a single entry.
    pub(crate) async fn invalidate(
        &self,
        request: v1::InvalidateRequest,
    ) -> Result<v1::InvalidateResponse, Failure> {
        check_tenant("tenant_id", &request.tenant_id)?;
        let tenant = self.tenants.get(&request.tenant_id);
        let target = target(&tenant, &request)?;
        self.check_known(&tenant, &request, target).await?;
        if request.erase && !may_be_erased(target) {
            let problem = "is only possible with everything, reference or entry_id";
            return Err(Failure::invalid("erase", problem));
        }
        let removed = self.end(&tenant, target).await.map_err(away)?;
        let store = &*self.dependencies.store;
        // The key is one for all of the tenant's: with it, everything else would be lost, too.
        let key = match target {
            Target::Scope(Scope::Tenant) if request.erase => {
                tenant.destroy_data_key(store).await.map_err(away)?
            }
            _ => None,
        };
        // Other processes rely on what they heard until then, on epochs and on the key.
        let over = Instant::now() + self.dependencies.options.epoch_ttl;
        let mut effective_at = self.now() + self.dependencies.options.epoch_ttl;
        if request.wait || request.erase {
            sleep_until(over).await;
            effective_at = self.now();
        }
        metrics::invalidated(name(request.scope.as_ref()));
        let erasure = match request.erase {
            true => Some(self.erase(&tenant, target, removed, key).await.map_err(away)?),
            false => None,
        };
        Ok(v1::InvalidateResponse { effective_at: Some(effective_at.into()), erasure })
    }

    /// A name that leads to nothing is a slip, and what was to go would stay. A task type that was taken out of the
    /// configuration may still have entries.
    async fn check_known(
        &self,
        tenant: &Tenant,
        request: &v1::InvalidateRequest,
        target: Target,
    ) -> Result<(), Failure> {
        let (Some(Named::TaskType(name)), Target::Scope(Scope::Task(task))) = (&request.scope, target) else {
            return Ok(());
        };
        let known = if name.is_empty() { Ok(()) } else { self.dependencies.policies.check_task_type(name) };
        let Err(problem) = known else { return Ok(()) };
        let held = self.dependencies.store.held(tenant.digest()).await.map_err(away)?;
        let has_entries = held.iter().any(|(digest, held)| *digest == task && held.entries > 0);
        if has_entries { Ok(()) } else { Err(Failure::invalid("task_type", problem)) }
    }

    /// How many entries are gone at once.
    async fn end(&self, tenant: &Tenant, target: Target) -> Result<u64, CacheAway> {
        let store = &self.dependencies.store;
        match target {
            Target::Scope(scope) => {
                let asked = Instant::now();
                let epoch = store.raise(tenant.digest(), scope).await?;
                tenant.remember(scope, epoch, asked);
                Ok(0)
            }
            Target::Entry(key) => Ok(u64::from(store.remove(tenant.digest(), key).await?)),
        }
    }

    /// Destroys what is left, now that no process makes more of it.
    async fn erase(
        &self,
        tenant: &Tenant,
        target: Target,
        removed: u64,
        key: Option<String>,
    ) -> Result<Erasure, CacheAway> {
        let store = &*self.dependencies.store;
        let more = match target {
            Target::Scope(Scope::Tenant) => store.erase(tenant.digest(), None).await?,
            Target::Scope(scope) => store.erase(tenant.digest(), Some(scope)).await?,
            Target::Entry(key) => u64::from(store.remove(tenant.digest(), key).await?),
        };
        // What lies there under another secret is of this tenant, too, as far as anybody knows.
        let strays = store.erase_strays().await?;
        if strays > 0 {
            tracing::warn!(keys = strays, "erased what lay in the cache store under another cache secret");
        }
        let verified_at = Some(self.now().into());
        Ok(Erasure { entries: removed + more, key_ids: key.into_iter().collect(), verified_at })
    }
}

fn may_be_erased(target: Target) -> bool {
    matches!(target, Target::Scope(Scope::Tenant | Scope::Reference(_)) | Target::Entry(_))
}

fn target(tenant: &Tenant, request: &v1::InvalidateRequest) -> Result<Target, Failure> {
    let named = request.scope.as_ref().ok_or_else(|| {
        let scopes = "everything, task_type, locale, requested, prompt_template, reference or entry_id";
        Failure::invalid("scope", format!("is required: one of {scopes}"))
    })?;
    let given = |field: &str, text: &String| match text.is_empty() {
        true => Err(Failure::invalid(field, "must not be empty")),
        false => Ok(()),
    };
    let keys = &tenant.keys;
    Ok(Target::Scope(match named {
        Named::Everything(true) => Scope::Tenant,
        Named::Everything(false) => return Err(Failure::invalid("everything", "must be true")),
        // Requests without a task type or a locale are of the empty one.
        Named::TaskType(task_type) => keys.task(task_type),
        Named::Locale(locale) if !locale::is_well_formed(locale) => {
            return Err(Failure::invalid("locale", "must be a language tag, as in it-IT or zh-Hans-CN"));
        }
        Named::Locale(locale) => keys.locale(&locale::canonical(locale)),
        Named::Requested(requested) => {
            given("requested", requested)?;
            check_requested(requested)?;
            keys.requested(requested)
        }
        Named::PromptTemplate(template) => {
            given("prompt_template", template)?;
            keys.template(template)
        }
        Named::Reference(reference) => {
            given("reference", reference)?;
            keys.reference(reference)
        }
        Named::EntryId(id) => {
            let (key, _) = read_id(tenant, id, "")
                .ok_or_else(|| Failure::invalid("entry_id", "is none of Route.cache.entry_id"))?;
            return Ok(Target::Entry(key));
        }
    }))
}

/// A bare name is nobody's, and nothing would be found under it.
fn check_requested(requested: &str) -> Result<(), Failure> {
    let has_kind = |kind| requested.strip_prefix(kind).is_some_and(|name: &str| !name.is_empty());
    if requested == "default" || ["alias:", "tier:", "model:", "task:"].into_iter().any(has_kind) {
        return Ok(());
    }
    let problem = "must be alias:NAME, tier:NAME, model:VENDOR/MODEL, task:NAME or default";
    Err(Failure::invalid("requested", problem))
}

fn name(scope: Option<&Named>) -> &'static str {
    match scope {
        Some(Named::Everything(_)) => "everything",
        Some(Named::TaskType(_)) => "task_type",
        Some(Named::Locale(_)) => "locale",
        Some(Named::Requested(_)) => "requested",
        Some(Named::PromptTemplate(_)) => "prompt_template",
        Some(Named::Reference(_)) => "reference",
        Some(Named::EntryId(_)) => "entry_id",
        None => "",
    }
}
