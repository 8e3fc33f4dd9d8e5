//! Who may call this process, and how it makes itself known to others.

mod no_role;

use crate::{arrows, roles::Role};
use no_role::NoRole;
use signalbox_admission::Replica;
use signalbox_kit::{
    Hop,
    access::{AdminKey, LoneAuthenticator},
    config::{AuthenticationConfig, ConfigHandle},
    hop,
    serve::Entrance,
    tls::{Mtls, ServerTls},
};
use signalbox_ledger::SqlLedger;
use signalbox_ports::{Authenticator, tenants::TenantStore as _};
use std::{net::SocketAddr, sync::Arc};
use tokio::task::JoinSet;

/// What is said of it before anybody calls.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// The key that all roles of the deployment share.
    pub(crate) admin_key: Option<AdminKey>,
    /// Callers need a key whether or not there is any.
    pub(crate) required: bool,
    /// What clients are shown, where they speak over TLS.
    tls: Option<Arc<ServerTls>>,
    /// By what roles know each other, where it is not by the key.
    mtls: Option<Arc<Mtls>>,
}

impl Access {
    /// As environment, configuration and the files that it names say, for a process with these roles.
    pub(crate) fn read(config: &ConfigHandle, roles: &[Role]) -> Result<Self, String> {
        let loaded = config.loaded();
        let config_file = &loaded.config;
        let roles: Vec<_> = roles.iter().map(|role| role.name()).collect();
        let mtls = config_file.mtls.as_ref().map(|mtls| Mtls::load(mtls, &roles)).transpose()?;
        Ok(Self {
            admin_key: AdminKey::from_environment(config.environment())?,
            required: config_file.access.authentication == AuthenticationConfig::Required,
            tls: config_file.server.tls.as_ref().map(ServerTls::load).transpose()?,
            mtls,
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

    /// Whether clients are spoken to over TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether roles know each other by certificates.
    pub(crate) fn by_certificates(&self) -> bool {
        self.mtls.is_some()
    }

    /// Reads the files of certificates again whenever they change, until the set is dropped.
    pub(crate) fn follow_files(&self, tasks: &mut JoinSet<()>) {
        self.tls.iter().for_each(|tls| drop(tasks.spawn(tls.clone().watch())));
        self.mtls.iter().for_each(|mtls| drop(tasks.spawn(mtls.clone().watch())));
    }

    /// Who is asked about callers that come with a key.
    pub(crate) fn authenticator(&self, replica: Option<&Replica>) -> Arc<dyn Authenticator> {
        let by_key: Arc<dyn Authenticator> = match replica {
            Some(replica) => Arc::new(replica.clone()),
            None => Arc::new(LoneAuthenticator::new(self.admin_key.clone(), self.required)),
        };
        if self.by_certificates() { Arc::new(NoRole(by_key)) } else { by_key }
    }

    /// How clients and operators enter, and other roles where those have no entrance of their own.
    pub(crate) fn entrance(&self, authenticator: Arc<dyn Authenticator>) -> Entrance {
        match &self.tls {
            Some(tls) => Entrance::Tls(tls.clone(), authenticator),
            None => Entrance::Clear(authenticator),
        }
    }

    /// How other roles enter, where they show certificates.
    pub(crate) fn entrance_of_roles(&self) -> Option<Entrance> {
        self.mtls.clone().map(|mtls| Entrance::Mtls(mtls, arrows::may_call))
    }

    /// The way to other processes of this deployment that serve `role`. They know this one by its certificate or else
    /// by the key, which goes nowhere where there is a certificate.
    pub(crate) fn remote(&self, peers: &[String], role: Role) -> Result<Hop, String> {
        let hop = match &self.mtls {
            Some(mtls) => hop::secured(peers, mtls, role.name()),
            None => hop::remote(peers).map(|hop| hop::with_key(hop, self.admin_key.as_ref())),
        };
        hop.map_err(|error| format!("peers.{role}: {error}"))
    }

    /// The same way to a single one.
    pub(crate) fn remote_at(&self, peer: SocketAddr, role: Role) -> Result<Hop, String> {
        let scheme = if self.by_certificates() { "https" } else { "http" };
        self.remote(&[format!("{scheme}://{peer}")], role)
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
