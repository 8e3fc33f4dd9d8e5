//! Who calls, and what they may do.

use signalbox_types::Failure;
use std::{fmt, sync::Arc};

/// Finds out who a caller is. Each server asks it before every method but those of health and reflection.
#[async_trait::async_trait]
pub trait Authenticator: Send + Sync + fmt::Debug {
    /// Who presents `key`, the text after `Bearer ` in the `authorization` metadata; `None` where there is none.
    /// Answers from memory whenever it can.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` for a key that is missing, unknown, expired or revoked, without saying which of the last
    /// three; `UNAVAILABLE` where it cannot be found out now.
    async fn authenticate(&self, key: Option<&str>) -> Result<Arc<Identity>, Failure>;
}

/// Who calls. A method finds it in the extensions of its request; a call from inside the process has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// `ApiKey.key_id`; empty without authentication and for the key of the deployment.
    pub key_id: String,
    /// What the caller may do, and as whom.
    pub scope: Scope,
}

/// What a caller may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Everything but what the roles of a deployment say to each other, for any tenant: no key is configured at all.
    Open,
    /// Call models as this tenant, and read what is its own.
    Tenant(String),
    /// Read what is this tenant's.
    ReadOnly(String),
    /// As `Open`, by a key.
    Admin,
    /// Everything: another role of the deployment, or its operator.
    Deployment,
}

impl Identity {
    /// The tenant a request is for: what it names, or the key's own where it names none.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`: the key is another tenant's.
    pub fn tenant<'a>(&'a self, named: &'a str) -> Result<&'a str, Failure> {
        match &self.scope {
            Scope::Open | Scope::Admin | Scope::Deployment => Ok(named),
            Scope::Tenant(own) | Scope::ReadOnly(own) if named.is_empty() || named == own => Ok(own),
            Scope::Tenant(_) | Scope::ReadOnly(_) => Err(Failure::new(
                signalbox_types::ErrorReason::PermissionDenied,
                "tenant_id: the API key belongs to another tenant; leave tenant_id out, or use that tenant's key",
            )),
        }
    }
}
