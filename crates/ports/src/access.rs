//! Who calls, and what they may do.

use signalbox_types::{ErrorReason, Failure};
use std::{fmt, net::IpAddr, sync::Arc};

/// Finds out who a caller is. Each server asks it before every method but those of health and reflection.
#[async_trait::async_trait]
pub trait Authenticator: Send + Sync + fmt::Debug {
    /// Who presents `key`, the text after `Bearer ` in the `authorization` metadata; `None` where there is none.
    /// Answers from memory whenever it can. `peer` is where the call comes from, as far as that is known: whoever
    /// tries many keys from there is slowed.
    ///
    /// # Errors
    /// `UNAUTHENTICATED` for a key that is missing, unknown, expired or revoked, without saying which of the last
    /// three; `UNAVAILABLE` where it cannot be found out now.
    async fn authenticate(&self, key: Option<&str>, peer: Option<IpAddr>) -> Result<Arc<Identity>, Failure>;
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
    /// Everything, for any tenant: no key is configured at all.
    Open,
    /// Call models as this tenant, and read what is its own.
    Tenant(String),
    /// Read what is this tenant's.
    ReadOnly(String),
    /// Everything but what the roles of a deployment say to each other, for any tenant.
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
            Scope::Tenant(_) | Scope::ReadOnly(_) => Err(refused(
                "tenant_id: the API key belongs to another tenant; leave tenant_id out, or use that tenant's key",
            )),
        }
    }

    /// The only tenant whose things the caller may see; `None` for every tenant's.
    pub fn only_tenant(&self) -> Option<&str> {
        match &self.scope {
            Scope::Open | Scope::Admin | Scope::Deployment => None,
            Scope::Tenant(own) | Scope::ReadOnly(own) => Some(own),
        }
    }

    /// Whether the caller may spend money.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`: the key may only read.
    pub fn may_spend(&self) -> Result<(), Failure> {
        match &self.scope {
            Scope::ReadOnly(_) => {
                Err(refused("the API key may only read; calling models needs one of scope tenant"))
            }
            Scope::Open | Scope::Tenant(_) | Scope::Admin | Scope::Deployment => Ok(()),
        }
    }

    /// Whether the caller may do what operators do.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`: the key is a tenant's.
    pub fn may_operate(&self) -> Result<(), Failure> {
        match self.only_tenant() {
            Some(_) => Err(refused("this is for operators: it needs an API key of scope admin")),
            None => Ok(()),
        }
    }

    /// Whether the caller is a role of this deployment, or may pass for one.
    ///
    /// # Errors
    /// `PERMISSION_DENIED`: it is not.
    pub fn is_of_deployment(&self) -> Result<(), Failure> {
        match &self.scope {
            Scope::Open | Scope::Deployment => Ok(()),
            Scope::Tenant(_) | Scope::ReadOnly(_) | Scope::Admin => Err(refused(
                "only the roles of a deployment call this: where there is `mtls` by their certificates, which no key \
                 stands in for; else by the key that they share",
            )),
        }
    }
}

fn refused(message: &str) -> Failure {
    Failure::new(ErrorReason::PermissionDenied, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(scope: Scope) -> Identity {
        Identity { key_id: "k1".into(), scope }
    }

    #[test]
    fn a_tenants_key_stands_for_its_tenant_and_no_other() {
        for own in [Scope::Tenant("acme".into()), Scope::ReadOnly("acme".into())] {
            let own = caller(own);
            assert_eq!((own.tenant("").unwrap(), own.tenant("acme").unwrap()), ("acme", "acme"));
            assert_eq!(own.tenant("other").unwrap_err().reason, ErrorReason::PermissionDenied);
            assert_eq!(own.only_tenant(), Some("acme"));
        }
        for any in [Scope::Open, Scope::Admin, Scope::Deployment] {
            let any = caller(any);
            assert_eq!((any.tenant("").unwrap(), any.tenant("other").unwrap()), ("", "other"));
            assert_eq!(any.only_tenant(), None);
        }
    }

    #[test]
    fn each_scope_may_do_its_own() {
        let may = |scope: Scope| {
            let caller = caller(scope);
            [caller.may_spend(), caller.may_operate(), caller.is_of_deployment()].map(|may| may.is_ok())
        };
        assert_eq!(may(Scope::Open), [true, true, true]);
        assert_eq!(may(Scope::Tenant("acme".into())), [true, false, false]);
        assert_eq!(may(Scope::ReadOnly("acme".into())), [false, false, false]);
        assert_eq!(may(Scope::Admin), [true, true, false]);
        assert_eq!(may(Scope::Deployment), [true, true, true]);
    }
}
