//! TLS towards clients, who are known by their keys.

use super::{
    ALPN, PROVIDER,
    files::{FileProblem, PemFile},
    handshake::Acceptor,
    kept::{self, Kept, Material},
    own::Own,
};
use crate::{clock::SystemClock, config::ServerTlsConfig};
use rustls::{ServerConfig, sign::SingleCertAndKey};
use std::{sync::Arc, time::SystemTime};

/// What a process shows to clients.
#[derive(Debug)]
pub struct ServerTls(Kept<Shown>);

/// Made of the files once.
#[derive(Debug)]
struct Shown {
    own: Own,
    server: Arc<ServerConfig>,
}

impl ServerTls {
    /// Reads the files.
    ///
    /// # Errors
    /// What is wrong with which file, and the field that names it.
    pub fn load(config: &ServerTlsConfig) -> Result<Arc<Self>, String> {
        let kept = Kept::load(config, Arc::new(SystemClock)).map_err(|problem| problem.to_string())?;
        Ok(Arc::new(Self(kept)))
    }

    /// Why nobody would believe what is in the files, if so; or else why a process does not start with them.
    pub(super) fn inspect(
        config: &ServerTlsConfig,
        now: SystemTime,
    ) -> Result<Option<FileProblem>, FileProblem> {
        kept::inspect::<Shown>(config, now)
    }

    /// Takes over the files whenever they change. Runs until dropped.
    pub async fn watch(self: Arc<Self>) {
        self.0.watch().await;
    }

    #[cfg(test)]
    pub(super) async fn look(&self) {
        self.0.look().await;
    }

    /// Takes connections of clients.
    pub(crate) fn acceptor(&self) -> Acceptor {
        Acceptor::server(self.0.current().server.clone())
    }
}

impl Material for Shown {
    const USE: &'static str = "server";
    type Config = ServerTlsConfig;

    fn files(config: &ServerTlsConfig) -> Vec<PemFile<'_>> {
        files(config).to_vec()
    }

    fn load(config: &ServerTlsConfig) -> Result<Self, FileProblem> {
        let [certificate, key] = files(config);
        let own = Own::load(certificate, key)?;
        let mut server = ServerConfig::builder_with_provider(PROVIDER.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| certificate.told(error))?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(own.key.clone())));
        server.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Self { own, server: Arc::new(server) })
    }

    fn own(&self) -> &Own {
        &self.own
    }
}

/// Certificate and key.
fn files(config: &ServerTlsConfig) -> [PemFile<'_>; 2] {
    [
        PemFile { field: "server.tls.certificate_file", path: &config.certificate_file },
        PemFile { field: "server.tls.key_file", path: &config.key_file },
    ]
}
