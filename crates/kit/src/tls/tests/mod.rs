mod age;
mod clients;
mod files;
mod listener;
mod refused;
mod roles;
mod rotation;

use crate::{
    access::tests::WhoAmI,
    config::MtlsConfig,
    hop::{self, Hop},
    serve::{self, Entrance},
    telemetry::metrics,
    tls::{Mtls, PeerRoles},
};
use signalbox_api::v1::{
    GetConfigStatusRequest, admin_service_client::AdminServiceClient,
    admin_service_server::AdminServiceServer,
};
use signalbox_certificates::{Authority, Pair, TRUST_DOMAIN};
use std::{fs, net::SocketAddr, sync::Arc, time::Duration};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic_health::server::HealthReporter;

/// The files of one process.
struct Files(TempDir);

impl Files {
    fn of(pair: &Pair, ca_pem: &str) -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write(pair, ca_pem);
        files
    }

    fn write(&self, pair: &Pair, ca_pem: &str) {
        pair.write(self.0.path());
        self.write_one("ca.crt", ca_pem);
    }

    fn write_one(&self, name: &str, content: &str) {
        fs::write(self.0.path().join(name), content).unwrap();
    }

    fn config(&self, trust_domain: &str) -> MtlsConfig {
        MtlsConfig {
            certificate_file: self.0.path().join("tls.crt"),
            key_file: self.0.path().join("tls.key"),
            ca_file: self.0.path().join("ca.crt"),
            trust_domain: trust_domain.to_owned(),
        }
    }

    fn mtls(&self) -> Arc<Mtls> {
        Mtls::load(&self.config(TRUST_DOMAIN), &[]).unwrap()
    }
}

/// A process of some roles, with good files.
fn process(authority: &Authority, roles: &[&str]) -> Arc<Mtls> {
    Files::of(&authority.issue(roles), &authority.ca_pem()).mtls()
}

/// A listener, and what it answers to health checks.
struct Server {
    address: SocketAddr,
    health: HealthReporter,
}

impl Server {
    fn start(entrance: Entrance) -> Self {
        let listener = serve::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap().remove(0);
        let address = listener.local_addr().unwrap();
        let (health, service) = tonic_health::server::health_reporter();
        let routes = Routes::new(AdminServiceServer::new(WhoAmI)).add_service(service);
        let drain = CancellationToken::new();
        tokio::spawn(serve::serve(listener, entrance, routes, drain, Duration::ZERO));
        Self { address, health }
    }

    /// For roles, of which a router may ask who it is.
    fn of(mtls: &Arc<Mtls>) -> Self {
        Self::start(Entrance::Mtls(mtls.clone(), routers_ask))
    }

    fn hop(&self, mtls: &Arc<Mtls>, role: &'static str) -> Hop {
        hop::secured(&[format!("https://{}", self.address)], mtls, role).unwrap()
    }
}

/// Why a peer is not spoken with. A client is told none of it.
async fn estranged(hop: Hop) -> String {
    let refused =
        AdminServiceClient::new(hop).get_config_status(GetConfigStatusRequest {}).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::Unavailable, "{refused}");
    assert!(hop::was_never_sent(&refused), "{refused}");
    let told = "a part of this service that the call needs cannot be reached now; try again soon";
    assert_eq!(refused.message(), told);
    hop::cause(&refused)
}

fn routers_ask(method: &str, caller: &PeerRoles) -> bool {
    method == "/signalbox.v1.AdminService/GetConfigStatus" && caller.include("router")
}

/// A line of the metrics, or 0 where it is not there.
fn metric(name: &str) -> u64 {
    let text = metrics::text();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(0, |value| value.trim().parse().unwrap())
}
