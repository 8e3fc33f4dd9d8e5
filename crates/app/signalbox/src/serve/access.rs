//! Who may call this process, and how it makes itself known to others.

use signalbox_admission::Replica;
use signalbox_kit::{
    Hop,
    access::{AdminKey, LoneAuthenticator},
    config::{AuthenticationConfig, ConfigHandle},
    hop,
};
use signalbox_ledger::SqlLedger;
use signalbox_ports::{Authenticator, tenants::TenantStore as _};
use std::sync::Arc;

/// What is said of it before anybody calls.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// The key that all roles of the deployment share.
    pub(crate) admin_key: Option<AdminKey>,
    /// Callers need a key whether or not there is any.
    pub(crate) required: bool,
}

impl Access {
    /// As environment and configuration say.
    pub(crate) fn read(config: &ConfigHandle) -> Result<Self, String> {
        let authentication = config.loaded().config.access.authentication;
        Ok(Self {
            admin_key: AdminKey::from_environment(config.environment())?,
            required: authentication == AuthenticationConfig::Required,
        })
    }

    /// Where there is an API key already, callers need one from the first call on.
    pub(crate) async fn look_for_keys(&mut self, store: &SqlLedger) {
        if self.is_certain() {
            return;
        }
        match store.has_keys().await {
            Ok(any) => self.required = any,
            Err(error) => tracing::warn!(%error, "it is not known yet whether there is any API key"),
        }
    }

    /// Whether callers are authenticated from the first call on.
    pub(crate) fn is_certain(&self) -> bool {
        self.required || self.admin_key.is_some()
    }

    /// Who is asked about callers.
    pub(crate) fn authenticator(&self, replica: Option<&Replica>) -> Arc<dyn Authenticator> {
        match replica {
            Some(replica) => Arc::new(replica.clone()),
            None => Arc::new(LoneAuthenticator::new(self.admin_key.clone(), self.required)),
        }
    }

    /// The way to other processes of this deployment, listed in a `field` of the configuration.
    pub(crate) fn remote(&self, peers: &[String], field: &str) -> Result<Hop, String> {
        let hop = hop::remote(peers).map_err(|error| format!("{field}: {error}"))?;
        Ok(hop::with_key(hop, self.admin_key.as_ref()))
    }

    /// In words, for the log.
    pub(crate) fn told(&self, replica: bool) -> &'static str {
        match (self.is_certain(), replica) {
            (true, _) => "callers need a key",
            (false, true) => "callers need no key before there is one",
            (false, false) => "callers are NOT AUTHENTICATED",
        }
    }
}
