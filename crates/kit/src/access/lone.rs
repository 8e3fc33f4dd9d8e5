//! Who calls a process that has no way to API keys.

use super::AdminKey;
use signalbox_ports::{Authenticator, Identity, Scope};
use signalbox_types::{ErrorReason, Failure};
use std::{net::IpAddr, sync::Arc};

/// Authenticates where no API key can be known: whoever has the key of the deployment may do everything, and without
/// such a key everybody may.
#[derive(Debug, Clone)]
pub struct LoneAuthenticator {
    key: Option<AdminKey>,
    /// Who is let in; nobody where a key is required and there is none.
    identity: Option<Arc<Identity>>,
}

impl LoneAuthenticator {
    /// With the key of the deployment, where it has one. Without one nobody is let in where that is `required`.
    pub fn new(key: Option<AdminKey>, required: bool) -> Self {
        let scope = match &key {
            Some(_) => Some(Scope::Deployment),
            None => (!required).then_some(Scope::Open),
        };
        let identity = scope.map(|scope| Arc::new(Identity { key_id: String::new(), scope }));
        Self { key, identity }
    }
}

#[async_trait::async_trait]
impl Authenticator for LoneAuthenticator {
    async fn authenticate(&self, key: Option<&str>, _: Option<IpAddr>) -> Result<Arc<Identity>, Failure> {
        let good = self.key.as_ref().is_none_or(|own| key.is_some_and(|key| own.is(key)));
        self.identity.clone().filter(|_| good).ok_or_else(|| {
            let message = match key {
                None => "authorization: a key is needed, as in `authorization: Bearer sbx_…`",
                Some(_) => {
                    "authorization: the key is not the one of this deployment, and this process knows no other: it \
                     serves no budgets and has no peers.budget"
                }
            };
            Failure::new(ErrorReason::Unauthenticated, message)
        })
    }
}
