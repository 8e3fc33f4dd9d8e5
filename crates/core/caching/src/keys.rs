//! Under which keys an answer lies.
//!
//! All are HMAC-SHA-256 under a key of the tenant's own, cut to 16 bytes: without the deployment's secret they tell neither
//! what was asked nor whether two tenants asked the same.

mod derive;
#[cfg(test)]
mod tests;

use crate::{Canonical, Context, Digest, Partition, Scope};
use derive::{derived, extracted};
use ring::hmac;
use signalbox_types::GenerateRequest;
use std::fmt;

/// The deployment's cache secret, from which every key is derived.
#[derive(Clone)]
pub struct Secret(hmac::Key);

impl Secret {
    /// From bytes that are hard to guess; 32 random ones are right.
    pub fn new(secret: &[u8]) -> Self {
        Self(extracted(b"signalbox.cache.v1", secret))
    }

    /// A tenant's keys. Ids may be of any bytes and length.
    pub fn tenant(&self, tenant_id: &str) -> TenantKeys {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &derived(&self.0, b"index", tenant_id.as_bytes()));
        let tenant = digest(&key, Kind::Tenant, &[tenant_id.as_bytes()]);
        TenantKeys { key, tenant }
    }

    /// What tells it from another secret, and nothing else of it.
    pub fn fingerprint(&self) -> Digest {
        let tag = derived(&self.0, b"fingerprint", b"");
        let mut cut = [0; 16];
        cut.copy_from_slice(&tag[..16]);
        Digest(cut)
    }

    /// The key that wraps a tenant's data keys, for AES-256. Keep it no longer than it takes.
    pub fn wrapping_key(&self, tenant_id: &str) -> [u8; 32] {
        derived(&self.0, b"wrap", tenant_id.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Makes a tenant's digests. Worth keeping: deriving it costs more than a digest.
#[derive(Clone)]
pub struct TenantKeys {
    key: hmac::Key,
    tenant: Digest,
}

impl fmt::Debug for TenantKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TenantKeys").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// Where a request's answer lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    /// The key of this very request: what its entry lies under.
    pub exact: Digest,
    /// What it shares answers within.
    pub partition: Partition,
}

/// What a digest is of. Digests of different kinds never meet.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Tenant = 1,
    Task = 2,
    Locale = 3,
    Fingerprint = 4,
    Exact = 5,
    Normalised = 6,
    Requested = 7,
    Template = 8,
    Reference = 9,
    Text = 10,
    Basis = 11,
}

impl TenantKeys {
    /// Of the tenant's id: what stores know it by.
    pub fn tenant(&self) -> Digest {
        self.tenant
    }

    /// Where a request's answer lies.
    pub fn keys(&self, request: &GenerateRequest, canonical: &Canonical<'_>) -> Keys {
        let partition = Partition {
            tenant: self.tenant,
            task: self.of(Kind::Task, &request.task_type),
            locale: self.of(Kind::Locale, &request.locale),
            fingerprint: digest(&self.key, Kind::Fingerprint, &[canonical.rest()]),
        };
        Keys { exact: digest(&self.key, Kind::Exact, &[&canonical.whole()]), partition }
    }

    /// The key that is also that of requests whose instruction differs in nothing that matters: its normalised text, and
    /// the signature of the slots in it, which must be the same whatever normalisation made of them.
    pub fn normalised(&self, partition: &Partition, normalised: &str, signature: &[u8]) -> Digest {
        let Partition { tenant: _, task, locale, fingerprint } = partition;
        let parts = [&task.0, &locale.0, &fingerprint.0, normalised.as_bytes(), signature];
        digest(&self.key, Kind::Normalised, &parts)
    }

    /// A text by its digest, as where its vector is kept: name what else the value depends on, as the embedder's id.
    pub fn text(&self, of: &str, text: &str) -> Digest {
        digest(&self.key, Kind::Text, &[of.as_bytes(), text.as_bytes()])
    }

    /// What evidence rests on: embedder, guards, epochs. Evidence on another basis is forgotten.
    pub fn basis(&self, parts: &[&[u8]]) -> Digest {
        digest(&self.key, Kind::Basis, parts)
    }

    /// Every scope that an entry of this request is stored under.
    pub fn scopes(&self, request: &GenerateRequest, context: &Context<'_>) -> Vec<Scope> {
        let template = context.prompt_template;
        let mut scopes = vec![
            Scope::Tenant,
            self.task(&request.task_type),
            self.locale(&request.locale),
            self.requested(context.requested),
        ];
        if !template.is_empty() {
            scopes.push(self.template(template));
        }
        if let Some((name, _)) = template.rsplit_once('@') {
            scopes.push(self.template(name));
        }
        if !request.reference.is_empty() {
            scopes.push(self.reference(&request.reference));
        }
        scopes.sort_unstable();
        scopes
    }

    /// The scope of a task type.
    pub fn task(&self, task_type: &str) -> Scope {
        Scope::Task(self.of(Kind::Task, task_type))
    }

    /// The scope of a locale.
    pub fn locale(&self, locale: &str) -> Scope {
        Scope::Locale(self.of(Kind::Locale, locale))
    }

    /// The scope of an alias, a tier or a model.
    pub fn requested(&self, requested: &str) -> Scope {
        Scope::Requested(self.of(Kind::Requested, requested))
    }

    /// The scope of a prompt template, with or without its version.
    pub fn template(&self, template: &str) -> Scope {
        Scope::Template(self.of(Kind::Template, template))
    }

    /// The scope of a reference.
    pub fn reference(&self, reference: &str) -> Scope {
        Scope::Reference(self.of(Kind::Reference, reference))
    }

    fn of(&self, kind: Kind, text: &str) -> Digest {
        digest(&self.key, kind, &[text.as_bytes()])
    }
}

/// Each part with its length before it, so that no two lists of parts run into each other.
fn digest(key: &hmac::Key, kind: Kind, parts: &[&[u8]]) -> Digest {
    let mut context = hmac::Context::with_key(key);
    context.update(&[kind as u8]);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let tag = context.sign();
    let mut cut = [0; 16];
    cut.copy_from_slice(&tag.as_ref()[..16]);
    Digest(cut)
}
