//! TLS between the roles of a deployment, in which both sides show who they are.

use super::{
    ALPN, PROVIDER, authorities,
    files::{FileProblem, PemFile},
    handshake::Acceptor,
    kept::{self, Kept, Material},
    own::Own,
    roles::PeerRoles,
    verify::{self, AnyRole, OneRole},
};
use crate::{
    clock::{Clock, SystemClock},
    config::MtlsConfig,
};
use rustls::{
    ClientConfig, Error, RootCertStore, ServerConfig, client::Resumption, server::NoServerSessionStorage,
    sign::SingleCertAndKey, version::TLS13,
};
use std::{sync::Arc, time::SystemTime};

/// What a process shows to other roles, and whom of them it believes.
#[derive(Debug)]
pub struct Mtls(Kept<Keyring>);

/// The files, and what must be in them.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    files: MtlsConfig,
    /// The roles of this process.
    roles: Vec<String>,
}

/// Made of the files once.
#[derive(Debug)]
struct Keyring {
    own: Own,
    roles: PeerRoles,
    authorities: Arc<RootCertStore>,
    trust_domain: Arc<str>,
    server: Arc<ServerConfig>,
}

impl Mtls {
    /// Reads the files. Their certificate must speak for these roles, now and whenever it changes: others would not let
    /// the process in, or not believe it, and each would say so somewhere else.
    ///
    /// # Errors
    /// What is wrong with which file, and the field that names it.
    pub fn load(config: &MtlsConfig, roles: &[&str]) -> Result<Arc<Self>, String> {
        Self::load_at(config, roles, Arc::new(SystemClock))
    }

    pub(super) fn load_at(
        config: &MtlsConfig,
        roles: &[&str],
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, String> {
        let kept = Kept::load(&Wanted::new(config, roles), clock).map_err(|problem| problem.to_string())?;
        Ok(Arc::new(Self(kept)))
    }

    /// Why nobody would believe what is in the files, if so; or else why a process does not start with them.
    pub(super) fn inspect(config: &MtlsConfig, now: SystemTime) -> Result<Option<FileProblem>, FileProblem> {
        kept::inspect::<Keyring>(&Wanted::new(config, &[]), now)
    }

    /// Takes over the files whenever they change. Runs until dropped.
    pub async fn watch(self: Arc<Self>) {
        self.0.watch().await;
    }

    #[cfg(test)]
    pub(super) async fn look(&self) {
        self.0.look().await;
    }

    /// The roles that this process's own certificate speaks for.
    pub fn roles(&self) -> PeerRoles {
        self.0.current().roles.clone()
    }

    /// Takes connections of other roles.
    pub(crate) fn acceptor(&self) -> Acceptor {
        let keyring = self.0.current();
        Acceptor::mtls(keyring.server.clone(), keyring.trust_domain.clone())
    }

    /// For a new connection to a process that must speak for `role`.
    pub(crate) fn client(&self, role: &'static str) -> Result<ClientConfig, Error> {
        let keyring = self.0.current();
        let verifier = OneRole {
            authorities: keyring.authorities.clone(),
            trust_domain: keyring.trust_domain.clone(),
            role,
        };
        let mut client = ClientConfig::builder_with_provider(PROVIDER.clone())
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_cert_resolver(Arc::new(SingleCertAndKey::from(keyring.own.key.clone())));
        client.alpn_protocols = vec![ALPN.to_vec()];
        client.resumption = Resumption::disabled();
        client.enable_sni = false;
        Ok(client)
    }
}

impl Wanted {
    fn new(files: &MtlsConfig, roles: &[&str]) -> Self {
        Self { files: files.clone(), roles: roles.iter().map(|role| (*role).to_owned()).collect() }
    }
}

impl Material for Keyring {
    const USE: &'static str = "mtls";
    type Config = Wanted;

    fn files(wanted: &Wanted) -> Vec<PemFile<'_>> {
        files(&wanted.files).to_vec()
    }

    fn load(wanted: &Wanted) -> Result<Self, FileProblem> {
        let [certificate, key, ca] = files(&wanted.files);
        let trust_domain: Arc<str> = wanted.files.trust_domain.as_str().into();
        let own = Own::load(certificate, key)?;
        let roles = own.leaf().map(|leaf| PeerRoles::of(leaf, &trust_domain)).unwrap_or_default();
        if roles.is_empty() {
            return Err(certificate.told(format_args!(
                "speaks for no role: it needs a URI such as spiffe://{trust_domain}/router among its alternative names"
            )));
        }
        if let Some(missing) = wanted.roles.iter().find(|role| !roles.include(role)) {
            let told = format_args!("speaks for {roles}, and not for {missing}, which this process serves");
            return Err(certificate.told(told));
        }
        let authorities = authorities::load(ca)?;
        let server =
            server(&own, authorities.clone(), trust_domain.clone()).map_err(|error| ca.told(error))?;
        Ok(Self { own, roles, authorities, trust_domain, server: Arc::new(server) })
    }

    fn own(&self) -> &Own {
        &self.own
    }

    /// Others have the same authorities, or will have them soon.
    fn doubt(&self, wanted: &Wanted, now: SystemTime) -> Option<FileProblem> {
        let (leaf, above) = self.own.key.cert.split_first()?;
        let problem = verify::in_both_directions(leaf, above, &self.authorities, now).err()?;
        let [certificate, _, ca] = files(&wanted.files);
        Some(certificate.told(format_args!(
            "would not be believed by a process with the same authorities, those of {}: {problem}",
            ca.path.display()
        )))
    }
}

/// Certificate, key and authorities.
fn files(config: &MtlsConfig) -> [PemFile<'_>; 3] {
    [
        PemFile { field: "mtls.certificate_file", path: &config.certificate_file },
        PemFile { field: "mtls.key_file", path: &config.key_file },
        PemFile { field: "mtls.ca_file", path: &config.ca_file },
    ]
}

/// Nothing is resumed: a resumed session would outlive the authority that vouched for it. Both ends are this program,
/// so the one newest version will do.
fn server(
    own: &Own,
    authorities: Arc<RootCertStore>,
    trust_domain: Arc<str>,
) -> Result<ServerConfig, String> {
    let mut server = ServerConfig::builder_with_provider(PROVIDER.clone())
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| error.to_string())?
        .with_client_cert_verifier(Arc::new(AnyRole::new(authorities, trust_domain)?))
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(own.key.clone())));
    server.alpn_protocols = vec![ALPN.to_vec()];
    server.session_storage = Arc::new(NoServerSessionStorage {});
    server.send_tls13_tickets = 0;
    Ok(server)
}
