//! Keys where roles show certificates.

use signalbox_ports::{Authenticator, Identity, Scope};
use signalbox_types::Failure;
use std::{net::IpAddr, sync::Arc};

/// Lets nobody pass for a role of the deployment who comes with a key, or without any: the key of the deployment is
/// its operator's there, and no more.
#[derive(Debug)]
pub(super) struct NoRole(pub(super) Arc<dyn Authenticator>);

#[async_trait::async_trait]
impl Authenticator for NoRole {
    async fn authenticate(&self, key: Option<&str>, peer: Option<IpAddr>) -> Result<Arc<Identity>, Failure> {
        let caller = self.0.authenticate(key, peer).await?;
        Ok(match caller.scope {
            Scope::Deployment | Scope::Open => operator(),
            Scope::Tenant(_) | Scope::ReadOnly(_) | Scope::Admin => caller,
        })
    }
}

fn operator() -> Arc<Identity> {
    static OPERATOR: std::sync::LazyLock<Arc<Identity>> =
        std::sync::LazyLock::new(|| Arc::new(Identity { key_id: String::new(), scope: Scope::Admin }));
    OPERATOR.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use signalbox_kit::{
        access::{AdminKey, LoneAuthenticator},
        config::Environment,
    };

    const KEY: &str = "a-key-of-thirty-two-characters-or-more";

    async fn scope(by_key: LoneAuthenticator) -> Scope {
        let caller = NoRole(Arc::new(by_key)).authenticate(Some(KEY), None).await.unwrap();
        assert!(caller.may_operate().is_ok() && caller.is_of_deployment().is_err());
        caller.scope.clone()
    }

    #[tokio::test]
    async fn neither_the_key_of_the_deployment_nor_the_want_of_one_makes_a_role() {
        let key = AdminKey::from_environment(&Environment::new([(AdminKey::VARIABLE, KEY)])).unwrap();
        assert_eq!(scope(LoneAuthenticator::new(key, false)).await, Scope::Admin);
        assert_eq!(scope(LoneAuthenticator::new(None, false)).await, Scope::Admin);
    }
}
