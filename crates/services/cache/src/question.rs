//! What is asked, and where its answer would lie.

use crate::{cache::Cache, locale, tenants::Tenant};
use signalbox_api::{convert::generate_request_from_proto, v1};
use signalbox_caching::{Allowed, Canonical, Context, Digest, Facts, Keys, Reason, Scope, TaskPolicy};
use signalbox_types::{Failure, GenerateRequest};
use std::sync::Arc;

/// A request that may have to do with the cache.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) task_type: String,
    pub(crate) locale: String,
    pub(crate) request_id: String,
    pub(crate) policy: Arc<TaskPolicy>,
    pub(crate) allowed: Allowed,
    pub(crate) keys: Keys,
    /// The key it shares with requests that differ in nothing that matters, where that can be told.
    pub(crate) normalised: Option<Digest>,
    /// What to do; empty where nothing tells it from the content.
    pub(crate) instruction: String,
    /// Everything that an invalidation may name it by.
    pub(crate) scopes: Vec<Scope>,
}

/// A request as it came, with what is configured for it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: GenerateRequest,
    pub(crate) context: v1::CacheContext,
    pub(crate) policy: Arc<TaskPolicy>,
}

/// What a request has to do with the cache.
pub(crate) enum Kind {
    Asked(Box<Asked>),
    /// Nothing, whatever else it says.
    Bypass(Reason),
}

impl Cache {
    /// Reads a request, unless nothing is kept for its task anyway: then it is not even looked at.
    pub(crate) fn read(
        &self,
        request: Option<v1::GenerateRequest>,
        context: Option<v1::CacheContext>,
    ) -> Result<Kind, Failure> {
        let request = request.ok_or_else(|| Failure::invalid("request", "is required"))?;
        let context = context.ok_or_else(|| Failure::invalid("context", "is required"))?;
        check_tenant("request.tenant_id", &request.tenant_id)?;
        if context.requested.is_empty() {
            return Err(Failure::invalid("context.requested", "is required"));
        }
        let policy = self.dependencies.policies.of(&request.tenant_id, &request.task_type);
        if !policy.exact {
            return Ok(Kind::Bypass(Reason::Disabled));
        }
        let mut request = generate_request_from_proto(request).map_err(within("request"))?;
        request.locale = locale::canonical(&request.locale);
        Ok(Kind::Asked(Box::new(Asked { request, context, policy })))
    }

    /// Where the answer to a request lies, if `allow` lets it.
    pub(crate) fn question(
        &self,
        asked: &Asked,
        allow: impl FnOnce(&GenerateRequest, &Canonical<'_>, &TaskPolicy, Facts) -> Result<Allowed, Reason>,
    ) -> Result<Question, Reason> {
        let Asked { request, context, policy } = asked;
        let context = Context {
            requested: &context.requested,
            prompt_template: &context.prompt_template,
            policy_version: &context.policy_version,
        };
        let canonical = Canonical::of(request, &context);
        let allowed = allow(request, &canonical, policy, Facts::default())?;
        let tenant = self.tenants.get(&request.tenant_id);
        let keys = tenant.keys.keys(request, &canonical);
        let instruction = canonical.instruction().map(|found| found.text().into_owned()).unwrap_or_default();
        let mut question = Question {
            scopes: tenant.keys.scopes(request, &context),
            task_type: request.task_type.clone(),
            locale: request.locale.clone(),
            request_id: request.request_id.clone(),
            policy: policy.clone(),
            allowed,
            keys,
            normalised: None,
            instruction,
            tenant,
        };
        if allowed.normalised {
            question.normalised = self.normalised(&question, &question.instruction);
        }
        Ok(question)
    }

    /// The key that an instruction shares with others that say the same; `None` in a language that nobody can read.
    pub(crate) fn normalised(&self, question: &Question, instruction: &str) -> Option<Digest> {
        let guards = &self.dependencies.guards;
        let signature = guards.signature(instruction, &question.locale)?;
        let normalised = signalbox_guards::normalise(instruction);
        let keys = &question.tenant.keys;
        Some(keys.normalised(&question.keys.partition, &normalised, signature.as_bytes()))
    }
}

/// Whose it is must be said, in so many bytes.
pub(crate) fn check_tenant(field: &str, tenant_id: &str) -> Result<(), Failure> {
    let problem = if tenant_id.is_empty() {
        "is required".to_owned()
    } else if tenant_id.len() > 128 {
        format!("has {} bytes, at most 128 are allowed", tenant_id.len())
    } else {
        return Ok(());
    };
    Err(Failure::invalid(field, problem))
}

/// A failure of a request that lies in a field of another message.
pub(crate) fn within(field: &'static str) -> impl Fn(Failure) -> Failure {
    move |mut failure| {
        for violation in &mut failure.violations {
            violation.field = format!("{field}.{}", violation.field);
        }
        failure.message = format!("{field}.{}", failure.message);
        failure
    }
}
