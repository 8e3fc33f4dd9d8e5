//! Callers of the listener for roles, by a TLS client that has nothing of ours: `grpcurl`.

use futures_util::future::join_all;
use serde_json::json;
use signalbox_certificates::{Authority, Pair, Terms};
use signalbox_testkit::{
    Certificates, Deployment, Options, Signalbox, Topology, World, eventually, tool, workspace,
};
use std::path::Path;
use tempfile::TempDir;

const HEALTH: &str = "grpc.health.v1.Health/Check";
const INVOKE: &str = "signalbox.v1.ProviderService/InvokeModel";

/// Somebody with a certificate.
pub(super) struct Caller(TempDir);

impl Caller {
    /// With one that an authority has issued for these roles.
    pub(super) fn of(authority: &Authority, roles: &[&str]) -> Self {
        Self::with(&authority.issue(roles))
    }

    fn with(pair: &Pair) -> Self {
        let folder = tempfile::tempdir().unwrap();
        pair.write(folder.path());
        Self(folder)
    }

    fn flags(&self) -> Vec<String> {
        let file = |name: &str| self.0.path().join(name).display().to_string();
        vec!["-insecure".into(), "-cert".into(), file("tls.crt"), "-key".into(), file("tls.key")]
    }
}

/// What `grpcurl` says, and whether the call was answered.
pub(super) async fn grpcurl(flags: &[String], address: &str, method: &str) -> (bool, String) {
    let contract = workspace().join("crates/api/src/generated/descriptor.bin");
    let health = health_descriptor();
    let mut command = tokio::process::Command::new(tool("grpcurl"));
    command.arg("-protoset").arg(contract).arg("-protoset").arg(health.path());
    command
        .args(["-connect-timeout", "10", "-max-time", "10", "-d", "{}"])
        .args(flags)
        .args([address, method]);
    let output = command.kill_on_drop(true).output().await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

/// Of the health service, which is not in our contract.
fn health_descriptor() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), tonic_health::pb::FILE_DESCRIPTOR_SET).unwrap();
    file
}

/// A call to the listener for roles.
pub(super) struct Visit {
    address: String,
    flags: Vec<String>,
}

impl Visit {
    pub(super) fn to(process: &Signalbox) -> Self {
        Self { address: process.internal_address().unwrap().to_string(), flags: vec!["-insecure".into()] }
    }

    pub(super) fn by(self, caller: &Caller) -> Self {
        Self { flags: caller.flags(), ..self }
    }

    async fn calls(&self, method: &str) -> (bool, String) {
        grpcurl(&self.flags, &self.address, method).await
    }

    /// Not even health is told.
    pub(super) async fn refused(&self) {
        // It would knock again and again.
        let flags = [&self.flags[..], &["-connect-timeout".to_owned(), "2".to_owned()]].concat();
        let (answered, said) = grpcurl(&flags, &self.address, HEALTH).await;
        assert!(!answered && said.contains("Failed to dial"), "{said}");
    }
}

/// Every role in a process of its own.
async fn world() -> World {
    World::start(Topology::Remote, json!({"cache": {"enabled": true}})).await
}

fn authority(deployment: &Deployment) -> &Authority {
    deployment.certificates.as_ref().unwrap().authority()
}

#[tokio::test]
async fn nobody_comes_in_without_a_certificate_of_the_deployment() {
    let world = world().await;
    let own = authority(&world.signalbox);
    let elsewhere = Terms { roles: &["router"], trust_domain: "elsewhere", ..Terms::default() };
    let strangers = [
        Caller::of(&Authority::new(), &["router"]),
        Caller::of(own, &[]),
        Caller::with(&own.issue_on(&elsewhere)),
        Caller::with(&own.issue_on(&Terms { roles: &["router"], ..Terms::default() }.expired())),
    ];
    // Each may knock more than once, and what it is told may be lost with the connection. All at once, since they wait.
    join_all(world.signalbox.processes().map(|process| async {
        let nothing = Visit::to(process);
        let clear = Visit { flags: vec!["-plaintext".into()], ..Visit::to(process) };
        let named = strangers.iter().map(|stranger| Visit::to(process).by(stranger));
        let visits: Vec<Visit> = [nothing, clear].into_iter().chain(named).collect();
        join_all(visits.iter().map(Visit::refused)).await;
        let refused = process.metrics().await;
        for (reason, count) in [("certificate", 5.0), ("clear", 1.0)] {
            let labels = [("use", "mtls"), ("reason", reason)];
            let counted = refused.sum("signalbox_tls_handshake_failures_total", &labels);
            assert!(counted >= count, "{reason}: {counted}");
        }
    }))
    .await;
}

#[tokio::test]
async fn a_role_may_not_what_is_another_roles() {
    let world = &world().await;
    let own = authority(&world.signalbox);
    let visits = ["adapter", "ingest", "budget"].map(|role| async move {
        let caller = Caller::of(own, &[role]);
        for adapter in &world.signalbox.adapters {
            let visit = Visit::to(adapter).by(&caller);
            let (answered, said) = visit.calls(INVOKE).await;
            assert!(!answered && said.contains("PermissionDenied"), "{role}: {said}");
            assert!(said.contains(&format!("the caller's certificate says it is: {role}")), "{said}");
            let (answered, said) = visit.calls(HEALTH).await;
            assert!(answered && said.contains("SERVING"), "everybody may ask for health: {said}");
        }
    });
    join_all(visits).await;
    for role in ["router", "cache"] {
        let (_, said) =
            Visit::to(&world.signalbox.adapters[0]).by(&Caller::of(own, &[role])).calls(INVOKE).await;
        assert!(said.contains("InvalidArgument"), "{role} is listened to: {said}");
    }
}

#[tokio::test]
async fn a_process_that_the_others_do_not_believe_says_what_is_wrong() {
    let world = world().await;
    let own = world.signalbox.certificates.as_ref().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let told = [
        // Issued by somebody else, who is trusted there alone.
        ("router", Authority::new(), "it does not believe the certificate it is shown"),
        // It takes a cache for an adapter.
        ("cache", Authority::new(), "adapter"),
    ];
    let [(_, stranger, refused), (_, _, mistaken)] = &told;
    let adapter = world.signalbox.adapters[0].peer();
    let cache = world.signalbox.cache.as_ref().unwrap().peer();
    let foreign = router(folder.path(), "foreign", &stranger.issue(&["router"]), own, &adapter).await;
    let lost = router(folder.path(), "lost", &own.authority().issue(&["router"]), own, &cache).await;
    for (router, told) in [(foreign, refused), (lost, mistaken)] {
        eventually("the log says it", || async { router.log().contains(told) }).await;
        let missing = router.ready().await.unwrap_err();
        assert!(missing.contains("adapter"), "{missing}");
    }
}

/// A router with this certificate, whose adapter is there.
async fn router(folder: &Path, name: &str, pair: &Pair, own: &Certificates, adapter: &str) -> Signalbox {
    let file = |kind: &str| folder.join(format!("{name}.{kind}"));
    std::fs::write(file("crt"), &pair.certificate_pem).unwrap();
    std::fs::write(file("key"), &pair.key_pem).unwrap();
    let config = json!({
        "mtls": {"certificate_file": file("crt"), "key_file": file("key"), "ca_file": own.ca_file()},
        "peers": {"adapter": [adapter]},
    });
    std::fs::write(file("yaml"), config.to_string()).unwrap();
    let config = Some(file("yaml"));
    let internal_listen = Some(Options::FREE);
    Signalbox::serve(Options { config, roles: "router", internal_listen, ..Options::default() }).await
}
